// How deep a tree must be that answers like the forest in a box.
#include "born_again/depths.hpp"

#include <algorithm>
#include <numeric>

namespace treewright::born_again {

std::pair<std::uint32_t, std::uint32_t> halves(Regions& regions, Box& box, Split split, std::size_t level) {
    const std::size_t column = split.column;
    const std::int32_t low = box.low[column], high = box.high[column];
    box.high[column] = split.cut;
    const std::uint32_t left = regions.enter(box, level);
    box.high[column] = high;
    box.low[column] = split.cut + 1;
    const std::uint32_t right = regions.enter(box, level);
    box.low[column] = low;
    return {left, right};
}

std::int32_t Depths::least(Box& box, std::int32_t& known) {
    const std::uint32_t region = regions_.enter(box, 0);
    while (true) {
        known = std::max(known, regions_[region].least_depth);
        if (is_within(box, known, 0)) return known;
    }
}

bool Depths::is_within(Box& box, std::int32_t depth, std::size_t level) {
    const std::uint32_t region = regions_.enter(box, level);
    if (regions_[region].depth <= depth) return true;
    if (regions_[region].least_depth > depth) return false;
    while (places_.size() <= level) places_.emplace_back();
    Place& place = places_[level];
    const std::size_t n_columns = regions_.forest().n_columns();
    place.cuts.resize(n_columns);
    place.order.resize(n_columns);
    for (std::size_t column = 0; column < n_columns; ++column)
        cuts_of(regions_.forest(), regions_.view(level), column, place.cuts[column]);
    std::iota(place.order.begin(), place.order.end(), std::size_t{0});
    std::stable_sort(place.order.begin(), place.order.end(), [&](std::size_t a, std::size_t b) {
        return place.cuts[a].size() > place.cuts[b].size();
    });
    for (const std::size_t column : place.order) {
        Split split;
        if (place.cuts[column].empty()) break;
        if (!cut_within(box, column, place.cuts[column], depth, level, split)) continue;
        regions_[region].depth = depth;
        regions_[region].split = split;
        return true;
    }
    regions_[region].least_depth = depth + 1;
    return false;
}

/// Looks for a cut of a column with a tree of less than `depth` on both sides. The further left the cut, the
/// less depth its left side takes and the more its right side.
bool Depths::cut_within(Box& box, std::size_t column, std::span<const std::int32_t> cuts, std::int32_t depth,
                        std::size_t level, Split& split) {
    const std::int32_t low = box.low[column], high = box.high[column];
    std::size_t begin = 0, end = cuts.size();
    while (begin < end) {
        const std::size_t middle = (begin + end) / 2;
        box.high[column] = cuts[middle];
        const bool left = is_within(box, depth - 1, level + 1);
        box.high[column] = high;
        box.low[column] = cuts[middle] + 1;
        // Where both sides are too deep, so is one side of every other cut: its bound may tell for nothing.
        const bool right = left ? is_within(box, depth - 1, level + 1)
                                : regions_[regions_.enter(box, level + 1)].least_depth < depth;
        box.low[column] = low;
        if (left && right) {
            split = {static_cast<std::int32_t>(column), cuts[middle]};
            return true;
        }
        if (!left && !right) return false;
        if (left)
            begin = middle + 1;
        else
            end = middle;
    }
    return false;
}

}  // namespace treewright::born_again
