// The rank of each cell among the values of its column, made once for all trees that are grown on a table.
#pragma once

#include <vector>

#include "data/columns.hpp"
#include "support/threads.hpp"

namespace treewright {

/// Tables of more rows have bins instead.
constexpr std::size_t max_ranked_rows = missing_value_rank;

/// The ranks of all columns, column by column; equal values have equal ranks.
std::vector<Rank> rank_cells(const std::vector<Column>& columns, std::size_t n_rows, Pool& pool,
                             Interrupt& interrupt);

}  // namespace treewright
