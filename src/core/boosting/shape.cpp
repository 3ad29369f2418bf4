// A boosted tree in the arrays in which trees are handed out.
#include "boosting/shape.hpp"

namespace treewright::boosting {

namespace {

void write_subset(const BoostedSplit& split, std::size_t node, const Column& column,
                  const std::vector<std::uint8_t>& cell, GrownTree& tree) {
    const auto n = static_cast<std::size_t>(column.n_categories);
    const std::size_t start = tree.subsets.size();
    tree.subset[node] = static_cast<std::int64_t>(start);
    tree.subsets.resize(start + (n + 7) / 8, 0);
    for (std::size_t code = 0; code < n; ++code)
        if (split.goes_left[cell[code]])
            tree.subsets[start + code / 8] |= static_cast<std::uint8_t>(1U << (code % 8));
}

}  // namespace

void number_steps(std::vector<BoostedNode>& nodes) {
    OpenNodes frontier(true);
    const auto open = [&](std::int32_t node, bool is_right) {
        if (nodes[node].left >= 0) frontier.push(OpenNode(nodes[node], node, is_right));
    };
    open(0, false);
    for (std::int32_t step = 0; !frontier.is_empty(); ++step) {
        const auto node = frontier.take().node;
        nodes[node].step = step;
        open(nodes[node].left, false);
        open(nodes[node].left + 1, true);
    }
}

std::vector<std::int32_t> depth_first(const std::vector<BoostedNode>& nodes) {
    std::vector<std::int32_t> order, stack{0};
    while (!stack.empty()) {
        const auto node = stack.back();
        stack.pop_back();
        order.push_back(node);
        if (nodes[node].left < 0) continue;
        stack.push_back(nodes[node].left + 1);
        stack.push_back(nodes[node].left);
    }
    return order;
}

GrownTree shape(const std::vector<BoostedNode>& nodes, const std::vector<std::int32_t>& order,
                const std::vector<Column>& columns, const Cells& cells) {
    const std::size_t n = order.size();
    GrownTree tree(n);
    for (std::size_t i = n; i-- > 0;) {
        const BoostedNode& node = nodes[order[i]];
        tree.rows[i] = static_cast<std::int64_t>(node.rows.size());
        if (node.left < 0) continue;
        tree.end[i] = tree.end[tree.end[i + 1]];
        tree.step[i] = node.step;
        tree.feature[i] = static_cast<std::int32_t>(node.split.column);
        tree.missing_left[i] = node.split.missing_left;
        if (columns[node.split.column].is_category()) continue;
        tree.low[i] = node.split.low;
        tree.high[i] = node.split.high;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const BoostedNode& node = nodes[order[i]];
        const std::size_t column = node.split.column;
        if (node.left >= 0 && columns[column].is_category())
            write_subset(node.split, i, columns[column], cells.columns[column].of_category, tree);
    }
    return tree;
}

}  // namespace treewright::boosting
