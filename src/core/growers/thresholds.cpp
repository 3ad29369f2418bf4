// The shortest decimal in a gap.
#include "growers/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "support/elementary.hpp"

namespace treewright {

namespace {

constexpr double largest = std::numeric_limits<double>::max();
constexpr double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// digits·10^exponent, correctly rounded, so that it prints as it was meant. Whole digits below 2^53 times or
/// over an exact power of ten round once; the rest goes through the decimal reader.
double decimal(double digits, int exponent) {
    if (exponent >= -22 && exponent <= 22)
        return exponent >= 0 ? digits * exact_powers[exponent] : digits / exact_powers[-exponent];
    char text[64];
    std::snprintf(text, sizeof text, "%.0fe%d", digits, exponent);
    return std::strtod(text, nullptr);  // infinite beyond the largest number, and in no gap
}

/// The multiple of 10^exponent between low and high, nearest to the middle; NaN if there is none.
double multiple_between(double low, double high, double middle, int exponent) {
    const double quotient =
        exponent >= 0 || exponent < -22 ? middle / decimal(1, exponent) : middle * exact_powers[-exponent];
    constexpr double whole_numbers_end = 0x1p53;
    if (!(std::abs(quotient) < whole_numbers_end)) return std::numeric_limits<double>::quiet_NaN();
    double nearest = std::numeric_limits<double>::quiet_NaN();
    const double base = std::floor(quotient);
    for (const double digits : {base - 1, base, base + 1, base + 2}) {
        const double candidate = decimal(digits, exponent);
        if (!(candidate > low && candidate < high)) continue;
        const double rounding =
            1e-9 * (high - low);  // of the distances: candidates equally far are a tie, the lower wins
        if (std::isnan(nearest) || std::abs(candidate - middle) < std::abs(nearest - middle) - rounding)
            nearest = candidate;
    }
    return nearest;
}

/// Gaps of a few neighbouring floats: the middle in as few digits as fit, or `low` where nothing lies
/// between.
double shortest_between(double low, double high, double middle) {
    for (int digits = 13; digits <= 17 && middle > low; ++digits) {
        char text[40];
        std::snprintf(text, sizeof text, "%.*e", digits, middle);
        const double value = std::strtod(text, nullptr);  // of the locale of snprintf, unlike std::from_chars
        if (value > low && value < high) return value;
    }
    return low;
}

bool is_single(double value) {
    return std::abs(value) <= std::numeric_limits<float>::max() &&
           static_cast<double>(static_cast<float>(value)) == value;
}

double shortest_decimal(double low, double high) {
    if (std::isinf(low) && low > 0) return low;
    if (std::isinf(low) && high == -largest) return low;
    if (low < 0 && high > 0) return 0.0;
    // An infinite end stands for a finite one of the same side, far enough to leave round numbers between.
    if (std::isinf(low)) low = std::min(high * 10, -1.0) >= -largest ? std::min(high * 10, -1.0) : -largest;
    if (std::isinf(high)) high = std::max(low * 10, 1.0) <= largest ? std::max(low * 10, 1.0) : largest;
    if (!(low < high)) return low;
    const double middle = middle_threshold(low, high);
    int exponent = static_cast<int>(std::floor(elementary::log10(high - low)));
    double best = multiple_between(low, high, middle, exponent);
    for (int finer = 1; std::isnan(best) && finer <= 2; ++finer)
        best = multiple_between(low, high, middle, --exponent);
    if (std::isnan(best)) return shortest_between(low, high, middle);
    for (double coarser; !std::isnan(coarser = multiple_between(low, high, middle, exponent + 1)); ++exponent)
        best = coarser;
    return best;
}

}  // namespace

double middle_threshold(double low, double high) {
    if (std::isinf(low) && low > 0) return low;
    const double middle = std::max(low, -largest) / 2 + std::min(high, largest) / 2;
    return middle >= low && middle < high ? middle : low;
}

double readable_threshold(double low, double high) {
    const double found = shortest_decimal(low, high);
    if (!is_single(low) || !is_single(high)) return found;
    const auto above = static_cast<float>(high);
    if (static_cast<float>(found) < above) return found;
    const double below = std::nextafter(above, -std::numeric_limits<float>::infinity());
    return shortest_decimal(low, below / 2 + high / 2);
}

}  // namespace treewright
