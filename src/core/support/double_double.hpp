// Numbers in two doubles, of about 106 digits (Dekker 1971): what long double is differs from platform to
// platform.
#pragma once

namespace treewright {

/// high + low, the second one at most half a unit in the last place of the first.
struct DoubleDouble {
    double high = 0, low = 0;

    constexpr DoubleDouble() = default;
    constexpr DoubleDouble(double number) : high(number) {}
    constexpr DoubleDouble(double first, double second) : high(first), low(second) {}
};

/// The sum of two doubles, exactly.
constexpr DoubleDouble sum_of(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

/// The product of two doubles below 2^996, exactly, unless it is too small for its last digits.
constexpr DoubleDouble product_of(double a, double b) {
    constexpr double splitter = 0x1p27 + 1;
    const double a_far = a * splitter, b_far = b * splitter;
    const double a_high = a_far - (a_far - a), b_high = b_far - (b_far - b);
    const double a_low = a - a_high, b_low = b - b_high, product = a * b;
    return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

constexpr DoubleDouble operator-(const DoubleDouble& a) { return {-a.high, -a.low}; }
constexpr DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble sum = sum_of(a.high, b.high);
    return sum_of(sum.high, sum.low + (a.low + b.low));
}
constexpr DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }
constexpr DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble product = product_of(a.high, b.high);
    return sum_of(product.high, product.low + (a.high * b.low + a.low * b.high));
}
constexpr DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.high / b.high;
    const DoubleDouble rest = a - b * DoubleDouble(first);
    return sum_of(first, (rest.high + rest.low) / b.high);
}

}  // namespace treewright
