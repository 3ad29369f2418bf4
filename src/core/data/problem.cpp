// The canonical order of the rows.
#include "data/problem.hpp"

#include <array>
#include <functional>
#include <numeric>

namespace treewright {

namespace {

/// Sorting that Ctrl-C can stop. Counting comparisons costs some percent, so short lists go without.
template <class Item, class Before, class Sort>
void sort_long(std::vector<Item>& items, Interrupt& interrupt, Before before, Sort sort) {
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

/// Sorting (key, row) pairs is several times faster than comparing through the rows.
template <class KeyOf>
void sort_by_keys(std::span<Row> rows, Interrupt& interrupt, KeyOf key_of) {
    std::vector<std::pair<std::uint64_t, Row>> keys;
    keys.reserve(rows.size());
    for (const Row row : rows) keys.emplace_back(key_of(row), row);
    sort_long(keys, interrupt, std::less<>(), [](auto... a) { std::sort(a...); });
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

void sort_by_weight(std::span<Row> rows, const Problem& problem) {
    if (!sort_by_counts(rows, problem))
        sort_by_keys(rows, *problem.interrupt, [&](Row row) { return order_key(problem.weight(row)); });
}

/// One output of classes, the common case: a counting sort, then each class by weight.
void sort_by_label(Problem& problem) {
    std::vector<std::size_t> start(problem.targets.n_classes[0] + 1, 0);
    const auto counts = [&](std::size_t row) { return problem.weight(static_cast<Row>(row)) > 0; };
    for (std::size_t row = 0; row < problem.n_rows; ++row)
        start[problem.targets.labels[row] + 1] += counts(row);
    std::partial_sum(start.begin(), start.end(), start.begin());
    problem.rows.resize(start.back());
    auto place = start;
    for (std::size_t row = 0; row < problem.n_rows; ++row)
        if (counts(row)) problem.rows[place[problem.targets.labels[row]]++] = static_cast<Row>(row);
    for (std::size_t k = 0; problem.is_weighted() && k + 1 < start.size(); ++k)
        sort_by_weight(std::span(problem.rows).subspan(start[k], start[k + 1] - start[k]), problem);
}

/// One output of numbers: by number, then equal ones by weight.
void sort_by_number(Problem& problem) {
    problem.rows.clear();
    for (std::size_t row = 0; row < problem.n_rows; ++row)
        if (problem.weight(static_cast<Row>(row)) > 0) problem.rows.push_back(static_cast<Row>(row));
    sort_by_keys(problem.rows, *problem.interrupt,
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
    sort_long(problem.rows, *problem.interrupt, before, [](auto... a) { std::stable_sort(a...); });
}

}  // namespace

void sort_rows(Problem& problem) {
    const bool is_single = problem.targets.n_outputs == 1;
    if (is_single && problem.targets.are_classes()) {
        sort_by_label(problem);
    } else if (is_single) {
        sort_by_number(problem);
    } else {
        sort_by_all(problem);
    }
}

}  // namespace treewright
