// What C4.5, Release 8, does in its own way with the cuts of a number.
#include "growers/constrained/release8.hpp"

#include <algorithm>

#include "support/elementary.hpp"

namespace treewright::constrained {

Release8Cuts::Release8Cuts(const Problem& problem, double n_known) {
    constexpr double share = 0.1, most = 25;
    const auto least = static_cast<double>(problem.limits.min_rows_leaf);
    min_side_ = share * n_known / problem.targets.n_classes[0];
    min_side_ = min_side_ <= least ? least : std::min(min_side_, most);
    max_side_ = n_known < 2 * least ? -1 : n_known - min_side_;
}

bool Release8Cuts::count(double n_left, double below, double above) const {
    constexpr double least_difference = 1e-5;
    return n_left >= min_side_ - share_rounding && n_left <= max_side_ + share_rounding &&
           below < above - least_difference;
}

double release8_toll(std::size_t n_cuts, double n_rows, double weight) {
    return n_cuts == 0 ? 0.0 : elementary::log2(static_cast<double>(n_cuts)) / n_rows * weight;
}

double release8_threshold(std::span<const double> values, std::uint32_t rank_below, std::uint32_t rank_above,
                          double low, double high) {
    // The middle may be infinite, or round to the upper value, which stays on its side.
    const double middle = low / 2 + high / 2;
    return *(std::upper_bound(values.begin() + rank_below + 1, values.begin() + rank_above, middle) - 1);
}

}  // namespace treewright::constrained
