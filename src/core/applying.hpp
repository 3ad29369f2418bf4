// Sending rows down a finished tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "columns.hpp"
#include "threads.hpp"

namespace treewright {

/// The arrays of a tree that routing needs, in preorder.
struct Routes {
    std::span<const std::int32_t> end, feature;
    std::span<const double> threshold;
    std::span<const std::int64_t> subset;
    std::span<const std::uint8_t> missing_left, heavier_left, subsets;
};

/// The leaf of each row. Missing values follow missing_left, categories that training never saw go to the
/// heavier child.
void apply(const Routes& routes, const std::vector<Column>& columns, std::size_t n_rows, std::int32_t* leaf,
           Pool& pool, Interrupt& interrupt);

}  // namespace treewright
