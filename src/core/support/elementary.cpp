// Logarithms, exponentials, powers and the error function: the tables, and what is not called in inner loops.
#include "support/elementary.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace treewright::elementary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// --- tables ---

constexpr bool is_negligible(const DoubleDouble& term) {
    return term.high < 0x1p-120 && term.high > -0x1p-120;
}

/// ln x for x of few digits near 1: 2·(t + t³/3 + t⁵/5 + …) with t = (x − 1)/(x + 1).
constexpr DoubleDouble exact_log(double x) {
    const DoubleDouble t = DoubleDouble{x - 1, 0} / (x + 1), square = t * t;
    DoubleDouble power = t, sum = t;
    for (int n = 3; !is_negligible(power); n += 2) {
        power = power * square;
        sum = sum + power / n;
    }
    return {2 * sum.high, 2 * sum.low};
}

/// Of 1/z in the middle of each range, eight digits; nine next to 1, where ln(1/c) must not cancel ln(1 + r).
constexpr double factor_of(std::size_t range) {
    const std::uint64_t middle = tables::least_z + (2 * range + 1) * (std::uint64_t{1} << 44);
    const double inverse = 1 / std::bit_cast<double>(middle), unit = inverse > 1.03 ? 0x1p-7 : 0x1p-8;
    const int doubled = static_cast<int>(2 * inverse / unit), nearest = (doubled + 1) / 2;
    return nearest * unit;
}

/// The table of logarithms, those to base e times a number.
constexpr auto make_logs(const DoubleDouble& times) {
    std::array<tables::LogEntry, tables::n_ranges> all{};
    for (std::size_t range = 0; range < all.size(); ++range) {
        const double factor = factor_of(range);
        const DoubleDouble log = exact_log(factor) * times;
        constexpr double shift = 0x1.8p10;  // sums with it are multiples of 2^-42
        const double high = (-log.high + shift) - shift;
        all[range] = {factor, {high, (-log.high - high) - log.low}};
    }
    return all;
}

constexpr auto make_powers() {
    const DoubleDouble exponent = ln2 / static_cast<double>(tables::n_ranges);
    DoubleDouble step{1, 0}, term{1, 0};  // e^exponent by its series
    for (int n = 1; !is_negligible(term); ++n) {
        term = term * exponent / n;
        step = step + term;
    }
    std::array<DoubleDouble, tables::n_ranges> all{};
    all[0] = {1, 0};
    for (std::size_t i = 1; i < all.size(); ++i) all[i] = all[i - 1] * step;
    return all;
}

/// ln x of a positive x that is too small for `log_parts`.
DoubleDouble tiny_log_parts(double x) {
    constexpr int shift = 54;
    return log_parts(x * 0x1p54) + DoubleDouble{-shift, 0} * ln2;
}

// --- exponentials ---

/// e^(high + low), |low| being far below 1.
double exp_of(double high, double low) {
    constexpr double most = 746;  // beyond it there is nothing, or infinity
    if (high < -most) return 0;
    if (high > most) return infinity;
    constexpr double per_step = 0x1.71547652b82fep+7;  // 128/ln 2
    // ln 2/128, the first part of so few digits that products with the number of steps are exact.
    constexpr double step_high = 0x1.62e42fef8p-8, step_low = 0x1.1cf79abc9e3b4p-43;
    constexpr double round = 0x1.8p52;
    const double n = (high * per_step + round) - round;
    const double r = (high - n * step_high) - n * step_low + low;
    const auto steps = static_cast<std::int64_t>(n);
    const DoubleDouble& power = tables::powers[static_cast<std::size_t>(steps) % tables::n_ranges];
    const double series =
        r +
        r * r * ((1.0 / 2 + r * (1.0 / 6)) + r * r * ((1.0 / 24 + r * (1.0 / 120)) + r * r * (1.0 / 720)));
    const double value = power.high + (power.low + power.high * series);
    // Powers of two in two factors: each of them has an ordinary exponent, and only the second one rounds.
    const auto exponent = static_cast<int>(steps >> tables::range_bits), first = exponent / 2;
    const auto power_of_two = [](int e) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + e) << 52);
    };
    return value * power_of_two(first) * power_of_two(exponent - first);
}

/// e^x²·erfc(x)·(1 + 2x) for x >= 0 as a polynomial of (x − 3.75)/(x + 3.75), after Shepherd and Laframboise
/// 1981; the coefficients were computed anew to 60 digits, and their polynomial errs by less than 2^-55.
double scaled_erfc(double x) {
    constexpr double coefficients[] = {
        -0x1.6884628ace07ap-29, -0x1.0cb63a80de2c5p-29, 0x1.12b326b5668bfp-25, 0x1.42d2ea1df7aecp-26,
        -0x1.0ae6bf9452a1fp-22, -0x1.b4c0937b25a0bp-25, 0x1.d39c1a3875509p-20, -0x1.06de6954a39b5p-20,
        -0x1.7fcc159f9a760p-17, 0x1.7799dcd2368cbp-16,  0x1.b13e13fe20445p-15, -0x1.303ffbfe45e88p-12,
        0x1.33fb5a5e7ca14p-12,  0x1.cc3a13daa5d95p-10,  -0x1.3f603c7e65d24p-7, 0x1.d0b0037036098p-6,
        -0x1.e0d0fa6c16f3fp-5,  0x1.7a14188ae18fap-4,   -0x1.bda9309a35871p-4, 0x1.510169d093c18p-4,
        0x1.d5f294816277ep-9,   -0x1.1f367683f8967p-3,  0x1.3ccda0b5d5dc2p+0};
    const double s = (x - 3.75) / (x + 3.75);
    double sum = 0;
    for (const double coefficient : coefficients) sum = sum * s + coefficient;
    return sum / (1 + 2 * x);
}

}  // namespace

namespace tables {

constinit const std::array<LogEntry, n_ranges> natural = make_logs({1, 0}), binary = make_logs(log2e);
constinit const std::array<DoubleDouble, n_ranges> powers = make_powers();

}  // namespace tables

double log_of_other(double x) {
    if (x == infinity || x != x) return x;
    if (x == 0) return -infinity;
    if (x < 0) return not_a_number;
    return tiny_log_parts(x).high;
}

double log2_of_other(double x) {
    if (!(x > 0) || x == infinity) return log_of_other(x);
    return (tiny_log_parts(x) * log2e).high;
}

double log10(double x) {
    constexpr DoubleDouble log10e{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
    if (!(x > 0) || x == infinity) return log_of_other(x);
    return ((is_ordinary(x) ? log_parts(x) : tiny_log_parts(x)) * log10e).high;
}

double exp(double x) { return x == x ? exp_of(x, 0) : x; }

double pow(double x, double p) {
    if (p == 0 || x == 1) return 1;
    if (x != x || p != p) return x + p;
    if (x == 0 || x == infinity) return (x == 0) == (p > 0) ? 0 : infinity;
    if (x < 0) return not_a_number;
    constexpr double most = 0x1p70;  // the logarithm of the number next to 1 is 2^-53: nothing or infinity
    if (p > most || p < -most) return (x > 1) == (p > 0) ? infinity : 0;
    const DoubleDouble log = is_ordinary(x) ? log_parts(x) : tiny_log_parts(x);
    const DoubleDouble product = product_of(log.high, p);
    return exp_of(product.high, product.low + log.low * p);
}

double erfc(double x) {
    if (x != x) return x;
    const double size = x < 0 ? -x : x;
    double above = 0;  // beyond 28 less than the least number
    if (size < 28) {
        const DoubleDouble square = product_of(size, size);
        above = exp_of(-square.high, -square.low) * scaled_erfc(size);
    }
    return x < 0 ? 2 - above : above;
}

}  // namespace treewright::elementary
