// What a node draws of a column where cuts are random: the same in every grower, whatever order it keeps.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "data/problem.hpp"

namespace treewright {

/// Whether the rows whose value is missing go left.
inline bool draws_missing_left(std::uint64_t key, std::size_t column) {
    return Random{key ^ (0x51ULL + column)}.next() >> 63;
}
inline Random threshold_stream(std::uint64_t key, std::size_t column) {
    return {key ^ (0xc3ULL + (static_cast<std::uint64_t>(column) << 20))};
}
inline Random subset_stream(std::uint64_t key, std::size_t column) {
    return {key ^ (0x77ULL + (static_cast<std::uint64_t>(column) << 20))};
}

/// The smallest and the largest of some values.
struct Range {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

    void take(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool is_empty() const { return low > high; }
    double at(double share) const { return low * (1 - share) + high * share; }
};

/// A number drawn evenly between the smallest and the largest of some values; where one of these is infinite,
/// among the finite ones. `finite` finds their range.
template <class Finite>
double drawn_number(Random random, const Range& all, Finite finite) {
    const double share = random.uniform();
    if (const double drawn = all.at(share); std::isfinite(drawn)) return drawn;
    const Range range = finite();
    return range.is_empty() ? all.low : range.at(share);
}

/// A cut below a number drawn evenly between the smallest and the largest of n ascending values, which
/// differ: how many of them lie left.
template <class Value>
std::size_t drawn_cut(Random random, std::size_t n, Value value) {
    const double drawn = drawn_number(random, {value(0), value(n - 1)}, [&] {
        Range range;
        for (std::size_t i = 0; i < n; ++i)
            if (std::isfinite(value(i))) range.take(value(i));
        return range;
    });
    const auto places = std::views::iota(std::size_t{0}, n);
    std::size_t cut = static_cast<std::size_t>(
        std::ranges::partition_point(places, [&](std::size_t i) { return value(i) <= drawn; }) -
        places.begin());
    cut = std::clamp<std::size_t>(cut, 1, n - 1);
    while (cut > 1 && value(cut - 1) == value(cut)) --cut;  // the largest value was drawn
    while (cut < n && value(cut - 1) == value(cut)) ++cut;
    return cut;
}

}  // namespace treewright
