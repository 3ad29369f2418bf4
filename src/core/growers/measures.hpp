// Measures: how a cut scores by its statistic, and how much a bin can hide. A measure sees sums alone, never
// rows, so that it does not matter where the rows are; what adds them up is in row_sums.hpp.
//
// layout()              what the sums of a statistic are
// enter(total, grids)   once per node that is searched: the statistic of all its rows
// score_of(statistic)   of the rows that go left; comparable within the node
// chance_score(sizes)   what groups of such sizes score by chance
// bound(left, bin)      no cut inside the bin scores more, wherever its rows lie; `left` is the statistic
//                       before it
//
// Sums are of type S: of one word, or where that does not hold them Int128, see layouts.hpp. The same sums
// score the same to the last bit: whole numbers are added, subtracted and multiplied, and only then rounded.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <vector>

#include "criteria/criterion.hpp"
#include "data/agreement.hpp"
#include "data/problem.hpp"
#include "growers/layouts.hpp"
#include "scanners/chance.hpp"
#include "scanners/exact_scores.hpp"
#include "scanners/scanner.hpp"

namespace treewright {

/// An upper bound on |D|²/(L·R) inside a bin, where D = Σ_left (y − mean of the node), L and R weights.
/// Inside, D leaves the straight line between its values at the borders by at most √(s·w(1−w/b)), for w of
/// the bin's weight b moved left, s the squared deviation within the bin (Cauchy–Schwarz).
inline double spread_bound(double before, double after, double spread, double left, double bin,
                           double total) {
    const double right = total - left - bin;
    const double root = std::sqrt(std::max(0.0, spread));
    const auto square = [](double x) { return x * x; };
    if (left <= 0)
        return right <= 0 ? std::numeric_limits<double>::infinity()
                          : square(after / std::sqrt(bin) + root) / right;
    if (right <= 0) return square(before / std::sqrt(bin) + root) / left;
    const double farthest = std::max(before, after) + root * std::sqrt(bin) / 2;
    return square(farthest) / std::min(left * (total - left), right * (total - right));
}

/// One output of classes.
template <ClassCriterion C, class S = Sum>
class ClassMeasure {
  public:
    explicit ClassMeasure(const Agreement& agreement)
        : layout_{static_cast<std::size_t>(agreement.n_classes[0]), agreement.is_weighted, in_two_words<S>},
          n_classes_(layout_.n_classes),
          left_(n_classes_),
          right_(n_classes_) {}

    static bool fits(const Agreement& agreement) {
        return agreement.n_outputs == 1 && agreement.n_classes[0] <= 256;
    }

    const ClassLayout& layout() const { return layout_; }
    std::size_t width() const { return layout_.width(); }
    std::int64_t rows_of(const Sum* statistic) const { return layout_.rows_of(statistic); }

    void enter(const Sum* total, const Grids& grids) {
        grid_ = grids.weight;
        total_.resize(n_classes_);
        for (std::size_t k = 0; k < n_classes_; ++k) total_[k] = weight_in(total, k);
        sum_ = total_sum(total);
        n_present_ = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            left_[k] = static_cast<double>(total_[k]);
            if (total_[k] == 0) continue;
            ++n_present_;
            last_present_ = k;
        }
        risk_ = C::risk(left_);
    }

    double weight() const { return sum_ * grid_.unit; }
    double weight_of(const Sum* statistic) const { return total_sum(statistic) * grid_.unit; }
    double noise() const {
        if (is_linear()) return layout_.is_weighted ? rounding_noise * share() * (1 - share()) : 0.0;
        return rounding_noise * risk_;
    }
    double gain(double score) const {
        return is_linear() ? score * weight() * 2.0 : std::max(0.0, score) * grid_.unit;
    }
    double score_of(const Sum* statistic) {
        return score_by([&](std::size_t k) { return weight_in(statistic, k); });
    }
    double chance_score(const Chance& chance) const {
        if (is_linear()) return pair_chance(chance, share());
        std::vector<double> weights;
        for (const S& weight : total_) weights.push_back(static_cast<double>(weight));
        return class_chance(chance, weights, grid_.unit,
                            [&](Weights left, Weights right) { return gain_of<C>(left, right, risk_); });
    }
    double bound(const Sum* left, const Sum* bin) {
        if (n_classes_ == 2) return corner_bound(left, bin);
        if constexpr (requires { requires C::is_linear_for_two; }) {
            return gini_bound(left, bin);
        } else {
            // The bin's own rows might be told apart without risk.
            for (std::size_t k = 0; k < n_classes_; ++k) {
                left_[k] = static_cast<double>(weight_in(left, k));
                right_[k] = static_cast<double>(total_[k] - weight_in(left, k) - weight_in(bin, k));
            }
            return risk_ - C::risk(left_) - C::risk(right_);
        }
    }
    /// With one class alone a cut inside cannot beat both borders, where the risk is strictly concave; only
    /// if the borders themselves are allowed. Where rows of tiny weights lie between, it may tie with one.
    bool hides_nothing(const Sum* bin) const {
        if constexpr (!Separable<C>) return false;
        if (layout_.is_weighted) return false;
        return std::count_if(bin, bin + n_classes_, [](Sum weight) { return weight > 0; }) <= 1;
    }

    std::size_t dimensions() const { return n_present_ == 2 ? 1 : n_classes_; }
    void point(const Sum* statistic, double* out) const {
        const double sum = total_sum(statistic);
        const auto share = [&](std::size_t k) { return static_cast<double>(weight_in(statistic, k)) / sum; };
        if (dimensions() == 1) return void(out[0] = share(last_present_));
        for (std::size_t k = 0; k < n_classes_; ++k) out[k] = share(k);
    }

  private:
    S weight_in(const Sum* statistic, std::size_t k) const {
        return layout_.template weight_of<S>(statistic, k);
    }
    double total_sum(const Sum* statistic) const {
        return static_cast<double>(layout_.template weight_of_all<S>(statistic));
    }
    /// Two classes whose gain is D²/(L·R): it is reckoned as the scanners of two classes do.
    bool is_linear() const {
        if constexpr (requires { C::is_linear_for_two; }) return n_classes_ == 2;
        return false;
    }
    /// That of a cut by the weights of the classes on its left.
    template <class WeightOf>
    double score_by(WeightOf weight_of) {
        if (is_linear()) return linear_score(weight_of(0), weight_of(1));
        for (std::size_t k = 0; k < n_classes_; ++k) {
            const S weight = weight_of(k);
            left_[k] = static_cast<double>(weight);
            right_[k] = static_cast<double>(total_[k] - weight);
        }
        return gain_of<C>(left_, right_, risk_);
    }
    double linear_score(S zeros, S ones) const {
        const S total = total_[0] + total_[1], left = zeros + ones;
        if constexpr (std::same_as<S, Sum>)
            if (!layout_.is_weighted) return pair_score(total, total_[1], left, ones);
        return weighted_pair_score(total, total_[1], left, ones);
    }
    /// Of the lighter class; of ones, where there are no weights.
    double share() const {
        const S light = layout_.is_weighted ? std::min(total_[0], total_[1]) : total_[1];
        return static_cast<double>(light) / sum_;
    }
    /// The gain is convex in the counts, so inside the bin's box it is largest at a corner; two of the four
    /// corners are the borders, which are scored anyway, and to which only rows of tiny weights are so near
    /// that a cut inside ties with them.
    double corner_bound(const Sum* left, const Sum* bin) {
        double largest = unreachable;
        const S zeros = weight_in(bin, 0), ones = weight_in(bin, 1);
        const auto try_corner = [&](S own_zeros, S own_ones) {
            const S corner[2] = {weight_in(left, 0) + own_zeros, weight_in(left, 1) + own_ones},
                    sum = corner[0] + corner[1];
            if (sum > 0 && static_cast<double>(sum) < sum_)
                largest = std::max(largest, score_by([&](std::size_t k) { return corner[k]; }));
        };
        try_corner(zeros, 0);
        try_corner(0, ones);
        if (layout_.is_weighted) {
            try_corner(0, 0);
            try_corner(zeros, ones);
        }
        return largest;
    }
    double gini_bound(const Sum* left, const Sum* bin) {
        double before = 0, after = 0, squares = 0;
        const double l = total_sum(left), b = total_sum(bin);
        for (std::size_t k = 0; k < n_classes_; ++k) {
            const double share = static_cast<double>(total_[k]) / sum_,
                         own = static_cast<double>(weight_in(bin, k));
            const double at_start = static_cast<double>(weight_in(left, k)) - l * share,
                         at_end = at_start + own - b * share;
            before += at_start * at_start;
            after += at_end * at_end;
            squares += own * own;
        }
        return sum_ * spread_bound(std::sqrt(before), std::sqrt(after), b - squares / b, l, b, sum_);
    }

    ClassLayout layout_;
    std::size_t n_classes_;
    Grid grid_;
    std::vector<S> total_;  // by class
    std::vector<double> left_, right_;
    double sum_ = 0, risk_ = 0;
    std::size_t n_present_ = 0, last_present_ = 0;
};

/// One number by squared error.
template <class S = Sum>
class SquareMeasure {
  public:
    explicit SquareMeasure(const Agreement& agreement)
        : layout_{agreement.is_weighted, in_two_words<S>}, is_weighted_(agreement.is_weighted) {}

    static bool fits(const Agreement& agreement) { return agreement.n_outputs == 1; }

    const SquareLayout& layout() const { return layout_; }
    std::size_t width() const { return layout_.width(); }
    std::int64_t rows_of(const Sum* statistic) const { return layout_.rows_of(statistic); }

    void enter(const Sum* total, const Grids& grids) {
        grids_ = grids;
        const S weight = weight_in(total);
        mean_ = GridMean(sum_in(total), weight);
        all_ = static_cast<double>(weight);
    }

    double weight() const { return all_ * grids_.weight.unit; }
    double weight_of(const Sum* statistic) const { return real_weight(statistic) * grids_.weight.unit; }
    double noise() const { return 0; }
    double gain(double score) const {
        const double unit = grids_.number.unit;
        if (!is_weighted_) return score * weight() * unit * unit;
        return std::max(0.0, score) * unit * (unit / grids_.weight.unit);
    }
    /// In units of the grids.
    double score_of(const Sum* statistic) const {
        const double left = real_weight(statistic), difference = difference_in(statistic);
        return is_weighted_ ? square_gain(left, difference, all_ - left, -difference)
                            : square_score(difference, left, all_);
    }
    /// Only rows tell how far their numbers stray from this mean, the sum of `mean().square`; chance_score
    /// needs it.
    const GridMean& mean() const { return mean_; }
    void set_squares(double sum) { deviation_ = std::sqrt(sum / all_); }
    double chance_score(const Chance& chance) const {
        if (!is_weighted_) return square_chance(chance, deviation_);
        return std::max(0.0, chance.of_deviation(deviation_, [&](const ChanceSide& side) {
            const double part = side.size / chance.total();
            const double excess = side.excess * chance.row_weight() / grids_.weight.unit;
            return square_gain(all_ * part, excess, all_ * (1 - part), -excess);
        }));
    }
    double bound(const Sum* left, const Sum* bin) const {
        const double b = real_weight(bin), l = real_weight(left);
        const double before = difference_in(left), own = difference_in(bin);
        const auto sum = static_cast<double>(sum_in(bin)),
                   squares = static_cast<double>(layout_.template squares_of<S>(bin));
        const double spread = squares * grids_.square_unit - sum * sum / b;
        const double bound = spread_bound(std::abs(before), std::abs(before + own), spread, l, b, all_);
        return is_weighted_ ? bound * all_ : bound;
    }
    bool hides_nothing(const Sum*) const { return false; }

    std::size_t dimensions() const { return 1; }
    void point(const Sum* statistic, double* out) const {
        out[0] = static_cast<double>(sum_in(statistic)) / real_weight(statistic);
    }

  private:
    S weight_in(const Sum* statistic) const { return layout_.template weight_of<S>(statistic); }
    S sum_in(const Sum* statistic) const { return layout_.template sum_of<S>(statistic); }
    double real_weight(const Sum* statistic) const { return static_cast<double>(weight_in(statistic)); }
    double difference_in(const Sum* statistic) const {
        return mean_.difference(weight_in(statistic), sum_in(statistic));
    }

    SquareLayout layout_;
    bool is_weighted_;
    Grids grids_;
    GridMean mean_;
    double deviation_ = 0, all_ = 0;  // the weight of all rows
};

}  // namespace treewright
