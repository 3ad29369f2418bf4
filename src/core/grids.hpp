// The weights and numbers of some rows on an integer grid, where sums are exact in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "problem.hpp"

namespace treewright {

/// A grid for the weights of `rows`.
template <class Rows>
Grid weight_grid(const Problem& problem, const Rows& rows) {
    if (!problem.is_weighted()) return {};
    double largest = 0;
    for (const Row row : rows) largest = std::max(largest, problem.weight(row));
    return Grid::covering(largest, static_cast<double>(rows.size()));
}

/// A weight on its grid; it never vanishes.
inline Sum weight_on(const Grid& grid, const Problem& problem, Row row) {
    return problem.is_weighted() ? std::max<Sum>(1, grid.place(problem.weight(row))) : 1;
}

/// A grid for the numbers of `rows`, centred at their mean so that an offset of y costs no digits.
template <class Rows>
Grid number_grid(const Problem& problem, const Rows& rows, std::size_t output, bool centred) {
    const double first = problem.number(*rows.begin(), output);
    double centre = 0;
    if (centred) {
        double sum = 0, weight = 0;
        for (const Row row : rows) {
            sum += problem.weight(row) * (problem.number(row, output) - first);
            weight += problem.weight(row);
        }
        centre = first + sum / weight;
    }
    double largest = 0;
    for (const Row row : rows)
        largest = std::max(largest, problem.weight(row) * std::abs(problem.number(row, output) - centre));
    return Grid::covering(largest, static_cast<double>(rows.size()), centre);
}

inline Sum number_on(const Grid& grid, const Problem& problem, Row row, std::size_t output) {
    const double centred = problem.number(row, output) - grid.centre;
    return std::llrint(centred * problem.weight(row) / grid.unit);
}

/// The median of some rows, weighed on a grid; halfway between two numbers where exactly half of the weight
/// lies on each side.
inline double median_number(const Problem& problem, const Grid& weights, std::span<const Row> rows,
                            std::size_t output) {
    std::vector<std::pair<double, Sum>> sorted;
    sorted.reserve(rows.size());
    Sum total = 0, below = 0;
    for (const Row row : rows) {
        sorted.emplace_back(problem.number(row, output), weight_on(weights, problem, row));
        total += sorted.back().second;
    }
    std::sort(sorted.begin(), sorted.end());
    std::size_t i = 0;
    while (2 * (below += sorted[i].second) < total) ++i;
    const double lower = sorted[i].first, upper = 2 * below == total ? sorted[i + 1].first : lower;
    return lower == upper ? lower : lower / 2 + upper / 2;
}

}  // namespace treewright
