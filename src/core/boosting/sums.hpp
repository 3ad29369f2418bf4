// Gradients, hessians and counts as whole numbers, packed so that one addition moves all of them.
//
// Whole numbers add up to the same in any order: neither threads nor the difference of a node and its smaller
// child change a sum. The units are powers of two, as fine as the number of rows leaves room for; beyond
// `most_packed` rows they get no coarser, and packed sums are taken apart before they overflow.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/simd.hpp"

namespace treewright::boosting {

/// What the rows of a node or of a cell add up to.
struct Sums {
    std::int64_t gradient = 0, hessian = 0, count = 0;

    Sums operator-(const Sums& other) const {
        return {gradient - other.gradient, hessian - other.hessian, count - other.count};
    }
    Sums& operator+=(const Sums& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        count += other.count;
        return *this;
    }
    Sums& operator-=(const Sums& other) { return *this = *this - other; }
};

constexpr std::size_t most_packed = std::size_t{1} << 20;  // rows whose packed sums do not overflow

/// Two numbers that are worked on at once.
using Pair = SimdVector<double, 2>;
using WholePair = SimdVector<std::int64_t, 2>;
using UnsignedPair = SimdVector<std::uint64_t, 2>;

constexpr int most_bits = 50;  // of a sum of gradients or hessians: doubles take them as they are

/// Bits of what a row has, where it is kept in an integer of this type.
template <class Integer>
constexpr int most_row_bits = sizeof(Integer) == 4 ? 30 : most_bits;

/// Whole numbers from 0 to 2^52 as doubles.
inline Pair as_doubles(WholePair numbers) {
    constexpr double shift = 0x1p52;
    constexpr auto bits = std::bit_cast<std::int64_t>(shift);
    return std::bit_cast<Pair>(numbers + WholePair{bits, bits}) - Pair{shift, shift};
}

/// |x| < 2^51 rounded to a whole number, in a form that compilers turn into vector instructions.
constexpr double rounding_shift = 0x1.8p52;
inline std::int64_t rounded(double x) {
    return std::bit_cast<std::int64_t>(x + rounding_shift) - std::bit_cast<std::int64_t>(rounding_shift);
}

inline int bits_of(std::size_t n) { return static_cast<int>(std::bit_width(n)); }
/// Bits of the number of rows that are added up in packed form.
inline int packed_bits(std::size_t n_rows) { return bits_of(std::min(n_rows, most_packed)); }

/// How many bits a count takes, and what a unit of the gradients and of the hessians is.
struct Units {
    int count_bits = 1;
    double gradient = 1, hessian = 1;

    /// The unit of which the largest number of a row has less than 2^bits.
    static double unit(double largest, int bits) {
        if (!(largest > 0)) return 1.0;
        return std::ldexp(1.0, std::max(-1000, std::ilogb(largest) + 1 - std::max(bits, 4)));
    }
};

/// Sums where every hessian is 1: the gradient above, the count below.
struct NarrowSums {
    using Entry = std::int64_t;
    static constexpr bool has_pairs = true;  // two entries can be unpacked at once

    static bool is_empty(Entry entry) { return entry == 0; }
    static std::int64_t count(const Units& units, Entry entry) {
        return entry & ((std::int64_t{1} << units.count_bits) - 1);
    }
    static Sums unpack(const Units& units, Entry entry) {
        const std::int64_t n = count(units, entry);
        return {entry >> units.count_bits, n, n};
    }
    /// Gradients and hessians of two entries. There is no vector instruction that shifts signed numbers: they
    /// are made positive before and set right after it.
    static void unpack(const Units& units, const Entry* entries, Pair& gradient, Pair& hessian) {
        const int bits = std::min(most_bits, 62 - units.count_bits);
        const std::int64_t above = std::int64_t{1} << (bits + units.count_bits);
        const std::int64_t mask = (std::int64_t{1} << units.count_bits) - 1;
        const WholePair both{entries[0], entries[1]};
        const auto raised = std::bit_cast<UnsignedPair>(both + WholePair{above, above}) >> units.count_bits;
        const auto shift = static_cast<double>(std::int64_t{1} << bits);
        gradient = as_doubles(std::bit_cast<WholePair>(raised)) - Pair{shift, shift};
        hessian = as_doubles(both & WholePair{mask, mask});
    }
};

/// Rows where every hessian is 1. Those of large tables are kept in 32 bits, which are fetched faster; so
/// many rows leave hardly room for more in their sums.
template <class Integer>
struct Narrow : NarrowSums {
    using RowEntry = Integer;

    /// Bits of the gradient of a row, so that the sum of all leaves room for the count.
    static int bits(std::size_t n_rows) {
        const int n = packed_bits(n_rows);
        return std::min({62 - 2 * n, most_bits - n, most_row_bits<Integer>});
    }
    static Units units(std::size_t n_rows, double largest_gradient, double) {
        return {packed_bits(n_rows), Units::unit(largest_gradient, bits(n_rows)), 1.0};
    }
    static RowEntry pack(const Units& units, double gradient, double) {
        return static_cast<RowEntry>(rounded(gradient / units.gradient));
    }
    static RowEntry times(RowEntry row, std::int64_t n) { return static_cast<RowEntry>(row * n); }
    static Entry entry(RowEntry row, int count_bits) {
        return (static_cast<std::int64_t>(row) << count_bits) + 1;
    }
};

/// Sums of any hessians: the gradient in one half; hessian and count in the other.
struct WideSums {
    using Entry = WholePair;
    static constexpr bool has_pairs = true;

    static bool is_empty(Entry entry) { return entry[1] == 0; }
    static std::int64_t count(const Units& units, Entry entry) {
        return entry[1] & ((std::int64_t{1} << units.count_bits) - 1);
    }
    static Sums unpack(const Units& units, Entry entry) {
        return {entry[0], entry[1] >> units.count_bits, count(units, entry)};
    }
    static void unpack(const Units& units, const Entry* entries, Pair& gradient, Pair& hessian) {
        constexpr std::int64_t above = std::int64_t{1} << (most_bits + 1);
        const WholePair g{entries[0][0], entries[1][0]}, h{entries[0][1], entries[1][1]};
        gradient = as_doubles(g + WholePair{above, above}) - Pair{0x1p51, 0x1p51};
        hessian = as_doubles(h >> units.count_bits);
    }
};

template <class Integer>
struct Wide : WideSums {
    struct RowEntry {
        Integer gradient, hessian;
    };

    static Units units(std::size_t n_rows, double largest_gradient, double largest_hessian) {
        const int n = packed_bits(n_rows), bits = std::min(most_bits - n, most_row_bits<Integer>);
        return {n, Units::unit(largest_gradient, bits),
                Units::unit(largest_hessian, std::min(bits, 62 - 2 * n))};
    }
    static RowEntry pack(const Units& units, double gradient, double hessian) {
        return {static_cast<Integer>(rounded(gradient / units.gradient)),
                static_cast<Integer>(rounded(hessian / units.hessian))};
    }
    static RowEntry times(RowEntry row, std::int64_t n) {
        return {static_cast<Integer>(row.gradient * n), static_cast<Integer>(row.hessian * n)};
    }
    static Entry entry(RowEntry row, int count_bits) {
        return Entry{row.gradient, (static_cast<std::int64_t>(row.hessian) << count_bits) + 1};
    }
};

/// Sums that are not packed: of more rows, or of rows that count for more, than packed ones have room for.
struct LooseSums {
    using Entry = Sums;
    static constexpr bool has_pairs = false;  // sums of gradients may have 60 bits, more than doubles take

    static bool is_empty(const Entry& entry) { return entry.count == 0; }
    static std::int64_t count(const Units&, const Entry& entry) { return entry.count; }
    static Sums unpack(const Units&, const Entry& entry) { return entry; }
};

/// Rows in the units and with the bits of `Wide`.
struct Loose : LooseSums {
    using RowEntry = Wide<std::int64_t>::RowEntry;

    static RowEntry pack(const Units& units, double gradient, double hessian) {
        return Wide<std::int64_t>::pack(units, gradient, hessian);
    }
    static RowEntry times(RowEntry row, std::int64_t n) { return Wide<std::int64_t>::times(row, n); }
    static Entry entry(RowEntry row, int) { return {row.gradient, row.hessian, 1}; }
};

}  // namespace treewright::boosting
