// The best subset of a column's categories to send left.
//
// Where a group is one number (two classes, or one regression target), the best subset is a prefix of the
// groups in the order of that number (Fisher; Breiman et al. 1984): exact at any number of categories, as
// long as limits on leaves do not refuse it. Otherwise every subset is tried up to `exact_groups` categories.
// Above that the groups are ordered along their first principal component (Coppersmith, Hong and Hosking
// 1999) and by the share of each of the largest classes, every prefix is tried, and the best one is improved
// by moving single categories.
//
// The gain of the best subset of many categories is partly chance: where the limits ask for it, what chance
// gives (see chance.hpp) is taken off before the column competes with others. The subset itself stays the
// best one.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "chance.hpp"
#include "problem.hpp"
#include "scanning.hpp"
#include "splitting.hpp"

namespace treewright {

constexpr std::size_t exact_groups = 10;
constexpr std::size_t share_orders = 32;

/// The categories present in a node: their statistics one after the other, the rows behind them, and the
/// statistic of the rows whose category is missing.
struct Groups {
    std::size_t n = 0;
    std::vector<Sum> statistics;
    std::vector<std::size_t> counts;
    std::vector<Sum> missing;
    std::size_t n_missing = 0;
};

struct Subset {
    std::vector<char> is_left;  // by group
    bool missing_left = false;
    double weight_left = 0;
};

/// Corrects the best subset of a column for chance; false where the column then has none. A subset that is no
/// better than chance is a last resort, for nodes that no other column divides: what two columns tell only
/// together, chance alone lets one begin with. Of several, the one of which chance makes least.
inline bool less_chance(Best& best, const Chance& chance, double by_chance) {
    const bool is_worth_it = best.score > worth_over_chance * by_chance;
    if (!is_worth_it && !chance.repeats()) return false;
    best.set(is_worth_it ? best.score - by_chance : -by_chance);
    return true;
}

/// The rank of a subset of this score among splits: below 0 if it is a last resort.
inline double rank_of(const Limits& limits, double score) {
    return limits.correction == Correction::none ? 0.0 : std::min(0.0, score);
}

template <class Scorer>
class SubsetSearch {
  public:
    /// What does not score more than `standing` is of no interest.
    SubsetSearch(Scorer& scorer, const Limits& limits, const Groups& groups, std::size_t n_rows, double noise,
                 double standing = unreachable)
        : scorer_(scorer),
          limits_(limits),
          groups_(groups),
          n_rows_(n_rows),
          standing_(standing),
          best_{.noise = noise},
          width_(scorer.width()),
          left_(width_, 0),
          tried_(width_),
          is_left_(groups.n, 0) {}

    /// Whether there is a subset that is of interest; it is then in `found`, and what it scores in `score()`.
    /// Which one it is does not depend on what stands.
    bool run() {
        if (groups_.n_missing > 0) {
            for (std::size_t g = 0; g < groups_.n; ++g) toggle(g);
            attempt(false);
            clear();
        }
        const bool few = groups_.n <= exact_groups;
        if (scorer_.dimensions() == 1 && !(few && may_be_refused())) {
            const auto line = points(1);
            try_prefixes(order_by([&](std::size_t g) { return line[g]; }));
        } else if (few) {
            try_all();
        } else {
            try_orders();
            improve();
        }
        return beats_chance() && orient();
    }
    /// One random subset, for randomised trees. It was not chosen, so chance gives it nothing.
    bool run_random(Random& random) {
        for (std::size_t g = 0; g < groups_.n; ++g)
            if (random.next() >> 63) toggle(g);
        if (n_left_groups_ == 0 || n_left_groups_ == groups_.n) toggle(random.below(groups_.n));
        attempt(random.next() >> 63);
        return best_.score > standing_ && orient();
    }

    double score() const { return best_.score; }

    Subset found;

  private:
    /// Whether the best subset, less what chance gives, scores more than what stands.
    bool beats_chance() {
        const auto correction = limits_.correction;
        if (!(best_.score > standing_)) return false;  // and chance only takes from it
        if (correction == Correction::none || groups_.n + (groups_.n_missing > 0) <= 2) return true;
        Chance chance(correction, scorer_.weight(), n_rows_);
        for (std::size_t g = 0; g < groups_.n; ++g)
            chance.add(scorer_.weight_of(statistic(g)), groups_.counts[g]);
        if (groups_.n_missing > 0) chance.add(scorer_.weight_of(groups_.missing.data()), groups_.n_missing);
        chance.finish();
        return less_chance(best_, chance, scorer_.chance_score(chance)) && best_.score > standing_;
    }
    /// Whether limits or the criterion may refuse the best prefix, so that the best legal subset is none.
    bool may_be_refused() const {
        if constexpr (requires { scorer_.refuses(); })
            if (scorer_.refuses()) return true;
        return Scorer::may_refuse || limits_.min_rows_leaf > 1 || limits_.min_weight_leaf > 0;
    }

    /// Of a subset and its mirror image, the one that sends the group of the lowest number left; where groups
    /// are not numbers, the first category.
    bool orient() {
        std::size_t first = 0;
        if (scorer_.dimensions() == 1) {
            const auto line = points(1);
            first = static_cast<std::size_t>(std::min_element(line.begin(), line.end()) - line.begin());
        }
        if (found.is_left[first]) return true;
        for (auto& left : found.is_left) left = !left;
        found.missing_left = !found.missing_left;
        found.weight_left = scorer_.weight() - found.weight_left;
        return true;
    }

    const Sum* statistic(std::size_t g) const { return groups_.statistics.data() + g * width_; }

    void toggle(std::size_t g) {
        const Sum sign = is_left_[g] ? -1 : 1;
        for (std::size_t i = 0; i < width_; ++i) left_[i] += sign * statistic(g)[i];
        n_left_ = is_left_[g] ? n_left_ - groups_.counts[g] : n_left_ + groups_.counts[g];
        n_left_groups_ = is_left_[g] ? n_left_groups_ - 1 : n_left_groups_ + 1;
        is_left_[g] = !is_left_[g];
    }
    void clear() {
        std::fill(left_.begin(), left_.end(), 0);
        std::fill(is_left_.begin(), is_left_.end(), 0);
        n_left_ = n_left_groups_ = 0;
    }
    void attempt(bool missing_left) {
        const auto n_left = static_cast<std::int64_t>(n_left_ + (missing_left ? groups_.n_missing : 0));
        if (n_left < limits_.min_rows_leaf ||
            static_cast<std::int64_t>(n_rows_) - n_left < limits_.min_rows_leaf)
            return;
        tried_ = left_;
        if (missing_left)
            for (std::size_t i = 0; i < width_; ++i) tried_[i] += groups_.missing[i];
        const double score = scorer_.score_of(tried_.data());
        if (!best_.beaten_by(score)) return;
        const double weight = scorer_.weight_of(tried_.data());
        if (std::min(weight, scorer_.weight() - weight) < limits_.min_weight_leaf) return;
        if constexpr (requires { scorer_.allows(tried_.data()); })
            if (!scorer_.allows(tried_.data())) return;
        best_.set(score);
        found = {is_left_, missing_left, weight};
    }
    void attempt_both_sides() {
        if (groups_.n_missing > 0) attempt(true);
        attempt(false);
    }
    std::vector<double> points(std::size_t dimensions) const {
        std::vector<double> out(groups_.n * dimensions);
        for (std::size_t g = 0; g < groups_.n; ++g) scorer_.point(statistic(g), out.data() + g * dimensions);
        return out;
    }
    template <class Key>
    std::vector<std::size_t> order_by(Key key) const {
        std::vector<double> keys(groups_.n);
        for (std::size_t g = 0; g < groups_.n; ++g) keys[g] = key(g);
        std::vector<std::size_t> order(groups_.n);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
        return order;
    }
    void try_prefixes(const std::vector<std::size_t>& order) {
        clear();
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            toggle(order[i]);
            attempt_both_sides();
        }
    }
    /// Every subset with the first group, each one change away from the one before (Gray code).
    void try_all() {
        clear();
        toggle(0);
        const std::size_t n_subsets = std::size_t{1} << (groups_.n - 1);
        for (std::size_t step = 1;; ++step) {
            if (n_left_groups_ < groups_.n) attempt_both_sides();
            if (step == n_subsets) break;
            toggle(1 + static_cast<std::size_t>(std::countr_zero(step)));
        }
    }
    void try_orders() {
        const std::size_t dimensions = scorer_.dimensions();
        const auto cloud = points(dimensions);
        const auto axis = principal_axis(cloud, dimensions);
        try_prefixes(order_by([&](std::size_t g) {
            return std::inner_product(axis.begin(), axis.end(),
                                      cloud.begin() + static_cast<std::ptrdiff_t>(g * dimensions), 0.0);
        }));
        std::vector<std::pair<double, std::size_t>> shares(dimensions);
        for (std::size_t k = 0; k < dimensions; ++k) {
            shares[k] = {0.0, k};
            for (std::size_t g = 0; g < groups_.n; ++g)
                shares[k].first -= cloud[g * dimensions + k] * scorer_.weight_of(statistic(g));
        }
        std::sort(shares.begin(), shares.end());
        for (std::size_t i = 0; i < std::min(dimensions, share_orders); ++i)
            try_prefixes(order_by([&](std::size_t g) { return cloud[g * dimensions + shares[i].second]; }));
    }
    /// The direction in which the groups differ most, by power iteration.
    std::vector<double> principal_axis(const std::vector<double>& cloud, std::size_t dimensions) const {
        std::vector<double> mean(dimensions, 0.0), weight(groups_.n), axis(dimensions, 0.0);
        double total = 0, longest = -1;
        for (std::size_t g = 0; g < groups_.n; ++g) {
            weight[g] = scorer_.weight_of(statistic(g));
            total += weight[g];
            for (std::size_t k = 0; k < dimensions; ++k) mean[k] += weight[g] * cloud[g * dimensions + k];
        }
        for (auto& m : mean) m /= total;
        const auto centred = [&](std::size_t g, std::size_t k) {
            return cloud[g * dimensions + k] - mean[k];
        };
        for (std::size_t g = 0; g < groups_.n; ++g) {
            double length = 0;
            for (std::size_t k = 0; k < dimensions; ++k) length += centred(g, k) * centred(g, k);
            if (weight[g] * length <= longest) continue;
            longest = weight[g] * length;
            for (std::size_t k = 0; k < dimensions; ++k) axis[k] = centred(g, k);
        }
        constexpr int iterations = 20;
        for (int i = 0; i < iterations; ++i) {
            std::vector<double> next(dimensions, 0.0);
            double norm = 0;
            for (std::size_t g = 0; g < groups_.n; ++g) {
                double along = 0;
                for (std::size_t k = 0; k < dimensions; ++k) along += axis[k] * centred(g, k);
                for (std::size_t k = 0; k < dimensions; ++k) next[k] += weight[g] * along * centred(g, k);
            }
            for (const double x : next) norm += x * x;
            if (!(norm > 0)) break;
            for (std::size_t k = 0; k < dimensions; ++k) axis[k] = next[k] / std::sqrt(norm);
        }
        return axis;
    }
    void improve() {
        constexpr int passes = 10;
        for (int pass = 0; best_.is_set() && pass < passes; ++pass) {
            const double before = best_.score;
            clear();
            for (std::size_t g = 0; g < groups_.n; ++g)
                if (found.is_left[g]) toggle(g);
            for (std::size_t g = 0; g < groups_.n; ++g) {
                const double standing = best_.score;
                toggle(g);
                if (n_left_groups_ > 0 && n_left_groups_ < groups_.n) attempt_both_sides();
                if (best_.score == standing) toggle(g);
            }
            if (best_.score == before) break;
        }
    }

    Scorer& scorer_;
    const Limits& limits_;
    const Groups& groups_;
    std::size_t n_rows_;
    double standing_;
    Best best_;
    std::size_t width_;
    std::vector<Sum> left_, tried_;
    std::vector<char> is_left_;
    std::size_t n_left_ = 0, n_left_groups_ = 0;
};

}  // namespace treewright
