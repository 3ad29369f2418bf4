// The leaves that wait to be split.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "growers/split.hpp"

namespace treewright {

/// worth() is what leaves compete by, made() the order of their making.
template <class L>
concept OpenLeaf = requires(const L leaf) {
    { leaf.worth() } -> std::convertible_to<double>;
    { leaf.made() } -> std::convertible_to<std::int64_t>;
};

/// A worth as it is, where it comes from sums that are not rounded.
inline double unrounded(double worth) { return worth; }

/// With a budget of splits the best leaf goes first, and of two that are worth the same the one made first.
/// Without one the order does not matter to the tree: the leaf that came last goes first, whose rows are in
/// cache. `rank` says which worths are the same.
template <OpenLeaf Leaf, double (*rank)(double) = &ranked>
class Frontier {
  public:
    explicit Frontier(bool is_best_first = false) : is_best_first_(is_best_first) {}

    bool is_empty() const { return leaves_.empty(); }
    /// Those that wait, in no order.
    const std::vector<Leaf>& leaves() const { return leaves_; }
    void push(Leaf&& leaf) {
        leaves_.push_back(std::move(leaf));
        if (is_best_first_) std::push_heap(leaves_.begin(), leaves_.end(), &goes_after);
    }
    /// The leaf that goes next.
    const Leaf& next() const { return is_best_first_ ? leaves_.front() : leaves_.back(); }
    Leaf take() {
        if (is_best_first_) std::pop_heap(leaves_.begin(), leaves_.end(), &goes_after);
        Leaf leaf = std::move(leaves_.back());
        leaves_.pop_back();
        return leaf;
    }
    /// All leaves; without a budget in the order of their coming.
    std::vector<Leaf> take_all() { return std::exchange(leaves_, {}); }

  private:
    static bool goes_after(const Leaf& one, const Leaf& other) {
        const double mine = rank(one.worth()), others = rank(other.worth());
        return mine != others ? mine < others : one.made() > other.made();
    }

    std::vector<Leaf> leaves_;  // a heap where the best one goes first, otherwise a stack
    bool is_best_first_;
};

}  // namespace treewright
