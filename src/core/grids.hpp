// The weights and numbers of some rows on an integer grid, where sums are exact in any order.
#pragma once

#include <algorithm>
#include <cmath>

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

}  // namespace treewright
