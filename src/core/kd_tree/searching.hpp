// Searches in a k-d tree, for many queries at once. What is found depends on nothing but the points: not on
// the tree (but for defeatist search), not on the other queries, not on the threads.
#pragma once

#include <cstdint>
#include <vector>

#include "kd_tree/kd_tree.hpp"
#include "kd_tree/metrics.hpp"

namespace treewright {

struct KDQueries {
    const double* values;  // row by row
    std::size_t n;
    KDMetric metric{};
};

/// The k nearest of each query, nearest first, ties by the lower index, and how many points were looked at.
/// Defeatist search looks only into the query's own leaf, or into the smallest node around it that holds k.
struct Nearest {
    std::vector<double> distance;
    std::vector<std::int64_t> index;
    std::vector<std::int64_t> visited;
};
template <class T>
Nearest find_nearest(const KDTree<T>& tree, const KDQueries& queries, std::size_t k, bool is_defeatist,
                     Pool& pool, Interrupt& interrupt);

/// All points with distance <= radius of each query: those of query i are [start[i], start[i + 1]).
struct Within {
    std::vector<std::int64_t> start;
    std::vector<double> distance;  // empty where they are only counted, as the next
    std::vector<std::int64_t> index;
};
template <class T>
Within find_within(const KDTree<T>& tree, const KDQueries& queries, const double* radius, bool only_count,
                   bool in_order, Pool& pool, Interrupt& interrupt);

}  // namespace treewright
