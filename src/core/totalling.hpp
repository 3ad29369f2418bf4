// Sums over many trees of what the leaf of each row says.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "applying.hpp"

namespace treewright {

/// A tree and what each of its nodes says, a line of numbers; only those of leaves are read.
struct Speaker {
    Routes routes;
    const double* lines = nullptr;
};

/// total[row · width + k] = the sum over trees of what the row's leaf says; the trees are added in their
/// order, so that the sums are the same to the bit for any number of threads.
void add_up(std::span<const Speaker> speakers, std::size_t width, const std::vector<Column>& columns,
            std::size_t n_rows, double* total, Pool& pool, Interrupt& interrupt);

}  // namespace treewright
