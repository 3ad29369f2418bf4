// From the nodes of the constrained grower to the finished tree.
#include <algorithm>
#include <iterator>

#include "growers/assembly.hpp"
#include "growers/constrained/grower.hpp"

namespace treewright::constrained {

namespace {

/// Lays the rows of the leaves side by side in the order of the tree, so that each node has a segment.
std::vector<std::int32_t> lay_out(Grown& grown) {
    auto& nodes = grown.nodes.nodes;
    std::vector<std::int32_t> leaves, stack{0};
    std::uint32_t n = 0;
    while (!stack.empty()) {
        const auto i = stack.back();
        stack.pop_back();
        if (!nodes[i].is_leaf()) {
            stack.push_back(nodes[i].left + 1);
            stack.push_back(nodes[i].left);
            continue;
        }
        nodes[i].begin = n;
        n += static_cast<std::uint32_t>(grown.entries[i].size());
        nodes[i].end = n;
        leaves.push_back(i);
    }
    for (std::size_t i = nodes.size(); i-- > 0;) {  // children are made after their parents
        if (nodes[i].is_leaf()) continue;
        nodes[i].begin = nodes[nodes[i].left].begin;
        nodes[i].end = nodes[nodes[i].left + 1].end;
    }
    return leaves;
}

/// A table of the entries of all leaves: a row that has gone to several of them has a row here for each part.
struct Parts {
    std::vector<std::int32_t> labels;
    std::vector<double> numbers, weight;
    Problem problem;

    Parts(const Problem& whole, const Grown& grown, const std::vector<std::int32_t>& leaves)
        : problem(whole) {
        std::vector<Row> rows;
        for (const auto leaf : leaves) {
            const Entries& entries = grown.entries[leaf];
            for (std::size_t i = 0; i < entries.size(); ++i) {
                rows.push_back(whole.rows[entries.ids[i]]);
                weight.push_back(whole.weight(rows.back()) * entries.share(i));
            }
        }
        const auto pick = [&](auto& out, auto of) {
            for (std::size_t output = 0; output < whole.targets.n_outputs; ++output)
                for (const Row row : rows) out.push_back(of(row, output));
        };
        if (whole.targets.are_classes())
            pick(labels, [&](Row row, std::size_t output) { return whole.label(row, output); });
        else
            pick(numbers, [&](Row row, std::size_t output) { return whole.number(row, output); });
        problem.n_rows = rows.size();
        problem.rows.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) problem.rows[i] = static_cast<Row>(i);
        problem.targets.labels = whole.targets.are_classes() ? labels.data() : nullptr;
        problem.targets.numbers = whole.targets.are_classes() ? nullptr : numbers.data();
        problem.targets.weight = weight.data();
    }
};

void add_surrogate(const Problem& problem, const Surrogate& surrogate, std::size_t node, Tree& out) {
    out.surrogate_node.push_back(static_cast<std::int32_t>(node));
    out.surrogate_feature.push_back(surrogate.column);
    out.surrogate_low.push_back(surrogate.low + 0.0);  // of two zeros the positive one
    out.surrogate_high.push_back(surrogate.high + 0.0);
    out.surrogate_reversed.push_back(surrogate.reversed);
    out.surrogate_agreement.push_back(surrogate.agreement);
    out.surrogate_adjusted.push_back(surrogate.adjusted);
    if (!problem.columns[surrogate.column].is_category()) return out.surrogate_subset.push_back(-1);
    const std::size_t start = out.surrogate_subsets.size();
    out.surrogate_subset.push_back(static_cast<std::int64_t>(start));
    out.surrogate_subsets.resize(start + (surrogate.is_left.size() + 7) / 8, 0);
    for (std::size_t code = 0; code < surrogate.is_left.size(); ++code)
        if (surrogate.is_left[code])
            out.surrogate_subsets[start + code / 8] |= static_cast<std::uint8_t>(1U << (code % 8));
}

/// A branch without rows answers as the node above it.
void fill_empty_leaves(const Problem& problem, GrownTree& tree) {
    if (problem.targets.are_classes()) return;
    for (std::size_t i = 0; i < tree.end.size(); ++i) {
        if (tree.feature[i] < 0) continue;
        for (const std::size_t child : {i + 1, static_cast<std::size_t>(tree.end[i + 1])})
            for (std::size_t k = 0; tree.rows[child] == 0 && k < tree.width; k += 3)
                tree.statistic[child * tree.width + k + 1] = tree.statistic[i * tree.width + k + 1];
    }
}

}  // namespace

Tree finish(Problem& problem, const Criterion& criterion, Grown&& grown) {
    const auto leaves = lay_out(grown);
    std::vector<std::int32_t> order;
    Tree out;
    const bool has_parts = std::any_of(leaves.begin(), leaves.end(),
                                       [&](auto leaf) { return !grown.entries[leaf].shares.empty(); });
    if (has_parts) {
        Parts parts(problem, grown, leaves);
        out.tree = assemble(parts.problem, criterion, grown.nodes, grown.steps, order);
    } else {
        std::vector<Row> rows;
        for (const auto leaf : leaves)
            std::ranges::copy(rows_of(problem, grown.entries[leaf].ids), std::back_inserter(rows));
        problem.rows = std::move(rows);
        out.tree = assemble(problem, criterion, grown.nodes, grown.steps, order);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        out.tree.rows[i] = grown.n_rows[order[i]];
        out.joined.push_back(grown.joined[order[i]]);
        for (const auto& surrogate : grown.surrogates[order[i]]) add_surrogate(problem, surrogate, i, out);
    }
    fill_empty_leaves(problem, out.tree);
    return out;
}

}  // namespace treewright::constrained
