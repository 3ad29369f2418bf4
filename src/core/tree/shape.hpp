// The shape of a tree in preorder: node i's subtree is [i, end[i]), its left child is i + 1, its right child
// end[i + 1].
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

namespace treewright {

using Shape = std::span<const std::int32_t>;

/// A tree of more nodes is never made.
inline std::int32_t n_nodes(Shape end) { return static_cast<std::int32_t>(end.size()); }
inline bool is_leaf(Shape end, std::int64_t node) { return end[node] == node + 1; }

/// Calls visit(node, left, right) for every branch, children before their parents. What is not the shape of
/// one tree is refused, before anything outside the arrays could be touched.
template <class Visit>
void for_each_branch(Shape end, Visit visit) {
    const std::int32_t n = n_nodes(end);
    const auto refuse = [] { throw std::invalid_argument("`end` is not the shape of a tree"); };
    if (n == 0 || end[0] != n) refuse();
    for (std::int32_t node = n; node-- > 0;) {
        if (is_leaf(end, node)) continue;
        const std::int32_t left = node + 1, right = left < n ? end[left] : n;
        if (right >= n || end[node] != end[right]) refuse();
        visit(node, left, right);
    }
}

inline void check_shape(Shape end) {
    for_each_branch(end, [](auto...) {});
}

}  // namespace treewright
