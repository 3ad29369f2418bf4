// The exponential function in a form that compilers turn into vector instructions.
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

}  // namespace treewright::boosting
