// Directions: weighted sums of columns, with weights that people can read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "support/elementary.hpp"

namespace treewright {

struct Direction {
    std::vector<std::int32_t> columns;  // ascending
    std::vector<double> weights;        // the largest is 1 or -1, the first is positive

    bool is_sum() const { return columns.size() > 1; }
    bool operator==(const Direction&) const = default;
};

/// The sum of each row, in the order of the columns. Products and sums are rounded one by one, as numpy does
/// it: this file's users are compiled without fused multiply-add. Missing parts make it missing.
inline double sum_at(const Direction& direction, std::span<const Column> columns, Row row) {
    double sum = direction.weights[0] * columns[direction.columns[0]].value(row);
    for (std::size_t i = 1; i < direction.columns.size(); ++i)
        sum += direction.weights[i] * columns[direction.columns[i]].value(row);
    return sum;
}

/// The decimal of so many digits next to a number between 0 and 1; of 0 digits the next of 1, 0.5, 0.2, 0.1 …
inline double rounded_weight(double size, int digits) {
    const int places = std::max(digits, 1) - 1 - static_cast<int>(std::floor(elementary::log10(size)));
    double power = 1;  // exact up to 1e22: the quotient is rounded once, to the double that the decimal names
    for (int place = 0; place < places; ++place) power *= 10;
    if (digits > 0) return std::round(size * power) / power;
    const double first = size * power;  // 1 … 10; neighbours meet at their geometric mean
    return (first < std::sqrt(2.0)    ? 1.0
            : first < std::sqrt(10.0) ? 2.0
            : first < std::sqrt(50.0) ? 5.0
                                      : 10.0) /
           power;
}

/// The same direction scaled to a largest weight of 1 and rounded to so many digits; without columns where
/// the weights differ so much that the small ones would be no more than noise.
inline Direction readable_direction(const Direction& direction, int digits) {
    double largest = 0;
    for (const double weight : direction.weights) largest = std::max(largest, std::abs(weight));
    constexpr double most_apart = 1e15;
    if (!(largest > 0 && std::isfinite(largest))) return {};
    Direction out;
    const double sign = direction.weights[0] < 0 ? -1.0 : 1.0;
    for (std::size_t i = 0; i < direction.columns.size(); ++i) {
        const double size = std::abs(direction.weights[i]) / largest;
        if (!(size * most_apart >= 1)) return {};
        out.columns.push_back(direction.columns[i]);
        out.weights.push_back(std::copysign(rounded_weight(size, digits), sign * direction.weights[i]));
    }
    return out;
}

}  // namespace treewright
