// Gradients, hessians and counts as whole numbers, packed so that one addition moves all of them.
//
// Whole numbers add up to the same in any order: neither threads nor the difference of a node and its smaller
// child change a sum. The units are powers of two, as fine as the number of rows leaves room for.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace treewright::boosting {

/// What the rows of a node or of a cell add up to.
struct Sums {
    std::int64_t gradient = 0, hessian = 0, count = 0;

    Sums operator-(const Sums& other) const {
        return {gradient - other.gradient, hessian - other.hessian, count - other.count};
    }
    void add(const Sums& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        count += other.count;
    }
};

/// How many units the largest gradient and the largest hessian of a row have, and how large these are.
struct Units {
    int count_bits = 1;
    double gradient = 1, hessian = 1;

    /// Room for n rows of which none is above the largest, in sums of `bits` bits.
    static double unit(double largest, int bits) {
        constexpr int most_bits = 45;  // so that a double takes them as they are
        if (!(largest > 0)) return 1.0;
        return std::ldexp(1.0, std::max(-1000, std::ilogb(largest) + 1 - std::clamp(bits, 4, most_bits)));
    }
};

/// |x| < 2^51 rounded to a whole number, in a form that compilers turn into vector instructions.
inline std::int64_t rounded(double x) {
    constexpr double shift = 0x1.8p52;
    return std::bit_cast<std::int64_t>(x + shift) - std::bit_cast<std::int64_t>(shift);
}

inline int bits_of(std::size_t n) { return static_cast<int>(std::bit_width(n)); }

/// Where every hessian is 1: the gradient above, the count below.
struct Narrow {
    using Entry = std::int64_t;

    static int bits(std::size_t n_rows) { return 63 - 2 * bits_of(n_rows); }
    static Units units(std::size_t n_rows, double largest_gradient, double) {
        return {bits_of(n_rows), Units::unit(largest_gradient, bits(n_rows)), 1.0};
    }
    static Entry pack(const Units& units, double gradient, double) {
        return (rounded(gradient / units.gradient) << units.count_bits) + 1;
    }
    static Sums unpack(const Units& units, Entry entry) {
        const std::int64_t count = entry & ((std::int64_t{1} << units.count_bits) - 1);
        return {entry >> units.count_bits, count, count};
    }
};

/// The gradient in one half; hessian and count in the other.
struct Wide {
    typedef std::int64_t Entry __attribute__((vector_size(16)));

    static Units units(std::size_t n_rows, double largest_gradient, double largest_hessian) {
        const int bits = bits_of(n_rows);
        return {bits, Units::unit(largest_gradient, 62 - bits), Units::unit(largest_hessian, 62 - 2 * bits)};
    }
    static Entry pack(const Units& units, double gradient, double hessian) {
        return Entry{rounded(gradient / units.gradient),
                     (rounded(hessian / units.hessian) << units.count_bits) + 1};
    }
    static Sums unpack(const Units& units, Entry entry) {
        return {entry[0], entry[1] >> units.count_bits,
                entry[1] & ((std::int64_t{1} << units.count_bits) - 1)};
    }
};

}  // namespace treewright::boosting
