// One byte per cell: what gradient boosting sees of a table.
#pragma once

#include <cstdint>
#include <vector>

#include "boosting/losses.hpp"
#include "data/columns.hpp"
#include "support/threads.hpp"
#include "support/unfilled.hpp"

namespace treewright::boosting {

/// The cells of one column: 0 … n_values − 1 for values, n_values for a missing one.
struct CellColumn {
    std::size_t n_values = 0;
    bool has_missing = false;
    std::vector<double> low, high;          // the least and the greatest number of each cell
    std::vector<std::uint8_t> of_category;  // the cell of each category; empty for numbers

    bool is_category() const { return !of_category.empty(); }
    std::size_t width() const { return n_values + has_missing; }
};

struct Cells {
    std::size_t n_rows = 0;
    std::vector<CellColumn> columns;
    std::vector<std::size_t> start;          // of each column in a histogram; one more for the end
    UnfilledVector<std::uint8_t> by_row;     // to add up all columns of a row
    UnfilledVector<std::uint8_t> by_column;  // to divide rows by one column

    const std::uint8_t* column(std::size_t i) const { return by_column.data() + i * n_rows; }
    std::size_t histogram_size() const { return start.back(); }
};

/// Some rows of a table (`rows`; null: all of them) in cells. Columns with at most `most` values have a cell
/// for each; of others about equally many rows share a cell, except that a frequent value has its own. Where
/// `repeats` has weights, rows count as often as these say.
Cells make_cells(const std::vector<Column>& columns, const Row* rows, std::size_t n_rows,
                 const Repeats& repeats, std::size_t most, Pool& pool, Interrupt& interrupt);

}  // namespace treewright::boosting
