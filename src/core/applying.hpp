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

/// Tests of other columns that stand in where the value that a node tests is missing. Those of node i are
/// start[i] … start[i + 1], the best one first; what passes a reversed one goes right.
struct StandIns {
    std::span<const std::int64_t> start;
    std::span<const std::int32_t> feature;
    std::span<const double> threshold;
    std::span<const std::int64_t> subset;
    std::span<const std::uint8_t> reversed, subsets;
};

/// The same where the first stand-in whose value is known decides for a missing one; missing_left where none
/// is. A category that training never saw is no known value of a stand-in.
void apply(const Routes& routes, const StandIns& stand_ins, const std::vector<Column>& columns,
           std::size_t n_rows, std::int32_t* leaf, Pool& pool, Interrupt& interrupt);

/// Parts of rows at leaves. Those of a row lie together, from left to right, and their shares add up to 1.
struct Parts {
    std::vector<std::int64_t> start{0};  // of each row, and where the last one ends
    std::vector<std::int32_t> leaf;
    std::vector<double> share;
};

/// The rows from `first` on, where a row without the value that a node tests goes to both children in the
/// shares of their weights; as many rows as it takes to make `most` parts, and at least one.
Parts spread(const Routes& routes, std::span<const double> weight, const std::vector<Column>& columns,
             std::size_t first, std::size_t n_rows, std::size_t most, Interrupt& interrupt);

}  // namespace treewright
