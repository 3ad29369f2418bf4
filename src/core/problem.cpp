// The canonical order of the rows.
#include "problem.hpp"

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

/// One output of numbers: sorting (key, row) pairs is several times faster than comparing through the rows.
void sort_by_number(Problem& problem) {
    std::vector<std::pair<std::uint64_t, Row>> keys;
    keys.reserve(problem.n_rows);
    for (std::size_t row = 0; row < problem.n_rows; ++row)
        if (problem.weight(static_cast<Row>(row)) > 0)
            keys.emplace_back(order_key(problem.targets.numbers[row]), static_cast<Row>(row));
    std::sort(keys.begin(), keys.end());
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
    std::stable_sort(problem.rows.begin(), problem.rows.end(), before);
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
