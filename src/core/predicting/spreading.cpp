// Sending rows with missing values down both sides of a finished tree.
#include "predicting/applying.hpp"

namespace treewright {

Parts spread(const TreeView& tree, std::span<const double> weight, const std::vector<Column>& columns,
             std::size_t first, std::size_t n_rows, std::size_t most, Interrupt& interrupt) {
    struct Place {
        std::size_t node;
        double share;
    };
    Parts parts;
    std::vector<Place> waiting;  // right children that come later
    for (std::size_t row = first; row < n_rows && (row == first || parts.leaf.size() < most); ++row) {
        interrupt.check();
        waiting.push_back({0, 1.0});
        while (!waiting.empty()) {
            auto [node, share] = waiting.back();
            waiting.pop_back();
            while (!tree.is_leaf(node)) {
                const std::size_t left = tree.left(node), right = tree.right(node);
                if (!tree.misses(tree.feature[node], columns, row)) {
                    node = tree.goes_left(node, columns, row) ? left : right;
                    continue;
                }
                const double to_right = share * (weight[right] / weight[node]);
                share *= weight[left] / weight[node];
                if (to_right > 0) waiting.push_back({right, to_right});
                if (!(share > 0)) break;
                node = left;
            }
            if (!(share > 0)) continue;
            parts.leaf.push_back(static_cast<std::int32_t>(node));
            parts.share.push_back(share);
        }
        parts.start.push_back(std::ssize(parts.leaf));
    }
    return parts;
}

}  // namespace treewright
