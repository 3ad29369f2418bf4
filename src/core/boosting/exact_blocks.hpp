// Exact sums of many numbers of about the same size, by pairs.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "boosting/sums.hpp"
#include "support/exact_sum.hpp"

namespace treewright::boosting {

/// Adds at most 4,096 numbers.
///
/// Two whole numbers take what a number has of 2^-50 and of 2^-100 of the largest: nothing is left over but
/// of numbers that are far smaller, and then all go the long way.
inline void add_all(const double* numbers, std::size_t n, ExactSum& sum) {
    constexpr int bits = 50;
    Pair largest{};
    for (std::size_t i = 0; i + 1 < n; i += 2)
        largest = larger(magnitude(Pair{numbers[i], numbers[i + 1]}), largest);
    const double most = std::max({largest[0], largest[1], n % 2 == 1 ? std::abs(numbers[n - 1]) : 0.0});
    const bool is_ordinary = most > 0x1p-800 && most < 0x1p800;
    const double unit = is_ordinary ? Units::unit(most, bits) : 1.0, fine_unit = unit * 0x1p-50;
    const double shift = rounding_shift * unit, fine_shift = rounding_shift * fine_unit;
    UnsignedPair whole{}, fine{}, is_left{};
    for (std::size_t i = 0; is_ordinary && i < n; i += 2) {
        const Pair x{numbers[i], i + 1 < n ? numbers[i + 1] : 0.0};
        const Pair shifted = x + shift, rest = x - (shifted - shift), fine_shifted = rest + fine_shift;
        whole += std::bit_cast<UnsignedPair>(shifted);
        fine += std::bit_cast<UnsignedPair>(fine_shifted);
        is_left |= not_zero(rest - (fine_shifted - fine_shift));
    }
    if (!is_ordinary || (is_left[0] | is_left[1]) != 0) {
        for (std::size_t i = 0; i < n; ++i) sum.add(numbers[i]);
        return;
    }
    const auto add = [&](std::uint64_t shifted, double by, double of_unit) {
        const auto times = (n + 1) / 2 * 2;
        const auto units = static_cast<std::int64_t>(shifted - times * std::bit_cast<std::uint64_t>(by));
        const std::int64_t high = units >> 32;
        sum.add(static_cast<double>(high) * 0x1p32 * of_unit);
        sum.add(static_cast<double>(units - high * (std::int64_t{1} << 32)) * of_unit);
    };
    add(whole[0] + whole[1], shift, unit);
    add(fine[0] + fine[1], fine_shift, fine_unit);
}

}  // namespace treewright::boosting
