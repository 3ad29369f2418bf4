"""Trees as programs: one lowering to a few statements, which each programming language prints.

`lower(code, style, targets)` turns a tree into a `Program` of the intermediate form (form.py): constant
tables and functions of integers, doubles and arrays. A language is a `Printer` (printer.py) that spells them.
"""
