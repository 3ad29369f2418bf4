// Loops over the values of a node: several at a time finds what one by one does.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "growers/value_loops.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

template <class Number>
void compare(const std::vector<Number>& values, Number cut) {
    constexpr Number infinity = std::numeric_limits<Number>::infinity();
    Bounds<Number> all, beside{-infinity, infinity};
    std::size_t n_missing = 0, n_left = 0;
    for (const Number v : values) {
        n_missing += std::isnan(v);
        n_left += v <= cut;
        if (std::isnan(v)) continue;
        all = {std::min(all.low, v), std::max(all.high, v)};
        if (v <= cut)
            beside.low = std::max(beside.low, v);
        else
            beside.high = std::min(beside.high, v);
    }
    const std::span<const Number> some(values);
    CHECK_EQUAL(extremes(some).low, all.low);
    CHECK_EQUAL(extremes(some).high, all.high);
    CHECK_EQUAL(neighbours(some, cut).low, beside.low);
    CHECK_EQUAL(neighbours(some, cut).high, beside.high);
    CHECK_EQUAL(count_missing(some), n_missing);
    CHECK_EQUAL(count_left(some, cut, false), n_left);
    CHECK_EQUAL(count_left(some, cut, true), n_left + n_missing);
    std::vector<std::uint8_t> sides(values.size());
    for (const bool missing_left : {false, true}) {
        note_sides(some, cut, missing_left, sides.data());
        for (std::size_t i = 0; i < values.size(); ++i)
            CHECK_EQUAL(sides[i] != 0, values[i] <= cut || (missing_left && std::isnan(values[i])));
    }
}

}  // namespace

TEST("value loops: extremes, neighbours of a cut and sides, NaN and infinities included") {
    for (std::size_t n = 0; n < 40; ++n)
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            const auto values = tables::mixed_numbers(n, seed);
            const std::vector<float> floats(values.begin(), values.end());
            for (const double cut : {-1.0, 0.0, 0.5, std::numeric_limits<double>::infinity()}) {
                compare(values, cut);
                compare(floats, static_cast<float>(cut));
            }
        }
}
