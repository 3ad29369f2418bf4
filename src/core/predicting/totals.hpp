// Sums over many trees of the values at the leaf of each row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "predicting/tree_view.hpp"
#include "support/threads.hpp"

namespace treewright {

/// A tree and a line of values for each of its nodes; only those of leaves are read.
struct Addend {
    const TreeView* tree = nullptr;
    const double* lines = nullptr;
};

/// total[row · width + k] = the sum over trees of the values at the row's leaf; the trees are added in their
/// order, so that the sums are the same to the bit for any number of threads.
void add_up(std::span<const Addend> addends, std::size_t width, const std::vector<Column>& columns,
            std::size_t n_rows, double* total, Pool& pool, Interrupt& interrupt);

}  // namespace treewright
