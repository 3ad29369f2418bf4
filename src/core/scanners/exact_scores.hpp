// Scores of a cut from whole numbers: the same to the last bit in lists and in histograms.
#pragma once

#include <cmath>
#include <cstddef>

#include "data/problem.hpp"
#include "support/exact_sum.hpp"
#include "support/portable.hpp"

namespace treewright {

/// Two classes by Gini, D²/(L·R) over the node's W². n·D is a whole number: two cuts that are mirror images
/// score the same.
inline double pair_score(Sum n, Sum ones, Sum n_left, Sum ones_left) {
    const auto difference = static_cast<double>(n * ones_left - n_left * ones);
    const auto left = static_cast<double>(n_left), all = static_cast<double>(n);
    return difference * difference / (left * (all - left)) / (all * all);
}

/// The same with weights; W·D is whole as well.
inline double weighted_pair_score(Sum total, Sum of_class, Sum left, Sum of_class_left) {
    const auto scaled = static_cast<double>(static_cast<Int128>(of_class_left) * total -
                                            static_cast<Int128>(left) * of_class);
    const auto l = static_cast<double>(left), r = static_cast<double>(total - left);
    const double difference = scaled / static_cast<double>(total);
    return difference * difference / (l * r);
}

/// The mean of numbers on a grid, per unit of weight, in two parts: a whole one that is taken off inside the
/// integers, and a small real rest. So an offset of all numbers costs no digits.
struct GridMean {
    Sum shift = 0;
    double rest = 0;

    GridMean() = default;
    GridMean(Sum sum, Sum weight)
        : shift(sum / weight),
          rest(static_cast<double>(sum - shift * weight) / static_cast<double>(weight)) {}

    /// Σ w·(y − mean) of some rows.
    double difference(Sum weight, Sum sum) const {
        return static_cast<double>(sum - weight * shift) - static_cast<double>(weight) * rest;
    }
    /// w·(y − mean)² of a row, or of some rows as if they were one.
    double square(Sum weight, Sum sum) const {
        const double distance = difference(weight, sum);
        return distance / static_cast<double>(weight) * distance;
    }
    /// The standard deviation of the numbers of some items. The sum is exact: items may come in any order.
    template <class Items, class WeightOf, class SumOf>
    double deviation(const Items& items, WeightOf weight_of, SumOf sum_of) const {
        ExactSum squares;
        Sum whole = 0;
        for (const auto item : items) {
            squares.add(square(weight_of(item), sum_of(item)));
            whole += weight_of(item);
        }
        return std::sqrt(squares.rounded() / static_cast<double>(whole));
    }
};

/// One number by squared error: D²/(L·R).
inline double square_score(double difference, double left, double all) {
    return difference * difference / (left * (all - left));
}

/// The same by weights and sums: what telling the two sides apart gains.
inline double square_gain(double weight_left, double sum_left, double weight_right, double sum_right) {
    const double total = weight_left + weight_right;
    const double difference = sum_left * (weight_right / total) - sum_right * (weight_left / total);
    return difference * difference * (1 / weight_left + 1 / weight_right);
}

}  // namespace treewright
