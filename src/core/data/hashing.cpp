// Each cell times an odd number of its column, added up: one multiplication a cell, and bits mixed a row.
#include "data/hashing.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

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

/// The bits of a number in single precision, in which it is the same after a file or another library.
template <class Number>
std::uint32_t cell_bits(Number value) {
    const float number = static_cast<float>(value) + 0.0f;
    const auto bits = std::bit_cast<std::uint32_t>(number), nan = std::uint32_t{0x7fc00000};
    return number != number ? nan : bits;
}

/// A factor of cells. Their bits are taken twice, which is a factor too, and multiplied in two halves: that
/// takes products of 32 bits alone, of which processors make several at a time.
struct Factor {
    std::uint32_t low, high;

    explicit Factor(std::uint64_t of_doubled) {
        constexpr std::uint64_t twice = (std::uint64_t{1} << 32) + 1;
        const std::uint64_t factor = of_doubled * twice;
        low = static_cast<std::uint32_t>(factor);
        high = static_cast<std::uint32_t>(factor >> 32);
    }
    std::uint64_t times(std::uint32_t bits) const {
        return static_cast<std::uint64_t>(bits) * low + (static_cast<std::uint64_t>(bits) * high << 32);
    }
};

/// Independent odd factors, so that no sum of differences between rows is zero but by accident.
std::vector<Factor> factors_of(std::size_t n) {
    std::vector<Factor> found;
    for (std::size_t i = 0; i < n; ++i) found.emplace_back(mixed(0x9E3779B97F4A7C15 * (i + 1)) | 1);
    return found;
}

template <class Values>
void add_cells(Values&& value, Factor factor, std::size_t first, std::size_t last, std::uint64_t* sums) {
    for (std::size_t row = first; row < last; ++row) sums[row] += factor.times(cell_bits(value(row)));
}

/// Whether the cells of each row lie side by side, as in a matrix of C.
template <class Number>
bool lie_in_rows(std::span<const Column> columns) {
    constexpr auto type = std::is_same_v<Number, double> ? Column::Type::float64 : Column::Type::float32;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].type != type || columns[i].stride != columns[0].stride ||
            columns[i].data != columns[0].data + i * sizeof(Number))
            return false;
    return !columns.empty();
}

template <class Number>
void add_rows(std::span<const Column> columns, std::span<const Factor> factors, std::size_t first,
              std::size_t last, std::uint64_t* sums) {
    constexpr std::size_t few = 2048;  // columns whose factors stay in the cache
    for (std::size_t begin = 0; begin < columns.size(); begin += few) {
        const auto own = factors.subspan(begin, std::min(few, columns.size() - begin));
        for (std::size_t row = first; row < last; ++row) {
            const auto* cells = reinterpret_cast<const Number*>(
                columns[begin].data + static_cast<std::ptrdiff_t>(row) * columns[begin].stride);
            std::uint64_t sum = 0;
            for (std::size_t i = 0; i < own.size(); ++i) sum += own[i].times(cell_bits(cells[i]));
            sums[row] += sum;
        }
    }
}

void add_columns(std::span<const Column> columns, std::span<const Factor> factors, std::size_t first,
                 std::size_t last, std::uint64_t* sums) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const Column& column = columns[i];
        const auto add = [&](auto&& value) { add_cells(value, factors[i], first, last, sums); };
        const auto add_numbers = [&]<class Number>(const Number* cells) {
            if (std::cmp_equal(column.stride, sizeof(Number)))
                add([=](std::size_t row) { return cells[row]; });
            else
                add([&](std::size_t row) { return column.at<Number>(row); });
        };
        if (column.is_category())
            add([&](std::size_t row) { return static_cast<double>(column.code(row)); });
        else if (column.type == Column::Type::float64)
            add_numbers(reinterpret_cast<const double*>(column.data));
        else
            add_numbers(reinterpret_cast<const float*>(column.data));
    }
}

}  // namespace

std::vector<std::uint64_t> hash_rows(std::span<const Column> columns, std::size_t n_rows, Pool& pool,
                                     Interrupt& interrupt) {
    std::vector<std::uint64_t> sums(n_rows, 0);
    const auto factors = factors_of(columns.size());
    const auto add = lie_in_rows<float>(columns)    ? add_rows<float>
                     : lie_in_rows<double>(columns) ? add_rows<double>
                                                    : add_columns;
    pool.run((n_rows + task_size - 1) / task_size, [&](std::size_t task, std::size_t) {
        interrupt.check();
        const std::size_t end = std::min((task + 1) * task_size, n_rows);
        for (std::size_t first = task * task_size; first < end; first += block) {
            const std::size_t last = std::min(first + block, end);
            add(columns, factors, first, last, sums.data());
            for (std::size_t row = first; row < last; ++row) sums[row] = mixed(sums[row]);
        }
    });
    return sums;
}

}  // namespace treewright
