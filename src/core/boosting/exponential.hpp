// The exponential function and its inverse in a form that compilers turn into vector instructions.
#pragma once

#include <bit>
#include <cstdint>

namespace treewright::boosting {

/// exp(x) to about one unit in the last place, for −700 <= x <= 700; beyond, that of the nearest of these.
///
/// x = k·ln 2 + r with |r| <= ln 2 / 2; exp(r) by its series to r^13, whose rest is below 2^-57.
inline double exponential(double x) {
    constexpr double most = 700.0, round = 0x1.8p52, log2e = 0x1.71547652b82fep0;
    constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
    x = x < -most ? -most : x;
    x = x > most ? most : x;
    const double shifted = x * log2e + round;  // its last bits are k
    const double k = shifted - round;
    const double r = (x - k * ln2_high) - k * ln2_low;
    double sum = 1.0 / 6227020800;
    sum = sum * r + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    return sum * std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
}

/// log(1 + x) to about one unit in the last place, for 0 <= x <= 1.
///
/// log m = 2 artanh((m − 1) / (m + 1)) for m = 1 + x, or m = (1 + x) / 2 where x is above √2 − 1; |s| <
/// 0.172, and the rest of the series after s^21 is below 2^-58.
inline double logarithm_of_1_plus(double x) {
    constexpr double ln2 = 0x1.62e42fefa39efp-1, sqrt2_minus_1 = 0x1.a827999fcef32p-2;
    const bool is_large = x > sqrt2_minus_1;
    const double s = (is_large ? x - 1.0 : x) / (x + (is_large ? 3.0 : 2.0)), z = s * s;
    double sum = 1.0 / 21;
    sum = sum * z + 1.0 / 19;
    sum = sum * z + 1.0 / 17;
    sum = sum * z + 1.0 / 15;
    sum = sum * z + 1.0 / 13;
    sum = sum * z + 1.0 / 11;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + 1.0 / 3;
    return (is_large ? ln2 : 0.0) + (2 * s + 2 * s * z * sum);
}

}  // namespace treewright::boosting
