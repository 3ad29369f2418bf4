// What a grower is given: columns, targets, weights and limits; and the rows in their canonical order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "support/portable.hpp"
#include "support/threads.hpp"

namespace treewright {

using Sum = std::int64_t;  // sums of counts, weights and targets on an integer grid: exact in any order

/// A grid is as fine as that of so many rows allows, however many more there are: their sums have two words.
constexpr std::int64_t default_word_rows = std::int64_t{1} << 20;
constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();

/// Whether the gain of a subset of categories is corrected for chance (see chance.hpp), and by how many rows
/// each category has: as many as it weighs, or as there are, whatever they weigh.
enum class Correction : std::uint8_t { none, by_weight, by_rows };

struct Limits {
    std::int64_t max_depth = -1;  // -1: none
    std::int64_t max_splits = -1;
    std::int64_t min_rows_split = 2;
    std::int64_t min_rows_leaf = 1;
    double min_weight_leaf = 0.0;
    double min_gain = 0.0;
    std::int64_t max_columns = 0;  // columns drawn at each node; 0: all
    bool random_splits = false;
    std::uint64_t seed = 0;
    std::int64_t small_rows =
        0;                       // nodes up to this size are grown with sorted lists; 0: the measured default
    std::int64_t word_rows = 0;  // sums of more rows have two words where they have grids; 0: the default
    std::span<const double> critical;  // least χ² of a split by degrees of freedom; empty: no test
    Correction correction = Correction::none;
};

/// The targets of all rows: class codes or numbers, one after the other for each output.
struct Targets {
    std::size_t n_outputs = 1;
    std::vector<std::int32_t> n_classes;  // per output; empty for numbers
    const std::int32_t* labels = nullptr;
    const double* numbers = nullptr;
    const double* weight = nullptr;  // null: every row weighs 1

    bool are_classes() const { return labels != nullptr; }
};

/// Reals on an integer grid, so that sums are exact and come out the same in every order.
/// A value v is stored as round((v − centre) / unit); `unit` is a power of two small enough to keep about
/// 62 − log2(n) bits of the largest value. Whole numbers keep all their digits.
struct Grid {
    double centre = 0.0;
    double unit = 1.0;

    bool operator==(const Grid&) const = default;
    /// That of rows which have none yet.
    static Grid unmade() { return {0.0, 0.0}; }
    bool is_made() const { return unit > 0; }
    std::int64_t place(double value) const { return std::llrint((value - centre) / unit); }
    static Grid covering(double largest, double n, double centre = 0.0) {
        if (!(largest > 0)) return {centre, 1.0};
        const int bits = 61 - std::max(0, std::ilogb(std::max(n, 1.0)) + 1);
        return {centre, std::ldexp(1.0, std::max(-1074, std::ilogb(largest) + 1 - bits))};
    }
};

/// The grids of a node, which its children inherit (see grids.hpp).
struct Grids {
    Grid weight = Grid::unmade(), number = Grid::unmade();
    double square_unit = 1;  // of what bounds a bin of a histogram
};

struct Problem {
    std::vector<Column> columns;
    const FineBin* fine_bins = nullptr;  // of all columns, row by row; null for a small table
    Targets targets;
    Limits limits;
    bool is_wide = false;    // so many classes that the leaves of the tree list only those that they hold
    std::size_t n_rows = 0;  // rows of the table
    std::vector<Row> rows;   // rows of positive weight, sorted by target, then weight (see sort_rows)
    Interrupt* interrupt = nullptr;

    bool is_weighted() const { return targets.weight != nullptr; }
    double weight(Row row) const { return targets.weight ? targets.weight[row] : 1.0; }
    std::int32_t label(Row row, std::size_t output = 0) const {
        return targets.labels[output * n_rows + row];
    }
    double number(Row row, std::size_t output = 0) const { return targets.numbers[output * n_rows + row]; }

    bool same_target(Row a, Row b) const {
        for (std::size_t output = 0; output < targets.n_outputs; ++output)
            if (targets.are_classes() ? label(a, output) != label(b, output)
                                      : number(a, output) != number(b, output))
                return false;
        return true;
    }
    /// Rows in canonical order are pure where the first and the last are alike in the first output; the
    /// other outputs are only sorted within it and have to be looked at one by one.
    bool is_pure(std::span<const Row> some) const {
        if (!same_target(some.front(), some.back())) return false;
        return targets.n_outputs == 1 ||
               std::all_of(some.begin(), some.end(), [&](Row row) { return same_target(some.front(), row); });
    }
};

/// Keeps the rows of positive weight, ordered by (targets, weight); rows alike in both are interchangeable.
/// Every node's rows stay in this order, so that sums do not depend on the order of the table, classes lie
/// together, and the first and last row tell whether a node is pure.
void sort_rows(Problem& problem, Pool& pool);

/// A stream of random numbers for each node, fixed by the seed and the way from the root (splitmix64).
struct Random {
    std::uint64_t state;

    std::uint64_t next() {
        std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(high_word(next(), n)); }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    static std::uint64_t child(std::uint64_t key, bool left) {
        return Random{key ^ (left ? 0x5bULL : 0xa7ULL)}.next();
    }
};

/// The columns a node may use, in the order in which it tries them: all in order, or drawn.
inline std::vector<std::int32_t> column_order(std::size_t n_columns, const Limits& limits,
                                              std::uint64_t key) {
    std::vector<std::int32_t> order(n_columns);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    if (limits.max_columns > 0) {
        Random random{key};
        for (std::size_t i = 0; i + 1 < order.size(); ++i)
            std::swap(order[i], order[i + random.below(order.size() - i)]);
    }
    return order;
}
inline std::vector<std::int32_t> column_order(const Problem& problem, std::uint64_t key) {
    return column_order(problem.columns.size(), problem.limits, key);
}

}  // namespace treewright
