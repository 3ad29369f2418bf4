// Sorting a column: all ways to the same lists and ranks, against a plain stable sort.
#include <algorithm>
#include <numeric>
#include <ranges>
#include <vector>

#include "data/binning.hpp"
#include "data/column_sorter.hpp"
#include "data/ranks.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

template <class Id>
struct Sorted {
    std::vector<Id> list, rank;
    SortedColumn facts;
};

template <class Id>
Sorted<Id> sort_with_core(const Column& column, const std::vector<Row>& rows) {
    Sorted<Id> out{std::vector<Id>(rows.size()), std::vector<Id>(rows.size()), {}};
    ColumnSorter<Id> sorter;
    const auto ids = std::views::iota(std::size_t{0}, rows.size());
    out.facts = sorter.sort(column, rows, ids, out.list.data(), out.rank.data());
    return out;
}

/// By the definition: known ones by value, equal ones by id, missing ones last.
template <class Id>
Sorted<Id> sort_plainly(const std::vector<double>& values, const std::vector<Row>& rows) {
    Sorted<Id> out{std::vector<Id>(rows.size()), std::vector<Id>(rows.size()), {}};
    const auto value = [&](Id id) { return values[rows[id]]; };
    std::iota(out.list.begin(), out.list.end(), Id{0});
    std::stable_sort(out.list.begin(), out.list.end(), [&](Id a, Id b) {
        if (std::isnan(value(b))) return !std::isnan(value(a));
        return value(a) < value(b);
    });
    std::size_t n_distinct = 0, n_known = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Id id = out.list[i];
        if (std::isnan(value(id))) {
            out.rank[id] = missing_rank<Id>;
            continue;
        }
        if (i > 0 && value(out.list[i - 1]) != value(id)) ++n_distinct;
        out.rank[id] = static_cast<Id>(n_distinct);
        ++n_known;
    }
    out.facts = {n_known == 0 || (n_known == rows.size() && n_distinct == 0), n_known < rows.size()};
    return out;
}

/// Whether ranks order the ids as they should; which numbers they are is free.
template <class Id>
bool same_order(const std::vector<Id>& list, const std::vector<Id>& a, const std::vector<Id>& b) {
    for (std::size_t i = 1; i < list.size(); ++i) {
        const Id before = list[i - 1], here = list[i];
        if ((a[before] < a[here]) != (b[before] < b[here])) return false;
        if ((a[before] == a[here]) != (b[before] == b[here])) return false;
    }
    return true;
}

template <class Id>
void compare(const Column& column, const std::vector<double>& values, const std::vector<Row>& rows) {
    const auto expected = sort_plainly<Id>(values, rows);
    const auto found = sort_with_core<Id>(column, rows);
    CHECK(found.list == expected.list);
    CHECK(same_order(found.list, found.rank, expected.rank));
    CHECK_EQUAL(found.facts.is_constant, expected.facts.is_constant);
    CHECK_EQUAL(found.facts.has_missing, expected.facts.has_missing);
}

std::vector<Row> every_third(std::size_t n) {
    std::vector<Row> rows;
    for (std::size_t row = 0; row < n; row += 3) rows.push_back(static_cast<Row>(n - 1 - row));
    return rows;
}

}  // namespace

TEST("sorting: by value, by bin and by rank all give the order of the values") {
    Interrupt interrupt = tables::undisturbed();
    Pool pool(1, interrupt);
    for (const std::size_t n : {1, 2, 7, 60, 500, 3000})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            const auto values = tables::mixed_numbers(n, seed);
            const auto rows = every_third(n);
            std::vector<Column> columns{tables::column_of(values)};
            compare<std::uint16_t>(columns[0], values, rows);
            compare<std::uint32_t>(columns[0], values, rows);
            const auto ranks = rank_cells(columns, n, pool, interrupt);
            columns[0].ranks = ranks.data();
            compare<std::uint16_t>(columns[0], values, rows);
            columns[0].ranks = nullptr;
            const auto bins = bin_columns(columns, n, pool, interrupt);
            columns[0].fine_bins = bins.fine.data();
            columns[0].fine_stride = 1;
            columns[0].is_mixed = bins.is_mixed.data();
            compare<std::uint16_t>(columns[0], values, rows);
            compare<std::uint32_t>(columns[0], values, rows);
        }
}

TEST("sorting: a constant column, one of missing values, one of both") {
    const std::vector<Row> rows{0, 1, 2};
    for (const auto& values :
         {std::vector<double>{5, 5, 5}, std::vector<double>{0.0, -0.0, 0.0},
          std::vector<double>(3, tables::missing), std::vector<double>{5, tables::missing, 5}})
        compare<std::uint16_t>(tables::column_of(values), values, rows);
}

TEST("sorting: categories are in the order of their codes") {
    const std::vector<std::int32_t> codes{3, -1, 0, 3, 2, 0, -1};
    const std::vector<double> values{3, tables::missing, 0, 3, 2, 0, tables::missing};
    const std::vector<Row> rows{0, 1, 2, 3, 4, 5, 6};
    compare<std::uint16_t>(tables::column_of(codes, 4), values, rows);
}

TEST("sorting: keys order as numbers do") {
    const double ascending[] = {
        -std::numeric_limits<double>::infinity(), -1e300, -1.5, -1e-300, 0.0, 5e-324, 1e-300, 1.5, 1e300,
        std::numeric_limits<double>::infinity()};
    for (std::size_t i = 1; i < std::size(ascending); ++i)
        CHECK(order_key(ascending[i - 1]) < order_key(ascending[i]));
    CHECK_EQUAL(order_key(-0.0), order_key(0.0));
}

TEST("sorting: several threads put the rows of a table in the same order") {
    Interrupt interrupt = tables::undisturbed();
    constexpr std::size_t n = 70001;
    std::vector<std::int32_t> labels;
    std::vector<double> numbers, weight;
    Random random{7};
    for (std::size_t row = 0; row < n; ++row) {
        labels.push_back(static_cast<std::int32_t>(random.below(3)));
        numbers.push_back(static_cast<double>(random.below(1000)));
        weight.push_back(random.below(5) == 0 ? 0.0 : random.uniform());
    }
    const auto sorted = [&](bool by_label, bool is_weighted, std::size_t n_threads) {
        Problem problem;
        problem.n_rows = n;
        problem.interrupt = &interrupt;
        if (by_label) {
            problem.targets.labels = labels.data();
            problem.targets.n_classes = {3};
        } else {
            problem.targets.numbers = numbers.data();
        }
        problem.targets.weight = is_weighted ? weight.data() : nullptr;
        Pool pool(n_threads, interrupt);
        sort_rows(problem, pool);
        return problem.rows;
    };
    for (const bool by_label : {true, false})
        for (const bool is_weighted : {false, true}) {
            const auto expected = sorted(by_label, is_weighted, 1);
            for (const std::size_t n_threads : {2, 3})
                CHECK(sorted(by_label, is_weighted, n_threads) == expected);
        }
}
