"""The parts of an Excel workbook that predicts: formulas, where cells stand, sheets, the file."""
