// Sending rows down a finished tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "predicting/tree_view.hpp"
#include "support/threads.hpp"

namespace treewright {

/// The leaf of each row. A missing value goes by the first surrogate whose value is known (a category that
/// training never saw is not), else by missing_left.
void apply(const TreeView& tree, const std::vector<Column>& columns, std::span<std::int32_t> leaf, Pool& pool,
           Interrupt& interrupt);

/// Parts of rows at leaves. Those of a row lie together, from left to right, and their shares add up to 1.
struct Parts {
    std::vector<std::int64_t> start{0};  // of each row, and where the last one ends
    std::vector<std::int32_t> leaf;
    std::vector<double> share;
};

/// The rows from `first` on, where a row without the value that a node tests goes to both children in the
/// shares of their weights; as many rows as it takes to make `most` parts, and at least one.
Parts spread(const TreeView& tree, std::span<const double> weight, const std::vector<Column>& columns,
             std::size_t first, std::size_t n_rows, std::size_t most, Interrupt& interrupt);

}  // namespace treewright
