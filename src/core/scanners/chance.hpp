// What the best division of a column's categories gains by chance, if the column says nothing of the target.
//
// With many small categories some are pure by luck, and their best subset gains much in pure noise: a column
// of row numbers separates any target. The gain that chance gives follows from the sizes n_c of the
// categories. Under the null hypothesis the target of category c is n_c draws from the node, with X_c of the
// outcome; the best subset is made of the categories whose share X_c / n_c is above some threshold t. For
// every t the side above it is expected to hold
//     H(t) = Σ n_c P(X_c > n_c t) rows,  A(t) = Σ E[X_c; X_c > n_c t] of the outcome,
// and what chance scores is the largest score, by the criterion itself, of such a side over a grid of t.
//     classes: X_c ~ Binomial(n_c, p), the outcome is one class against the others
//     numbers: X_c ~ Normal(n_c μ, n_c σ²), the outcome is the sum of the numbers
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "data/problem.hpp"
#include "support/elementary.hpp"

namespace treewright {

/// A subset of categories must gain this many times what chance would give. The gain of noise spreads about
/// its mean, and a split that is hardly better than chance answers new rows worse than no split: the chance
/// is in the answers of its two sides as well. (By python -m benchmarks categories and messy: at 1.2 columns
/// of thousands of names that tell little still cost some points; at 2 those that tell much lose their use.)
constexpr double worth_over_chance = 1.35;

/// What the side above a threshold is expected to hold: how many rows, and by how much the outcome is above
/// its share of them.
struct ChanceSide {
    double size = 0;
    double excess = 0;
};

class Chance {
  public:
    /// For a node of this weight and so many rows.
    Chance(Correction correction, double weight, std::size_t n_rows)
        : by_rows_(correction == Correction::by_rows),
          row_weight_(by_rows_ ? weight / static_cast<double>(n_rows) : 1.0) {}

    /// A category. One that weighs between n and n + 1 counts as a part of each.
    void add(double weight, std::size_t n_rows) {
        const double size = by_rows_ ? static_cast<double>(n_rows) : weight, low = std::floor(size);
        if (low > 0) sizes_.push_back({low, low + 1 - size});
        if (size > low) sizes_.push_back({low + 1, size - low});
    }
    /// Call once all are there. Categories of one size are reckoned once.
    void finish() {
        std::sort(sizes_.begin(), sizes_.end(), [](const Size& a, const Size& b) {
            return a.rows != b.rows ? a.rows < b.rows : a.times < b.times;
        });
        std::size_t n = 0;
        for (const auto& each : sizes_) {
            if (n > 0 && sizes_[n - 1].rows == each.rows)
                sizes_[n - 1].times += each.times;
            else
                sizes_[n++] = each;
        }
        sizes_.resize(n);
        double squares = 0, count = 0;
        for (const auto& [rows, times] : sizes_) {
            total_ += times * rows;
            squares += times * rows * rows;
            count += times;
        }
        typical_ = {squares / total_, total_ / count};
    }

    double total() const { return total_; }
    double row_weight() const { return row_weight_; }
    /// Whether categories have two rows each, on average. Of a column of ids nothing can be learnt.
    bool repeats() const { return typical_[1] >= 2; }

    /// The most that score(side) says of the sides of a class with this share of the rows, at most ½.
    template <class Score>
    double of_share(double share, Score score) const {
        if (!(share > 0)) return 0;
        const auto thresholds = thresholds_about(share, std::sqrt(share * (1 - share)));
        std::array<ChanceSide, n_thresholds> sides{};
        for (const auto& each : sizes_) add_binomial(sides, thresholds, each, share);
        return most_of(sides, score);
    }
    /// The same of a number with this standard deviation.
    template <class Score>
    double of_deviation(double deviation, Score score) const {
        const auto thresholds = thresholds_about(0, 1);
        std::array<ChanceSide, n_thresholds> sides{};
        for (const auto& [rows, times] : sizes_)
            for (std::size_t i = 0; i < n_thresholds; ++i)
                add_normal(sides[i], times, rows, 0, std::sqrt(rows), rows * thresholds[i]);
        for (auto& side : sides) side.excess *= deviation;
        return most_of(sides, score);
    }
    /// Σ √n_c.
    double roots() const {
        double sum = 0;
        for (const auto& [rows, times] : sizes_) sum += times * std::sqrt(rows);
        return sum;
    }

  private:
    struct Size {
        double rows;
        double times;  // how many categories have it
    };
    static constexpr std::array steps{0.0, 0.5, 1.0, 1.5, 2.0, 3.0};
    static constexpr std::size_t n_thresholds = 4 * steps.size();

    /// Thresholds about the expected share: as far as the shares of a category of typical size stray from it,
    /// and half, twice, three times as far; typical by the rows that are in it, and by the number of
    /// categories.
    std::array<double, n_thresholds> thresholds_about(double share, double deviation) const {
        std::array<double, n_thresholds> thresholds{};
        std::size_t i = 0;
        for (const double size : typical_)
            for (const double step : steps)
                for (const double sign : {-1.0, 1.0})
                    thresholds[i++] = share + sign * step * deviation / std::sqrt(size);
        return thresholds;
    }
    template <class Score>
    double most_of(const std::array<ChanceSide, n_thresholds>& sides, Score score) const {
        double most = 0;
        for (const auto& side : sides)
            if (side.size > 0 && side.size < total_ && side.excess > 0) most = std::max(most, score(side));
        return most;
    }
    static void add_normal(ChanceSide& side, double times, double rows, double mean, double deviation,
                           double threshold) {
        const double z = (threshold - mean) / deviation;
        side.size += times * rows * elementary::erfc(z / std::numbers::sqrt2) / 2;
        side.excess += times * deviation * elementary::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    }
    /// Categories of n rows: sums of the binomial distribution from its upper end down.
    static void add_binomial(std::array<ChanceSide, n_thresholds>& sides,
                             const std::array<double, n_thresholds>& thresholds, const Size& each,
                             double share) {
        const auto [n, times] = each;
        const double mean = n * share, deviation = std::sqrt(mean * (1 - share));
        constexpr double many = 64;  // of whom the normal distribution tells enough
        if (mean > many) {
            for (std::size_t i = 0; i < n_thresholds; ++i)
                add_normal(sides[i], times, n, mean, deviation, n * thresholds[i]);
            return;
        }
        // P(X = x) for x = 0, 1, …; beyond ten deviations there is nothing left.
        constexpr std::size_t most = 256;
        std::array<double, most> above, outcome;  // P(X > x), E[X; X > x]
        const auto last = static_cast<std::size_t>(std::min(n, std::floor(mean + 10 * deviation + 10)));
        double probability = elementary::exp(n * elementary::log1p(-share)), sum = 0, expected = 0;
        for (std::size_t x = 0; x <= last; ++x) {
            const auto count = static_cast<double>(x);
            sum += probability;
            expected += count * probability;
            above[x] = std::max(0.0, 1 - sum);
            outcome[x] = std::max(0.0, mean - expected);
            probability *= (n - count) / (count + 1) * share / (1 - share);
        }
        for (std::size_t i = 0; i < n_thresholds; ++i) {
            const double place = n * thresholds[i];
            if (place < 0) {
                sides[i].size += times * n;  // all of them, and no excess
            } else if (const auto x = static_cast<std::size_t>(std::min(place, n)); x <= last) {
                sides[i].size += times * n * above[x];
                sides[i].excess += times * (outcome[x] - mean * above[x]);
            }
        }
    }

    bool by_rows_;
    double row_weight_;  // of a row
    std::vector<Size> sizes_;
    double total_ = 0;
    std::array<double, 2> typical_{};
};

/// What chance scores by criteria of the form D²/(L·R) (see linear.hpp), of an outcome with this share.
inline double pair_chance(const Chance& chance, double share) {
    return chance.of_share(std::min(share, 1 - share), [&](const ChanceSide& side) {
        return side.excess * side.excess / (side.size * (chance.total() - side.size));
    });
}

/// The same of a number with this standard deviation.
inline double square_chance(const Chance& chance, double deviation) {
    return chance.of_deviation(deviation, [&](const ChanceSide& side) {
        return side.excess * side.excess / (side.size * (chance.total() - side.size));
    });
}

/// What chance scores by a criterion of classes, by the class that is the most against all others:
/// score(left, right) is the criterion's gain of dividing weights per class so; a unit of the weights weighs
/// `unit`.
template <class Score>
double class_chance(const Chance& chance, std::span<const double> weights, double unit, Score score) {
    const auto heaviest =
        static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
    double total = 0;
    for (const double weight : weights) total += weight;
    const double share = weights[heaviest] / total, rest = 1 - share;
    if (!(rest > 0)) return 0;
    const double sign = share <= rest ? 1 : -1;  // the outcome is the heaviest class, or all others
    std::vector<double> left(weights.size()), right(weights.size());
    return chance.of_share(std::min(share, rest), [&](const ChanceSide& side) {
        const double part = side.size / chance.total();
        const double excess = sign * side.excess * chance.row_weight() / unit;
        for (std::size_t k = 0; k < weights.size(); ++k) {
            const double more = k == heaviest ? excess : -excess * weights[k] / (total * rest);
            left[k] = std::clamp(part * weights[k] + more, 0.0, weights[k]);
            right[k] = weights[k] - left[k];
        }
        return score(left, right);
    });
}

}  // namespace treewright
