// Loops over the values of a node in one column, several at a time. NaN is a missing value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "support/simd.hpp"

namespace treewright {

/// Two numbers between which values lie, or which lie on both sides of a cut.
template <class Number>
struct Bounds {
    static constexpr Number infinity = std::numeric_limits<Number>::infinity();

    Number low = infinity, high = -infinity;
};

/// Calls take(vector) with four floats or two doubles at a time, the last ones filled up with `filler`.
template <class Number, class Take>
void for_each_vector(std::span<const Number> values, Number filler, Take take) {
    constexpr std::size_t lanes = 16 / sizeof(Number);
    using Vector = SimdVector<Number, lanes>;
    Vector some{};
    std::size_t i = 0;
    for (; i + lanes <= values.size(); i += lanes) {
        std::memcpy(&some, values.data() + i, sizeof(some));
        take(some);
    }
    if (i == values.size()) return;
    for (std::size_t k = 0; k < lanes; ++k) some[k] = i + k < values.size() ? values[i + k] : filler;
    take(some);
}

template <class Number>
SimdVector<Number, 16 / sizeof(Number)> in_all_lanes(Number x) {
    SimdVector<Number, 16 / sizeof(Number)> all{};
    for (std::size_t k = 0; k < 16 / sizeof(Number); ++k) all[k] = x;
    return all;
}

/// What vectors have found so far, lane by lane: the smallest and the largest.
template <class Number>
struct VectorBounds {
    static constexpr std::size_t lanes = 16 / sizeof(Number);
    using Vector = SimdVector<Number, lanes>;

    Vector low = in_all_lanes(Bounds<Number>::infinity), high = in_all_lanes(-Bounds<Number>::infinity);

    /// NaN is neither smaller nor larger.
    void take_low(const Vector& values) { low = smaller(values, low); }
    void take_high(const Vector& values) { high = larger(values, high); }
    Bounds<Number> of_all() const {
        Bounds<Number> bounds;
        for (std::size_t k = 0; k < lanes; ++k) {
            bounds.low = std::min(bounds.low, low[k]);
            bounds.high = std::max(bounds.high, high[k]);
        }
        return bounds;
    }
};

/// The smallest and the largest of the known values; low > high if there is none.
template <class Number>
Bounds<Number> extremes(std::span<const Number> values) {
    VectorBounds<Number> found;
    for_each_vector(values, std::numeric_limits<Number>::quiet_NaN(), [&](const auto& some) {
        found.take_low(some);
        found.take_high(some);
    });
    return found.of_all();
}

/// The largest value that is at most `cut`, and the smallest one above it.
template <class Number>
Bounds<Number> neighbours(std::span<const Number> values, Number cut) {
    constexpr Number infinity = Bounds<Number>::infinity;
    VectorBounds<Number> found;
    const auto bound = in_all_lanes(cut), most = in_all_lanes(infinity), least = in_all_lanes(-infinity);
    for_each_vector(values, std::numeric_limits<Number>::quiet_NaN(), [&](const auto& some) {
        found.take_high(where_at_most(some, bound, some, least));
        found.take_low(where_at_most(some, bound, most, some));
    });
    const auto [above, below] = found.of_all();
    return {below, above};
}

template <class Number>
std::size_t count_missing(std::span<const Number> values) {
    std::uint32_t n = 0;  // as wide as a float, so that compilers count in all lanes
    for (const Number v : values) n += std::isnan(v);
    return n;
}

/// How many rows go left.
template <class Number>
std::size_t count_left(std::span<const Number> values, Number cut, bool missing_left) {
    std::uint32_t n = 0;
    if (missing_left)
        for (const Number v : values) n += !(v > cut);
    else
        for (const Number v : values) n += v <= cut;
    return n;
}

/// Notes for each row whether it goes left.
template <class Number>
void note_sides(std::span<const Number> values, Number cut, bool missing_left, std::uint8_t* goes_left) {
    if (missing_left)
        for (std::size_t i = 0; i < values.size(); ++i) goes_left[i] = !(values[i] > cut);
    else
        for (std::size_t i = 0; i < values.size(); ++i) goes_left[i] = values[i] <= cut;
}

}  // namespace treewright
