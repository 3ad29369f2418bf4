// The canonical order of the rows.
#include "problem.hpp"

#include <functional>
#include <numeric>

namespace treewright {

namespace {

/// One output of classes without weights, the common case: a counting sort.
void sort_by_label(Problem& problem) {
    std::vector<std::size_t> start(problem.targets.n_classes[0] + 1, 0);
    for (std::size_t row = 0; row < problem.n_rows; ++row) ++start[problem.targets.labels[row] + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    problem.rows.resize(problem.n_rows);
    for (std::size_t row = 0; row < problem.n_rows; ++row)
        problem.rows[start[problem.targets.labels[row]]++] = static_cast<Row>(row);
}

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

/// One output of numbers: sorting (key, row) pairs is several times faster than comparing through the rows.
void sort_by_number(Problem& problem) {
    std::vector<std::pair<std::uint64_t, Row>> keys;
    keys.reserve(problem.n_rows);
    for (std::size_t row = 0; row < problem.n_rows; ++row)
        if (problem.weight(static_cast<Row>(row)) > 0)
            keys.emplace_back(order_key(problem.targets.numbers[row]), static_cast<Row>(row));
    sort_long(keys, *problem.interrupt, std::less<>(), [](auto... a) { std::sort(a...); });
    problem.rows.clear();
    for (const auto& [key, row] : keys) problem.rows.push_back(row);
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
    const bool simple = problem.targets.n_outputs == 1 && !problem.is_weighted();
    if (simple && problem.targets.are_classes()) {
        sort_by_label(problem);
    } else if (simple) {
        sort_by_number(problem);
    } else {
        sort_by_all(problem);
    }
}

}  // namespace treewright
