// The columns of a table as the core sees them: views of the caller's memory, any stride, never copied.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "support/portable.hpp"

namespace treewright {

using Row = std::uint32_t;

constexpr std::int32_t missing_code = -1;
constexpr int max_bins = 255;  // codes 0 … 254; 255 means missing
constexpr int missing_bin = 255;

/// A value's bin (the high byte) and its place in the bin (the low byte). Fine bins order as the values do,
/// and values of different fine bins differ.
using FineBin = std::uint16_t;
constexpr FineBin missing_fine_bin = missing_bin << 8;
constexpr int bin_of(FineBin fine) { return fine >> 8; }
constexpr int place_of(FineBin fine) { return fine & 0xff; }

/// The place of a value among the distinct values of its column, for tables of fewer than 65,536 rows.
using Rank = std::uint16_t;
constexpr Rank missing_value_rank = std::numeric_limits<Rank>::max();

struct Column {
    enum class Type : std::uint8_t { float64, float32, code };

    const std::byte* data = nullptr;
    std::ptrdiff_t stride = 0;
    Type type = Type::float64;
    std::int32_t n_categories = 0;           // 0: a number
    const FineBin* fine_bins = nullptr;      // of the first row; null where the column has no bins
    std::size_t fine_stride = 0;             // from row to row: all columns of a row lie together
    const std::uint8_t* is_mixed = nullptr;  // whether a bin holds several values, so that it can hide a cut
    const Rank* ranks = nullptr;             // of the first row; null where the column has none

    bool is_category() const { return type == Type::code; }

    template <class T>
    T at(std::size_t row) const {
        return *reinterpret_cast<const T*>(data + static_cast<std::ptrdiff_t>(row) * stride);
    }
    /// The number at `row`; NaN where it is missing.
    double value(std::size_t row) const {
        return type == Type::float64 ? at<double>(row) : static_cast<double>(at<float>(row));
    }
    void prefetch_value(std::size_t row) const { prefetch(data + static_cast<std::ptrdiff_t>(row) * stride); }
    std::int32_t code(std::size_t row) const { return at<std::int32_t>(row); }
    FineBin fine_bin(std::size_t row) const { return fine_bins[row * fine_stride]; }
    int bin(std::size_t row) const { return bin_of(fine_bin(row)); }
};

/// Bytes of a cell.
constexpr std::size_t item_size(Column::Type type) {
    return type == Column::Type::float64 ? sizeof(double) : sizeof(float);
}

/// Calls `work` with a function row -> value, so that the type is decided once and not for each cell.
template <class Work>
auto with_values(const Column& column, Work&& work) {
    if (column.type == Column::Type::float64)
        return work([&](std::size_t row) { return column.at<double>(row); });
    return work([&](std::size_t row) { return static_cast<double>(column.at<float>(row)); });
}

/// An unsigned integer that orders as the numbers do; −0.0 and 0.0 are the same number and get the same key.
inline std::uint64_t order_key(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return bits & sign ? ~bits : bits | sign;
}
/// The number behind such a key.
inline double value_of_key(std::uint64_t key) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return std::bit_cast<double>(key & sign ? key & ~sign : ~key);
}

}  // namespace treewright
