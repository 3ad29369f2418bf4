// Where the rows of a node go.
#include "growers/constrained/routing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace treewright::constrained {

namespace {

/// Where missing values go; -1 where surrogates or shares decide.
int missing_branch(const Task& task, const Cut& cut) {
    if (task.options.scores_known()) return -1;
    if (cut.form == Cut::Form::multiway) return cut.missing_branch;
    if (cut.form == Cut::Form::three_way) return 2;
    return cut.split.missing_left ? 0 : 1;
}

/// Rows of one target and weight in the order of their shares: sums do not depend on the order of the table.
void put_in_order(const Problem& problem, Entries& entries) {
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto alike = [&](std::size_t a, std::size_t b) {
        const Row one = problem.rows[entries.ids[a]], other = problem.rows[entries.ids[b]];
        return problem.weight(one) == problem.weight(other) && problem.same_target(one, other);
    };
    for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
        for (end = begin + 1; end < order.size() && alike(begin, end);) ++end;
        std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](auto a, auto b) { return entries.shares[a] < entries.shares[b]; });
    }
    Entries sorted;
    for (const auto i : order) {
        sorted.ids.push_back(entries.ids[i]);
        sorted.shares.push_back(entries.shares[i]);
    }
    entries = std::move(sorted);
}

}  // namespace

std::vector<int> branches_of(const Task& task, std::span<const Id> ids, const Cut& cut) {
    const Column& column = task.problem.columns[cut.split.column];
    const int missing = missing_branch(task, cut);
    std::vector<int> branch(ids.size());
    if (!column.is_category()) {
        with_values(column, [&](auto value) {
            for (std::size_t i = 0; i < ids.size(); ++i) {
                const double v = value(task.row(ids[i]));
                branch[i] = std::isnan(v) ? missing : v <= cut.split.low ? 0 : 1;
            }
        });
        return branch;
    }
    std::vector<int> of_code(static_cast<std::size_t>(column.n_categories), 1);
    const bool is_multiway = cut.form == Cut::Form::multiway;
    for (std::size_t g = 0; g < cut.split.left_codes.size(); ++g)
        of_code[cut.split.left_codes[g]] = is_multiway ? static_cast<int>(g) : 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto code = column.code(task.row(ids[i]));
        branch[i] = code < 0 ? missing : of_code[code];
    }
    return branch;
}

std::size_t count_branches(const Problem& problem, const Cut& cut) {
    if (cut.form != Cut::Form::multiway) return cut.weights.size();
    const auto n_categories = static_cast<std::size_t>(problem.columns[cut.split.column].n_categories);
    return cut.weights.size() + (cut.split.left_codes.size() < n_categories ? 1 : 0);
}

std::size_t heaviest_branch(const Cut& cut) {
    return static_cast<std::size_t>(std::max_element(cut.weights.begin(), cut.weights.end()) -
                                    cut.weights.begin());
}

std::vector<Entries> divide(const Problem& problem, const Entries& entries, const std::vector<int>& branch,
                            const Cut& cut) {
    const double known = std::accumulate(cut.weights.begin(), cut.weights.end(), 0.0);
    const bool has_shares = !entries.shares.empty() || std::count(branch.begin(), branch.end(), -1) > 0;
    std::vector<Entries> children(count_branches(problem, cut));
    const auto put = [&](std::size_t child, std::size_t i, double part) {
        children[child].ids.push_back(entries.ids[i]);
        if (has_shares) children[child].shares.push_back(entries.share(i) * part);
    };
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (branch[i] >= 0)
            put(static_cast<std::size_t>(branch[i]), i, 1.0);
        else
            for (std::size_t child = 0; child < cut.weights.size(); ++child)
                put(child, i, cut.weights[child] / known);
    }
    for (auto& child : children) {
        if (!has_shares) continue;
        if (std::all_of(child.shares.begin(), child.shares.end(), [](double share) { return share == 1.0; }))
            child.shares.clear();
        else
            put_in_order(problem, child);
    }
    return children;
}

}  // namespace treewright::constrained
