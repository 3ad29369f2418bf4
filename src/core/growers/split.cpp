// The order of places in a list, and C4.5's gain ratio rule.
#include "growers/split.hpp"

#include <algorithm>

#include "support/elementary.hpp"

namespace treewright {

void merge_sides(Records<ListPlace>& places, Records<ListPlace>& others, double noise, double standing) {
    if (!others.found()) return;
    std::vector<std::pair<double, ListPlace>> all;
    const auto take = [&](double score, const ListPlace& place) { all.emplace_back(score, place); };
    places.for_each(take);
    others.for_each(take);
    std::ranges::sort(all, {}, [](const auto& entry) {
        return std::pair(entry.second.n_first, !entry.second.missing_left);
    });
    places.clear(noise, standing);
    for (const auto& [score, place] : all)
        if (score > places.largest()) places.add(score, ListPlace(place));
}

std::int32_t ratio_winner(const std::vector<RatioEntry>& entries, double noise) {
    if (entries.empty()) return -1;
    double sum = 0;
    int positive = 0;
    for (const auto& entry : entries)
        if (entry.gain > noise) {
            sum += entry.gain;
            ++positive;
        }
    if (positive == 0) return 0;
    const double average = sum / positive;
    Records<std::int32_t> ratios;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& [gain, information] = entries[i];
        if (gain <= noise || gain < least_tie(average, noise)) continue;
        if (gain / information > ratios.largest())
            ratios.add(gain / information, static_cast<std::int32_t>(i));
    }
    return ratios.found() ? ratios.first() : -1;
}

double split_information(double left, double right) {
    const double total = left + right;
    return total * elementary::log2(total) - left * elementary::log2(left) - right * elementary::log2(right);
}

}  // namespace treewright
