// Each cell times an odd number of its column, added up: one multiplication a cell, and bits mixed a row.
#include "data/hashing.hpp"

#include <algorithm>

namespace treewright {

namespace {

constexpr std::size_t block = 128;  // rows whose cells stay in the cache
constexpr std::size_t task_size = 32 * block;

/// A number of which every bit depends on every bit (the finalizer of splitmix64).
std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
    return bits ^ bits >> 31;
}

/// Independent odd factors, so that no sum of differences between rows is zero but by accident.
std::vector<std::uint64_t> factors(std::size_t n) {
    std::vector<std::uint64_t> found(n);
    for (std::size_t i = 0; i < n; ++i) found[i] = mixed(0x9E3779B97F4A7C15 * (i + 1)) | 1;
    return found;
}

/// The bits of a number in single precision, in which it is the same after a file or another library.
std::uint64_t cell_bits(double value) {
    const float number =
        value != value ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value) + 0.0f;
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(number);
    return bits << 32 | bits;
}

template <class Values>
void add_cells(Values&& value, std::uint64_t factor, std::size_t first, std::size_t last,
               std::uint64_t* sums) {
    for (std::size_t row = first; row < last; ++row) sums[row] += factor * cell_bits(value(row));
}

/// Whether the cells of each row lie side by side, as in a matrix of C.
bool lie_in_rows(std::span<const Column> columns) {
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].type != Column::Type::float64 || columns[i].stride != columns[0].stride ||
            columns[i].data != columns[0].data + i * sizeof(double))
            return false;
    return !columns.empty();
}

void add_rows(std::span<const Column> columns, std::span<const std::uint64_t> factor, std::size_t first,
              std::size_t last, std::uint64_t* sums) {
    for (std::size_t row = first; row < last; ++row) {
        const auto* cells = reinterpret_cast<const double*>(
            columns[0].data + static_cast<std::ptrdiff_t>(row) * columns[0].stride);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < factor.size(); ++i) sum += factor[i] * cell_bits(cells[i]);
        sums[row] = sum;
    }
}

void add_columns(std::span<const Column> columns, std::span<const std::uint64_t> factor, std::size_t first,
                 std::size_t last, std::uint64_t* sums) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const Column& column = columns[i];
        if (column.is_category())
            add_cells([&](std::size_t row) { return static_cast<double>(column.code(row)); }, factor[i],
                      first, last, sums);
        else
            with_values(column, [&](auto value) { add_cells(value, factor[i], first, last, sums); });
    }
}

}  // namespace

std::vector<std::uint64_t> hash_rows(std::span<const Column> columns, std::size_t n_rows, Pool& pool,
                                     Interrupt& interrupt) {
    std::vector<std::uint64_t> sums(n_rows, 0);
    const auto factor = factors(columns.size());
    const auto add = lie_in_rows(columns) ? add_rows : add_columns;
    pool.run((n_rows + task_size - 1) / task_size, [&](std::size_t task, std::size_t) {
        interrupt.check();
        const std::size_t end = std::min((task + 1) * task_size, n_rows);
        for (std::size_t first = task * task_size; first < end; first += block) {
            const std::size_t last = std::min(first + block, end);
            add(columns, factor, first, last, sums.data());
            for (std::size_t row = first; row < last; ++row) sums[row] = mixed(sums[row]);
        }
    });
    return sums;
}

}  // namespace treewright
