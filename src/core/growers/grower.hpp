// Growing a tree: the best-first grower and the arrays that it hands over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "criteria/criterion.hpp"
#include "data/agreement.hpp"
#include "data/problem.hpp"
#include "growers/oblique/directions.hpp"
#include "support/unfilled.hpp"
#include "tree/statistics.hpp"

namespace treewright {

/// A grown tree, in preorder: the left child of i is i + 1, the right one end[i + 1], and a leaf has
/// end[i] = i + 1.
struct GrownTree {
    std::vector<std::int32_t> end, feature, step;
    std::vector<double> low, high;  // the gap of the threshold; NaN where there is none
    std::vector<std::int64_t> subset, rows;
    std::vector<std::uint8_t> missing_left, subsets;
    UnfilledVector<double> statistic;  // node by node
    std::size_t width = 0;
    std::vector<Direction> directions;  // the columns after those of the table
    OwnedRows leaves;  // of a wide problem, instead of `statistic`: the rows of leaves, none at branches

    GrownTree() = default;
    /// So many leaves, to be made branches where they are, without rows and statistics.
    explicit GrownTree(std::size_t n_nodes)
        : end(n_nodes),
          feature(n_nodes, -1),
          step(n_nodes, -1),
          low(n_nodes, std::numeric_limits<double>::quiet_NaN()),
          high(low),
          subset(n_nodes, -1),
          rows(n_nodes),
          missing_left(n_nodes, 0) {
        std::iota(end.begin(), end.end(), 1);
    }
};

/// Nodes up to this many rows are grown in lists, and tables up to it need no bins.
constexpr std::int64_t default_small_rows = 4096;

/// Nodes up to this many rows are grown in lists in this problem. Histograms have a cell for each bin and
/// class, however few the rows.
inline std::int64_t small_rows_of(const Problem& problem) {
    constexpr std::int64_t per_class = 1024;
    if (problem.limits.small_rows > 0) return problem.limits.small_rows;
    return std::max(default_small_rows,
                    problem.targets.are_classes() ? per_class * problem.targets.n_classes[0] : 0);
}

/// The grids that the scanners and measures of a criterion start with.
NumberGrids number_grids(const Criterion& criterion, const Problem& problem);

GrownTree grow(Problem& problem, const Criterion& criterion, Pool& pool);

}  // namespace treewright
