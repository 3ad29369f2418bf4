// A look at the sorted lists of some columns at once, where a node has few rows: which of them may offer a
// cut that scores more than the best one so far. The others need no scan.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "scanners/block_seek.hpp"
#include "support/simd.hpp"

namespace treewright {

/// Scores are D²/(L·R), with weights D²·W/(L·R), where D is the sum of the rows' distances w·(y − mean) on
/// the left; L, R and W are the weights of the sides and of all. Everything is reckoned in doubles, with room
/// for rounding.
template <class Id>
class Screen {
  public:
    static constexpr std::size_t n_lists = 4;
    static constexpr std::size_t most_rows = 96;  // beyond, a scan passes over blocks of cuts
    using Lists = std::array<const Id*, n_lists>;

    /// For ids below `n`.
    void load(std::size_t n, bool is_weighted) {
        distance_.resize(n);
        weight_.resize(is_weighted ? n : 0);
    }
    /// The rows of a node: `row_of(id)` is its distance and its weight.
    template <class RowOf>
    void enter(std::span<const Id> ids, double total, RowOf row_of) {
        total_ = total;
        double farthest = 0;
        for (const Id id : ids) {
            const auto [distance, weight] = row_of(id);
            distance_[id] = distance;
            if (!weight_.empty()) weight_[id] = weight;
            farthest = std::max(farthest, std::abs(distance));
        }
        rounding_ = 1e-8 * farthest * farthest;  // more than n³·2⁻⁵³·farthest²
    }
    /// Which lists of `n` rows may hold a cut that scores more than `least`: a bit for each.
    unsigned above(const Lists& lists, std::size_t n, double least) const {
        const double nearly = least * (1 - bound_room);
        return weight_.empty() ? counted(lists, n, nearly) : weighed(lists, n, nearly / total_);
    }

  private:
    using Pair = SimdVector<double, 2>;

    static Pair gather(const std::vector<double>& from, const Id* one, const Id* other, std::size_t i) {
        return Pair{from[one[i]], from[other[i]]};
    }
    static Pair all(double x) { return Pair{x, x}; }
    /// Which are above zero.
    static unsigned bits(const Pair& first, const Pair& second) {
        return static_cast<unsigned>(first[0] > 0) | static_cast<unsigned>(first[1] > 0) << 1 |
               static_cast<unsigned>(second[0] > 0) << 2 | static_cast<unsigned>(second[1] > 0) << 3;
    }
    unsigned counted(const Lists& lists, std::size_t n, double nearly) const {
        Pair sum[2] = {all(0), all(0)}, excess[2] = {all(0), all(0)};
        double left = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            left += 1;
            const Pair needed = all(nearly * (left * (total_ - left)) - rounding_);
            for (std::size_t k = 0; k < 2; ++k) {
                sum[k] = sum[k] + gather(distance_, lists[2 * k], lists[2 * k + 1], i);
                excess[k] = larger(sum[k] * sum[k] - needed, excess[k]);
            }
        }
        return bits(excess[0], excess[1]);
    }
    unsigned weighed(const Lists& lists, std::size_t n, double nearly) const {
        // What is left of the whole weight is as uncertain as the whole is.
        const double of_weights = nearly * total_ * total_ * 1e-13;
        const Pair total = all(total_), nearly_all = all(nearly), rounding = all(rounding_ + of_weights);
        Pair excess[2] = {all(0), all(0)};
        for (std::size_t k = 0; k < 2; ++k) {
            Pair sum = all(0), left = all(0);
            for (std::size_t i = 0; i + 1 < n; ++i) {
                sum = sum + gather(distance_, lists[2 * k], lists[2 * k + 1], i);
                left = left + gather(weight_, lists[2 * k], lists[2 * k + 1], i);
                const Pair needed = nearly_all * (left * (total - left)) - rounding;
                excess[k] = larger(sum * sum - needed, excess[k]);
            }
        }
        return bits(excess[0], excess[1]);
    }

    std::vector<double> distance_, weight_;  // by id; no weights: all are 1
    double total_ = 0, rounding_ = 0;
};

}  // namespace treewright
