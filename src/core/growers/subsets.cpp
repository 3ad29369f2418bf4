// The best subset of a column's categories to send left.
#include "growers/subsets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace treewright {

namespace {

/// Of so many of the largest classes the shares order the groups.
constexpr std::size_t share_orders = 32;

}  // namespace

SubsetSearch::SubsetSearch(GroupScorer& scorer, const Limits& limits, const Groups& groups,
                           std::size_t n_rows, double noise, double standing)
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

bool SubsetSearch::run() {
    if (groups_.n_missing > 0) {
        for (std::size_t g = 0; g < groups_.n; ++g) toggle(g);
        attempt(false);
        clear();
    }
    const bool few = groups_.n <= exact_groups;
    if (scorer_.dimensions() == 1 && !(few && may_be_refused())) {
        try_prefixes(order_by(points(1)));
    } else if (few) {
        try_all();
    } else {
        try_orders();
        improve();
    }
    return beats_chance() && orient();
}

bool SubsetSearch::run_random(Random& random) {
    for (std::size_t g = 0; g < groups_.n; ++g)
        if (random.next() >> 63) toggle(g);
    if (n_left_groups_ == 0 || n_left_groups_ == groups_.n) toggle(random.below(groups_.n));
    attempt(random.next() >> 63);
    return best_.score > standing_ && orient();
}

/// Whether the best subset, less what chance gives, scores more than what stands.
bool SubsetSearch::beats_chance() {
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
bool SubsetSearch::may_be_refused() const {
    return scorer_.may_refuse() || limits_.min_rows_leaf > 1 || limits_.min_weight_leaf > 0;
}

/// Of a subset and its mirror image, the one that sends the group of the lowest number left; where groups
/// are not numbers, the first category.
bool SubsetSearch::orient() {
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

void SubsetSearch::toggle(std::size_t g) {
    const Sum sign = is_left_[g] ? -1 : 1;
    for (std::size_t i = 0; i < width_; ++i) left_[i] += sign * statistic(g)[i];
    n_left_ = is_left_[g] ? n_left_ - groups_.counts[g] : n_left_ + groups_.counts[g];
    n_left_groups_ = is_left_[g] ? n_left_groups_ - 1 : n_left_groups_ + 1;
    is_left_[g] = !is_left_[g];
}

void SubsetSearch::clear() {
    std::fill(left_.begin(), left_.end(), 0);
    std::fill(is_left_.begin(), is_left_.end(), 0);
    n_left_ = n_left_groups_ = 0;
}

void SubsetSearch::attempt(bool missing_left) {
    const auto n_left = static_cast<std::int64_t>(n_left_ + (missing_left ? groups_.n_missing : 0));
    if (n_left < limits_.min_rows_leaf || static_cast<std::int64_t>(n_rows_) - n_left < limits_.min_rows_leaf)
        return;
    tried_ = left_;
    if (missing_left)
        for (std::size_t i = 0; i < width_; ++i) tried_[i] += groups_.missing[i];
    const double score = scorer_.score_of(tried_.data());
    if (!best_.beaten_by(score)) return;
    const double weight = scorer_.weight_of(tried_.data());
    if (std::min(weight, scorer_.weight() - weight) < limits_.min_weight_leaf) return;
    if (!scorer_.allows(tried_.data())) return;
    best_.set(score);
    found = {is_left_, missing_left, weight};
}

void SubsetSearch::attempt_both_sides() {
    if (groups_.n_missing > 0) attempt(true);
    attempt(false);
}

std::vector<double> SubsetSearch::points(std::size_t dimensions) const {
    std::vector<double> out(groups_.n * dimensions);
    for (std::size_t g = 0; g < groups_.n; ++g) scorer_.point(statistic(g), out.data() + g * dimensions);
    return out;
}

/// The groups in the order of their keys, the first ones first among equals.
std::vector<std::size_t> SubsetSearch::order_by(const std::vector<double>& keys) const {
    std::vector<std::size_t> order(groups_.n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
    return order;
}

void SubsetSearch::try_prefixes(const std::vector<std::size_t>& order) {
    clear();
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        toggle(order[i]);
        attempt_both_sides();
    }
}

/// Every subset with the first group, each one change away from the one before (Gray code).
void SubsetSearch::try_all() {
    clear();
    toggle(0);
    const std::size_t n_subsets = std::size_t{1} << (groups_.n - 1);
    for (std::size_t step = 1;; ++step) {
        if (n_left_groups_ < groups_.n) attempt_both_sides();
        if (step == n_subsets) break;
        toggle(1 + static_cast<std::size_t>(std::countr_zero(step)));
    }
}

void SubsetSearch::try_orders() {
    const std::size_t dimensions = scorer_.dimensions();
    const auto cloud = points(dimensions);
    const auto axis = principal_axis(cloud, dimensions);
    std::vector<double> keys(groups_.n);
    for (std::size_t g = 0; g < groups_.n; ++g)
        keys[g] = std::inner_product(axis.begin(), axis.end(),
                                     cloud.begin() + static_cast<std::ptrdiff_t>(g * dimensions), 0.0);
    try_prefixes(order_by(keys));
    std::vector<std::pair<double, std::size_t>> shares(dimensions);
    for (std::size_t k = 0; k < dimensions; ++k) {
        shares[k] = {0.0, k};
        for (std::size_t g = 0; g < groups_.n; ++g)
            shares[k].first -= cloud[g * dimensions + k] * scorer_.weight_of(statistic(g));
    }
    std::sort(shares.begin(), shares.end());
    for (std::size_t i = 0; i < std::min(dimensions, share_orders); ++i) {
        for (std::size_t g = 0; g < groups_.n; ++g) keys[g] = cloud[g * dimensions + shares[i].second];
        try_prefixes(order_by(keys));
    }
}

/// The direction in which the groups differ most, by power iteration.
std::vector<double> SubsetSearch::principal_axis(const std::vector<double>& cloud,
                                                 std::size_t dimensions) const {
    std::vector<double> mean(dimensions, 0.0), weight(groups_.n), axis(dimensions, 0.0);
    double total = 0, longest = -1;
    for (std::size_t g = 0; g < groups_.n; ++g) {
        weight[g] = scorer_.weight_of(statistic(g));
        total += weight[g];
        for (std::size_t k = 0; k < dimensions; ++k) mean[k] += weight[g] * cloud[g * dimensions + k];
    }
    for (auto& m : mean) m /= total;
    const auto centred = [&](std::size_t g, std::size_t k) { return cloud[g * dimensions + k] - mean[k]; };
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

void SubsetSearch::improve() {
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

}  // namespace treewright
