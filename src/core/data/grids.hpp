// The weights and numbers of some rows on an integer grid, where sums are exact in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "data/problem.hpp"
#include "support/exact_sum.hpp"
#include "support/portable.hpp"

namespace treewright {

/// For how many of n rows a grid is made: their sums fit one word. Lists have no others; in histograms sums
/// of more rows than `word_rows` have two.
inline double rows_of_grid(std::size_t n, std::int64_t word_rows) {
    return static_cast<double>(std::min(static_cast<std::int64_t>(n), word_rows));
}

/// A grid for the weights of `rows`.
template <class Rows>
Grid weight_grid(const Problem& problem, const Rows& rows, std::int64_t word_rows = any_number) {
    if (!problem.is_weighted()) return {};
    double largest = 0;
    for (const Row row : rows) largest = std::max(largest, problem.weight(row));
    return Grid::covering(largest, rows_of_grid(rows.size(), word_rows));
}

/// A weight on its grid; it never vanishes.
inline Sum weight_on(const Grid& grid, const Problem& problem, Row row) {
    return problem.is_weighted() ? std::max<Sum>(1, grid.place(problem.weight(row))) : 1;
}

/// The largest of some rows' numbers about a centre, times their weights.
template <class Rows>
double largest_about(const Problem& problem, const Rows& rows, std::size_t output, double centre) {
    double largest = 0;
    for (const Row row : rows)
        largest = std::max(largest, problem.weight(row) * std::abs(problem.number(row, output) - centre));
    return largest;
}

/// Adds up the weights of some rows, and their numbers times their weights.
template <class Rows>
void add_numbers(const Problem& problem, const Rows& rows, std::size_t output, ExactSum& sum,
                 ExactSum& weight) {
    for (const Row row : rows) {
        sum.add_product(problem.weight(row), problem.number(row, output));
        weight.add(problem.weight(row));
    }
}

/// The mean of numbers from two such sums.
inline double mean_of(ExactSum sum, ExactSum weight) {
    return quotient(sum.rounded_with_rest(), weight.rounded_with_rest()).value;
}

/// The mean of the numbers of rows without weights. Most often they are two.
template <class Rows>
double plain_mean(const Problem& problem, const Rows& rows, std::size_t output) {
    const Rounded weight{static_cast<double>(rows.size()), 0.0};
    if (rows.size() == 2) {
        const Rounded sum = exact_sum(problem.number(rows[0], output), problem.number(rows[1], output));
        if (std::isfinite(sum.value)) return quotient(sum, weight).value;
    }
    ExactSum sum;
    for (const Row row : rows) sum.add(problem.number(row, output));
    return quotient(sum.rounded_with_rest(), weight).value;
}

/// A centre for numbers: their mean, rounded as far as that makes none much larger, so that distances from it
/// are as short as the numbers are, and whole numbers lose nothing. `farthest`: the largest distance from the
/// mean, times its weight, over the largest weight.
inline double centre_near(double mean, double farthest) {
    if (!(farthest > 0)) return mean;
    constexpr int bits = 8;
    const double step = std::ldexp(1.0, std::ilogb(farthest) - bits), n_steps = std::nearbyint(mean / step);
    return step > 0 && std::isfinite(n_steps) ? n_steps * step : mean;
}

template <class Rows>
double centre_of(const Problem& problem, const Rows& rows, std::size_t output) {
    double heaviest = 1, mean;
    if (problem.is_weighted()) {
        ExactSum sum, weight;
        add_numbers(problem, rows, output, sum, weight);
        mean = mean_of(sum, weight);
        heaviest = 0;
        for (const Row row : rows) heaviest = std::max(heaviest, problem.weight(row));
    } else {
        mean = plain_mean(problem, rows, output);
    }
    return centre_near(mean, largest_about(problem, rows, output, mean) / heaviest);
}

/// A grid for the numbers of `rows`, centred so that an offset of y costs no digits.
template <class Rows>
Grid number_grid(const Problem& problem, const Rows& rows, std::size_t output, bool centred,
                 std::int64_t word_rows = any_number) {
    const double centre = centred ? centre_of(problem, rows, output) : 0.0;
    return Grid::covering(largest_about(problem, rows, output, centre), rows_of_grid(rows.size(), word_rows),
                          centre);
}

inline Sum number_on(const Grid& grid, const Problem& problem, Row row, std::size_t output) {
    const double centred = problem.number(row, output) - grid.centre;
    return std::llrint(centred * problem.weight(row) / grid.unit);
}

/// The square of a number on its grid, per unit of weight.
inline double square_of(Sum number, Sum weight) {
    const auto real = static_cast<double>(number);
    return real / static_cast<double>(weight) * real;
}

/// Whether a grid of some rows' own, whose largest value is at most this, would be so much finer that they
/// should have it. Elsewhere a node stays on the grid of the node above it: so its sums are the same wherever
/// it is searched, histograms can be subtracted, and yet what lies outside it costs few digits.
inline bool is_too_coarse(const Grid& grid, double largest, double n_rows) {
    constexpr double much_finer = 0x1p-8;
    return Grid::covering(largest, n_rows).unit <= much_finer * grid.unit;
}

/// Puts weights on a grid, or numbers: `cell(item)` keeps what an item has.
template <class Items, class RowOf, class Cell>
void put_weights(const Problem& problem, const Items& items, RowOf row_of, const Grid& grid, Cell cell) {
    for (const auto item : items) cell(item) = weight_on(grid, problem, row_of(item));
}
template <class Items, class RowOf, class Cell>
void put_numbers(const Problem& problem, std::size_t output, const Items& items, RowOf row_of,
                 const Grid& grid, Cell cell) {
    for (const auto item : items) cell(item) = number_on(grid, problem, row_of(item), output);
}

/// Places the weights of a node's rows, in canonical order, on the grid that the node inherits, or on its
/// own. `cell(item)` keeps the weight of an item, and is 1 where there are none; `are_placed`: the weights
/// lie on the inherited grid already.
template <class Items, class RowOf, class Cell>
void place_weights(const Problem& problem, const Items& items, RowOf row_of, Grid& grid, bool are_placed,
                   Cell cell, std::int64_t word_rows = any_number) {
    if (!problem.is_weighted()) {
        grid = {};
        return;
    }
    const auto place = [&] { put_weights(problem, items, row_of, grid, cell); };
    if (grid.is_made()) {
        Sum largest = 0;
        if (!are_placed) place();
        for (const auto item : items) largest = std::max(largest, cell(item));
        if (!is_too_coarse(grid, static_cast<double>(largest) * grid.unit,
                           rows_of_grid(items.size(), word_rows)))
            return;
    }
    grid = weight_grid(problem, items | std::views::transform(row_of), word_rows);
    place();
}

/// The largest value that numbers on a grid would have on one of their own, centred at their mean or not.
template <class Items, class WeightOf, class Cell>
double largest_about_mean(const Items& items, const Grid& grid, bool centred, WeightOf weight_of, Cell cell) {
    Int128 sum = 0, weight = 0;
    for (const auto item : items) {
        sum += cell(item);
        weight += weight_of(item);
    }
    const double mean = centred ? static_cast<double>(sum) / static_cast<double>(weight) : 0.0;
    double largest = 1;  // what lies closer together is not told apart
    for (const auto item : items)
        largest = std::max(
            largest, std::abs(static_cast<double>(cell(item)) - static_cast<double>(weight_of(item)) * mean));
    return largest * grid.unit;
}

/// The same of the numbers of an output, times their weights, of which `weight_of(item)` tells the places.
/// Only a single output has a grid to inherit: its numbers ascend.
template <class Items, class RowOf, class WeightOf, class Cell>
void place_numbers(const Problem& problem, std::size_t output, bool centred, const Items& items, RowOf row_of,
                   Grid& grid, bool are_placed, WeightOf weight_of, Cell cell,
                   std::int64_t word_rows = any_number) {
    const auto place = [&] { put_numbers(problem, output, items, row_of, grid, cell); };
    const auto largest = [&] {
        const double low = problem.number(row_of(items.front()), output),
                     high = problem.number(row_of(items.back()), output);
        if (problem.is_weighted()) return largest_about_mean(items, grid, centred, weight_of, cell);
        return centred ? high - low : std::max(std::abs(low), std::abs(high));
    };
    if (grid.is_made()) {
        if (!are_placed) place();
        if (!is_too_coarse(grid, largest(), rows_of_grid(items.size(), word_rows))) return;
    }
    grid = number_grid(problem, items | std::views::transform(row_of), output, centred, word_rows);
    place();
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
