// Logarithms, exponentials, powers and the error function with the same bits everywhere.
//
// C libraries differ in the last bits of these, by version and by processor, and a last bit decides between
// two splits of nearly equal gain. Here they are made of additions and multiplications alone, which IEEE 754
// fixes. Results are within 1 unit in the last place (erfc: 4); `make test` checks that against a wider
// arithmetic.
//
// log: x = 2^k·z with z near 1; a table has, for each of 128 ranges of z, a factor c of eight digits near 1/z
// and ln(1/c). Then r = z·c − 1 is exact and small, and ln x = k·ln 2 + ln(1/c) + ln(1 + r) (Tang 1990). What
// is added first is kept in two doubles, high and low, so that the sum is rounded once.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "support/double_double.hpp"

namespace treewright::elementary {

namespace tables {

constexpr std::size_t n_ranges = 128;
constexpr int range_bits = 7;
/// The bits of the least z: 1.0 is in the middle of its range, where c is 1 and nothing is added to ln(1 +
/// r).
constexpr std::uint64_t least_z = 0x3ff0000000000000 - (74 * 2 + 1) * (std::uint64_t{1} << 44);

struct LogEntry {
    double factor;
    DoubleDouble log;  // of 1/factor; the high part is a multiple of 2^-42
};
extern const std::array<LogEntry, n_ranges> natural, binary;
/// 2^(i/128).
extern const std::array<DoubleDouble, n_ranges> powers;

}  // namespace tables

inline constexpr DoubleDouble ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr DoubleDouble log2e{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

/// The number without its last 27 binary digits: products of two such are exact.
inline double first_half(double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~((std::uint64_t{1} << 27) - 1));
}

/// Whether x is positive, finite and not so small that it has fewer digits.
inline bool is_ordinary(double x) {
    constexpr std::uint64_t least = 0x0010000000000000, infinity = 0x7ff0000000000000;
    return std::bit_cast<std::uint64_t>(x) - least < infinity - least;
}

/// x = 2^exponent·(1 + rest)/factor.
struct Reduced {
    double exponent, rest;
    std::size_t range;

    Reduced(double x, const std::array<tables::LogEntry, tables::n_ranges>& table) {
        const auto bits = std::bit_cast<std::uint64_t>(x), above = bits - tables::least_z;
        range = above >> (52 - tables::range_bits) & (tables::n_ranges - 1);
        exponent = static_cast<double>(static_cast<std::int64_t>(above) >> 52);
        const auto z = std::bit_cast<double>(bits - (above & ~((std::uint64_t{1} << 52) - 1)));
        const double factor = table[range].factor, first = first_half(z);
        rest = (first * factor - 1) + (z - first) * factor;
    }
};

/// ln(1 + r) − r for |r| < 2^-7, as r²·(−1/2 + r/3 − r²/4 …).
inline double log_rest(double r) {
    const double square = r * r;
    return square * ((-1.0 / 2 + r * (1.0 / 3)) +
                     square * ((-1.0 / 4 + r * (1.0 / 5)) + square * (-1.0 / 6 + r * (1.0 / 7))));
}

/// ln x of an ordinary x.
inline DoubleDouble log_parts(double x) {
    constexpr double ln2_high = 0x1.62e42fefa38p-1,
                     ln2_low = 0x1.ef35793c7673p-45;  // the first one of 42 digits
    const Reduced reduced(x, tables::natural);
    const DoubleDouble& log = tables::natural[reduced.range].log;
    const double sum = reduced.exponent * ln2_high + log.high, high = sum + reduced.rest;
    return {high,
            ((sum - high) + reduced.rest) + (reduced.exponent * ln2_low + log.low + log_rest(reduced.rest))};
}

/// log2 x of an ordinary x.
inline DoubleDouble log2_parts(double x) {
    constexpr double log2e_high = 0x1.715476p+0, log2e_low = 0x1.4ae0bf85ddf44p-26;
    const Reduced reduced(x, tables::binary);
    const DoubleDouble& log = tables::binary[reduced.range].log;
    const double first = first_half(reduced.rest);
    const double product = first * log2e_high;  // exact
    const double rest = (reduced.rest - first) * log2e_high + reduced.rest * log2e_low;
    const double sum = reduced.exponent + log.high, high = sum + product;
    return {high, ((sum - high) + product) + (rest + log.low + log2e.high * log_rest(reduced.rest))};
}

/// Logarithms of all other numbers: zero, tiny ones, infinity, negative ones and what is not a number.
double log_of_other(double x);
double log2_of_other(double x);

inline double log(double x) {
    if (!is_ordinary(x)) return log_of_other(x);
    const DoubleDouble parts = log_parts(x);
    return parts.high + parts.low;
}

inline double log2(double x) {
    if (!is_ordinary(x)) return log2_of_other(x);
    const DoubleDouble parts = log2_parts(x);
    return parts.high + parts.low;
}

/// ln(1 + x): what 1 + x loses of x is added to the logarithm.
inline double log1p(double x) {
    const double sum = 1 + x;
    if (!is_ordinary(sum)) return log_of_other(sum);
    const double larger = x < 1 ? 1 : x, smaller = x < 1 ? x : 1;
    const double lost = smaller - (sum - larger);
    const DoubleDouble parts = log_parts(sum);
    return parts.high + (parts.low + lost / sum);
}

double log10(double x);
double exp(double x);
/// x^p of x >= 0.
double pow(double x, double p);
double erfc(double x);

}  // namespace treewright::elementary
