// Sending rows down a finished tree.
#pragma once

#include <cmath>
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

/// Whether a number goes left at a node that tests one.
inline bool goes_left(const Routes& routes, std::size_t node, double x) {
    return std::isnan(x) ? routes.missing_left[node] != 0 : x <= routes.threshold[node];
}

/// Whether a category goes left at a node that tests one; a code beyond the subset is of no category in it.
inline bool goes_left(const Routes& routes, std::size_t node, std::int32_t code) {
    if (code == missing_code) return routes.missing_left[node] != 0;
    if (code < 0) return routes.heavier_left[node] != 0;
    const auto place = static_cast<std::size_t>(routes.subset[node] + code / 8);
    return place < routes.subsets.size() && (routes.subsets[place] >> (code % 8) & 1);
}

/// The leaf of each row. Missing values follow missing_left, categories that training never saw go to the
/// heavier child.
void apply(const Routes& routes, const std::vector<Column>& columns, std::size_t n_rows, std::int32_t* leaf,
           Pool& pool, Interrupt& interrupt);

}  // namespace treewright
