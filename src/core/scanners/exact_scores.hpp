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

/// a·b − c·d, rounded once.
inline double difference_of_products(Sum a, Sum b, Sum c, Sum d) {
    return static_cast<double>(Int128(a) * b - Int128(c) * d);
}

/// The same of numbers of up to 92 bits, none of them negative: in halves of 32 and 60 bits.
inline double difference_of_products(Int128 a, Int128 b, Int128 c, Int128 d) {
    constexpr int half = 32;
    const auto upper = [](Int128 x) {
        return Int128(upper_word(x) << half | static_cast<Sum>(lower_word(x) >> half));
    };
    const auto lower = [](Int128 x) { return Int128(static_cast<Sum>(lower_word(x) & 0xffffffff)); };
    const Int128 middle =
        upper(a) * lower(b) + lower(a) * upper(b) - upper(c) * lower(d) - lower(c) * upper(d);
    const Int128 rest = middle * Int128(Sum{1} << half) + lower(a) * lower(b) - lower(c) * lower(d);
    // The difference is first · 2^64 + last.
    Int128 first = upper(a) * upper(b) - upper(c) * upper(d) + upper_word(rest);
    std::uint64_t last = lower_word(rest);
    const bool is_negative = first < 0;
    if (is_negative) {  // mirror images are rounded alike
        first = -first - (last != 0 ? 1 : 0);
        last = ~last + 1;
    }
    constexpr Sum in_one = Sum{1} << 62;
    // Of a large one, what comes after the first 63 bits or more only breaks ties.
    const double size = first < in_one
                            ? static_cast<double>(of_words(static_cast<Sum>(lower_word(first)), last))
                            : static_cast<double>(first + first + (last != 0 ? 1 : 0)) * 0x1p63;
    return is_negative ? -size : size;
}

/// The same with weights; W·D is whole as well.
template <class S>
double weighted_pair_score(S total, S of_class, S left, S of_class_left) {
    const double scaled = difference_of_products(of_class_left, total, left, of_class);
    const auto l = static_cast<double>(left), r = static_cast<double>(total - left);
    const double difference = scaled / static_cast<double>(total);
    return difference * difference / (l * r);
}

/// Of a sum and a positive weight; the quotient fits one word.
inline Sum whole_quotient(Sum sum, Sum weight) { return sum / weight; }
inline Sum whole_quotient(Int128 sum, Int128 weight) {
    const Int128 size = sum < 0 ? -sum : sum;
    Sum quotient = std::llrint(static_cast<double>(size) / static_cast<double>(weight));
    Int128 rest = size - weight * quotient;  // of a quotient that may be off by rounding
    for (; rest < 0; rest += weight) --quotient;
    for (; rest >= weight; rest -= weight) ++quotient;
    return sum < 0 ? -quotient : quotient;
}

/// The mean of numbers on a grid, per unit of weight, in two parts: a whole one that is taken off inside the
/// integers, and a small real rest. So an offset of all numbers costs no digits.
struct GridMean {
    Sum shift = 0;
    double rest = 0;

    GridMean() = default;
    template <class S>
    GridMean(S sum, S weight)
        : shift(whole_quotient(sum, weight)),
          rest(static_cast<double>(sum - weight * shift) / static_cast<double>(weight)) {}

    /// Σ w·(y − mean) of some rows.
    template <class S>
    double difference(S weight, S sum) const {
        return static_cast<double>(sum - weight * shift) - static_cast<double>(weight) * rest;
    }
    /// w·(y − mean)² of a row, or of some rows as if they were one.
    template <class S>
    double square(S weight, S sum) const {
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
