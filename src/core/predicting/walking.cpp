// Laying a tree of thresholds out for walking.
#include "predicting/walking.hpp"

namespace treewright {

NumberTree::NumberTree(const TreeView& tree) : nodes_(1, 0) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto above = [](double x) { return x == infinity ? never : std::nextafter(x, infinity); };
    steps_.reserve(tree.size());
    nodes_.reserve(tree.size());
    std::size_t next_level = 1;  // where the nodes of the next depth begin
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (i == next_level) {
            ++height_;
            next_level = nodes_.size();
        }
        const std::size_t node = nodes_[i];
        if (tree.is_leaf(node)) {
            steps_.push_back({never, static_cast<std::uint32_t>(i), 0});
            continue;
        }
        const bool missing_left = tree.missing_left[node] != 0;
        const double threshold = tree.threshold[node];
        steps_.push_back({missing_left ? above(threshold) : -threshold,
                          static_cast<std::uint32_t>(nodes_.size()),
                          static_cast<std::uint32_t>(tree.feature[node]) << 1 | !missing_left});
        const auto left = static_cast<std::int32_t>(tree.left(node));
        const auto right = static_cast<std::int32_t>(tree.right(node));
        nodes_.push_back(missing_left ? left : right);
        nodes_.push_back(missing_left ? right : left);
    }
}

}  // namespace treewright
