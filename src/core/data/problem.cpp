// The canonical order of the rows.
#include "data/problem.hpp"

#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

namespace treewright {

namespace {

/// Rows below which one thread sorts as fast as several.
constexpr std::size_t worth_threads = 30000;

/// Sorting that Ctrl-C can stop. Counting comparisons costs some percent, so short lists go without.
template <class Item, class Before, class Sort>
void sort_long(std::span<Item> items, Interrupt& interrupt, Before before, Sort sort) {
    constexpr std::size_t few = std::size_t{1} << 20;
    if (items.size() <= few) {
        sort(items.begin(), items.end(), before);
        return;
    }
    std::size_t n_compared = 0;
    sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
        if (++n_compared % few == 0) interrupt.check();
        return before(a, b);
    });
}

/// Sorts a part for each thread, then merges neighbours. Equal items may come in any order.
template <class Item>
void sort_shared(std::span<Item> items, Interrupt& interrupt, Pool& pool) {
    const std::size_t n_parts = items.size() < worth_threads ? 1 : std::bit_ceil(pool.size());
    const auto place = [&](std::size_t part) {
        return items.begin() + static_cast<std::ptrdiff_t>(items.size() * part / n_parts);
    };
    pool.run(n_parts, [&](std::size_t part, std::size_t) {
        sort_long(std::span(place(part), place(part + 1)), interrupt, std::less<>(),
                  [](auto... a) { std::sort(a...); });
    });
    for (std::size_t merged = 2; merged <= n_parts; merged *= 2)
        pool.run(n_parts / merged, [&](std::size_t pair, std::size_t) {
            interrupt.check();
            std::inplace_merge(place(pair * merged), place(pair * merged + merged / 2),
                               place((pair + 1) * merged));
        });
}

/// Sorting (key, row) pairs is several times faster than comparing through the rows.
template <class KeyOf>
void sort_by_keys(std::span<Row> rows, Interrupt& interrupt, Pool& pool, KeyOf key_of) {
    std::vector<std::pair<std::uint64_t, Row>> keys;
    keys.reserve(rows.size());
    for (const Row row : rows) keys.emplace_back(key_of(row), row);
    sort_shared(std::span(keys), interrupt, pool);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = keys[i].second;
}

/// Rows by weight where all weights are small whole numbers, as draws of rows are: a counting sort. False
/// where they are not, and nothing is moved.
bool sort_by_counts(std::span<Row> rows, const Problem& problem) {
    constexpr std::size_t n_counts = 256;
    std::array<std::size_t, n_counts + 1> start{};
    for (const Row row : rows) {
        const double weight = problem.weight(row);
        if (!(weight < n_counts) || weight != std::floor(weight)) return false;
        ++start[static_cast<std::size_t>(weight) + 1];
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    const std::vector<Row> before(rows.begin(), rows.end());
    for (const Row row : before) rows[start[static_cast<std::size_t>(problem.weight(row))]++] = row;
    return true;
}

void sort_by_weight(std::span<Row> rows, const Problem& problem, Pool& pool) {
    if (!sort_by_counts(rows, problem))
        sort_by_keys(rows, *problem.interrupt, pool, [&](Row row) { return order_key(problem.weight(row)); });
}

/// One output of classes, the common case: a counting sort, each thread a part of the table; then each class
/// by weight.
void sort_by_label(Problem& problem, Pool& pool) {
    const auto n_classes = static_cast<std::size_t>(problem.targets.n_classes[0]);
    const std::size_t n_parts = problem.n_rows < worth_threads ? 1 : pool.size();
    const auto for_each_row = [&](std::size_t part, auto&& work) {
        const std::size_t end = problem.n_rows * (part + 1) / n_parts;
        for (std::size_t row = problem.n_rows * part / n_parts; row < end; ++row)
            if (problem.weight(static_cast<Row>(row)) > 0)
                work(static_cast<Row>(row), static_cast<std::size_t>(problem.targets.labels[row]));
    };
    std::vector<std::vector<std::size_t>> place(n_parts, std::vector<std::size_t>(n_classes, 0));
    pool.run(n_parts, [&](std::size_t part, std::size_t) {
        for_each_row(part, [&](Row, std::size_t label) { ++place[part][label]; });
    });
    std::vector<std::size_t> start;
    std::size_t n_rows = 0;
    for (std::size_t k = 0; k < n_classes; ++k) {
        start.push_back(n_rows);
        for (auto& of_part : place) n_rows += std::exchange(of_part[k], n_rows);
    }
    start.push_back(n_rows);
    problem.rows.resize(n_rows);
    pool.run(n_parts, [&](std::size_t part, std::size_t) {
        for_each_row(part, [&](Row row, std::size_t label) { problem.rows[place[part][label]++] = row; });
    });
    for (std::size_t k = 0; problem.is_weighted() && k < n_classes; ++k)
        sort_by_weight(std::span(problem.rows).subspan(start[k], start[k + 1] - start[k]), problem, pool);
}

/// One output of numbers: by number, then equal ones by weight.
void sort_by_number(Problem& problem, Pool& pool) {
    problem.rows.clear();
    for (std::size_t row = 0; row < problem.n_rows; ++row)
        if (problem.weight(static_cast<Row>(row)) > 0) problem.rows.push_back(static_cast<Row>(row));
    sort_by_keys(problem.rows, *problem.interrupt, pool,
                 [&](Row row) { return order_key(problem.targets.numbers[row]); });
    const std::span rows(problem.rows);
    for (std::size_t begin = 0, end; problem.is_weighted() && begin < rows.size(); begin = end) {
        for (end = begin + 1; end < rows.size() && problem.number(rows[end]) == problem.number(rows[begin]);)
            ++end;
        if (end - begin > 1)
            std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                             rows.begin() + static_cast<std::ptrdiff_t>(end),
                             [&](Row a, Row b) { return problem.weight(a) < problem.weight(b); });
    }
}

void sort_by_all(Problem& problem) {
    problem.rows.clear();
    for (std::size_t row = 0; row < problem.n_rows; ++row)
        if (problem.weight(static_cast<Row>(row)) > 0) problem.rows.push_back(static_cast<Row>(row));
    const auto before = [&](Row a, Row b) {
        for (std::size_t output = 0; output < problem.targets.n_outputs; ++output) {
            if (problem.targets.are_classes()) {
                if (problem.label(a, output) != problem.label(b, output))
                    return problem.label(a, output) < problem.label(b, output);
            } else if (problem.number(a, output) != problem.number(b, output)) {
                return problem.number(a, output) < problem.number(b, output);
            }
        }
        return problem.weight(a) < problem.weight(b);
    };
    sort_long(std::span(problem.rows), *problem.interrupt, before, [](auto... a) { std::stable_sort(a...); });
}

}  // namespace

void sort_rows(Problem& problem, Pool& pool) {
    const bool is_single = problem.targets.n_outputs == 1;
    if (is_single && problem.targets.are_classes()) {
        sort_by_label(problem, pool);
    } else if (is_single) {
        sort_by_number(problem, pool);
    } else {
        sort_by_all(problem);
    }
}

}  // namespace treewright
