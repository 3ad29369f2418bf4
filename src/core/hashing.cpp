// Cell by cell: bits are mixed so that rows that differ in one of them differ in all.
#include "hashing.hpp"

#include <algorithm>

namespace treewright {

namespace {

constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;  // 2⁶⁴ divided by the golden ratio, an odd number
constexpr std::size_t block = 128;                    // rows whose cells stay in the cache

/// A number of which every bit depends on many.
std::uint64_t mixed(std::uint64_t bits) {
    bits ^= bits >> 29;
    bits *= factor;
    return bits ^ bits >> 32;
}

std::uint64_t hash_cell(double value, std::uint64_t of_column) {
    const double number = value != value ? std::numeric_limits<double>::quiet_NaN() : value + 0.0;
    const auto bits = std::bit_cast<std::uint64_t>(number);
    return mixed((bits ^ bits >> 32) * of_column);
}

template <class Values>
void add_cells(Values&& value, std::uint64_t of_column, std::size_t first, std::size_t last,
               std::uint64_t* sums) {
    for (std::size_t row = first; row < last; ++row) sums[row] += hash_cell(value(row), of_column);
}

}  // namespace

std::vector<std::uint64_t> hash_rows(std::span<const Column> columns, std::size_t n_rows,
                                     Interrupt& interrupt) {
    std::vector<std::uint64_t> sums(n_rows, 0);
    for (std::size_t first = 0; first < n_rows; first += block) {
        interrupt.check();
        const std::size_t last = std::min(first + block, n_rows);
        std::uint64_t of_column = factor;  // another odd number for each column
        for (const Column& column : columns) {
            of_column += 2 * factor;
            if (column.is_category())
                add_cells([&](std::size_t row) { return static_cast<double>(column.code(row)); }, of_column,
                          first, last, sums.data());
            else
                with_values(column,
                            [&](auto value) { add_cells(value, of_column, first, last, sums.data()); });
        }
        std::for_each(sums.begin() + first, sums.begin() + last,
                      [](std::uint64_t& sum) { sum = mixed(sum); });
    }
    return sums;
}

}  // namespace treewright
