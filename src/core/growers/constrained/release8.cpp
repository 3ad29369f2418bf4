// What C4.5, Release 8, does in its own way.
#include "growers/constrained/release8.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "support/elementary.hpp"

namespace treewright::constrained {

namespace {

/// Whether a column has so many categories that its gain tells little.
bool has_many(const Problem& problem, const Column& column) {
    constexpr double many = 0.3;  // for each row of the table
    return column.n_categories >= many * static_cast<double>(problem.n_rows);
}

}  // namespace

Release8::Release8(const Problem& problem)
    : problem_(problem), all_have_many_(std::ranges::all_of(problem.columns, [&](const Column& column) {
          return has_many(problem, column);
      })) {}

std::int32_t Release8::choose(const std::vector<Cut>& cuts, double weight) const {
    constexpr double rounding = 1e-3;
    double sum = 0;
    int n = 0;
    for (const auto& cut : cuts)
        if (all_have_many_ || !has_many(problem_, problem_.columns[cut.split.column])) {
            sum += cut.score / weight;
            ++n;
        }
    const double average = n > 0 ? sum / n : std::numeric_limits<double>::infinity();
    Best best;
    std::int32_t winner = -1;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        auto weights = cuts[i].weights;
        const double missing = weight - std::accumulate(weights.begin(), weights.end(), 0.0);
        weights.push_back(missing > weight * share_rounding ? missing : 0.0);
        const double gain = cuts[i].score / weight, split = split_information(weights) / weight;
        if (gain < average - rounding || split <= rounding || !best.beaten_by(gain / split)) continue;
        best.set(gain / split);
        winner = static_cast<std::int32_t>(i);
    }
    return winner;
}

std::size_t Release8::count_cuts(const Ranks& ranks, std::span<const Id> known,
                                 std::span<const double> n_left, std::vector<char>& counts) const {
    constexpr double share = 0.1, most = 25, least_difference = 1e-5;
    const auto least = static_cast<double>(problem_.limits.min_rows_leaf);
    const double n_known = n_left[known.size()];
    double min_side = share * n_known / problem_.targets.n_classes[0];
    min_side = min_side <= least ? least : std::min(min_side, most);
    const double max_side = n_known < 2 * least ? -1 : n_known - min_side;
    std::size_t n_cuts = 0;
    counts.assign(known.size() + 1, 0);
    for (std::size_t i = 1; i < known.size(); ++i) {
        const Id below = ranks.of_id[known[i - 1]], above = ranks.of_id[known[i]];
        counts[i] = below != above && n_left[i] >= min_side - share_rounding &&
                    n_left[i] <= max_side + share_rounding &&
                    ranks.values[below] < ranks.values[above] - least_difference;
        n_cuts += counts[i] != 0;
    }
    return n_cuts;
}

bool Release8::charge(Cut& cut, std::size_t n_cuts, double n_rows, double weight) const {
    const double toll = n_cuts == 0 ? 0.0 : elementary::log2(static_cast<double>(n_cuts)) / n_rows * weight;
    cut.split.gain -= toll;
    return cut.split.gain > cut.noise;
}

void Release8::choose_threshold(Split& split, const Ranks& ranks, Id below, Id above) const {
    // The middle may be infinite, or round to the upper value, which stays on its side.
    const double middle = split.low / 2 + split.high / 2;
    const auto first = ranks.values.begin();
    split.low = split.high = *(std::upper_bound(first + below + 1, first + above, middle) - 1);
}

}  // namespace treewright::constrained
