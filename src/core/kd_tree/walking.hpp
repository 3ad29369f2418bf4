// The way of a query through a k-d tree: down to its own leaf, and back into all others that may hold a point
// near enough.
//
// The distance to a node's box follows from that of its parent: only one column moves (Arya and Mount, 1993).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kd_tree/kd_tree.hpp"
#include "kd_tree/keeping.hpp"
#include "support/portable.hpp"

namespace treewright {

/// By how much, of their size, two ways to add up the same distance may differ by rounding, and then some.
template <class T>
double slack_of(const KDTree<T>& tree) {
    return 4.0 * static_cast<double>(tree.n_columns + tree.depth + 4) *
           std::numeric_limits<double>::epsilon();
}

template <class T>
std::uint32_t leaf_of(const KDTree<T>& tree, const double* query) {
    std::uint32_t node = 0;
    while (tree.nodes[node].column != no_column) {
        const KDNode<T>& here = tree.nodes[node];
        node = query[here.column] < here.cut ? node + 1 : here.right;
    }
    return tree.nodes[node].right;
}

/// Walks for one thread. `Fixed` is the number of columns if it is known when compiling, else 0.
template <class T, class Metric, std::size_t Fixed>
class Walker {
  public:
    Walker(const KDTree<T>& tree, const Metric& metric, Interrupt& interrupt)
        : tree_(tree),
          metric_(metric),
          interrupt_(interrupt),
          side_(tree.n_columns),
          stack_(tree.depth + 1) {}

    /// How many points were looked at since the last question.
    std::size_t visited() { return std::exchange(visited_, 0); }

    template <class Keeper>
    void find(const double* query, Keeper& keeper) {
        std::size_t n_waiting = 0;
        double bound = away(query);
        std::uint32_t node = 0;
        while (true) {
            for (; tree_.nodes[node].column != no_column; ++n_waiting) {
                const KDNode<T>& here = tree_.nodes[node];
                const double x = query[here.column], cut = here.cut;
                const bool goes_left = x < cut;
                const double gap = goes_left ? cut - x : x - here.low;
                stack_[n_waiting] = {metric_.moved(bound, side_[here.column], gap), gap,
                                     goes_left ? here.right : node + 1, here.column};
                node = goes_left ? node + 1 : here.right;
            }
            const KDLeaf& leaf = tree_.leaves[tree_.nodes[node].right];
            scan(leaf, leaf.home, query, keeper);
            // back to the last turn where the other way may still lead to something
            for (; n_waiting > 0; --n_waiting) {
                Turn& turn = stack_[n_waiting - 1];
                if (turn.node == taken)
                    side_[turn.column] = turn.gap;  // as it was before
                else if (!(turn.bound > keeper.reach()))
                    break;
            }
            if (n_waiting == 0) return;
            Turn& turn = stack_[n_waiting - 1];
            node = std::exchange(turn.node, taken);
            bound = turn.bound;
            std::swap(side_[turn.column], turn.gap);
        }
    }

    /// Offers the first points of a leaf.
    template <class Keeper>
    void scan(const KDLeaf& leaf, std::size_t n, const double* query, Keeper& keeper) {
        const std::uint32_t* index = tree_.index.data() + leaf.begin;
        const T* block = tree_.coordinates.data() + leaf.begin * tree_.n_columns;
        visited_ += n;
        for (std::size_t first = 0; first < n; first += n_together) {
            const std::size_t m = std::min(n_together, n - first);
            rest(m);
            if (!measure(block + first, leaf.size, m, query, keeper.limit())) continue;
            for (std::size_t i = 0; i < m; ++i)
                if (sums_[i] <= keeper.limit()) keeper.offer({sums_[i], index[first + i]});
        }
    }

  private:
    static constexpr std::uint32_t taken = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t n_together = 64;

    /// A node whose other child waits; once that is `taken`, `gap` is what to put back.
    struct Turn {
        double bound, gap;
        std::uint32_t node, column;
    };

    /// The distance to the box around all points.
    double away(const double* query) {
        double bound = 0;
        const std::size_t d = Fixed ? Fixed : tree_.n_columns;
        for (std::size_t c = 0; c < d; ++c) {
            const double below = tree_.lowest[c] - query[c], above = query[c] - tree_.highest[c];
            side_[c] = std::max(0.0, std::max(below, above));
            bound = metric_.join(bound, metric_.term(side_[c]));
        }
        return bound;
    }

    /// The distances of some points; false where all are beyond the limit, which may show early.
    bool measure(const T* TREEWRIGHT_RESTRICT block, std::size_t stride, std::size_t m, const double* query,
                 double limit) {
        if constexpr (Fixed == 0) return measure_any(block, stride, m, query, limit);
        for (std::size_t i = 0; i < m; ++i) {
            double sum = 0;
            for (std::size_t c = 0; c < Fixed; ++c)
                sum = metric_.join(sum, metric_.term(query[c] - block[c * stride + i]));
            sums_[i] = sum;
        }
        return true;
    }
    /// The same of any number of columns, four at a time; compiled once for all keepers.
    TREEWRIGHT_FLATTEN bool measure_any(const T* TREEWRIGHT_RESTRICT block, std::size_t stride, std::size_t m,
                                        const double* query, double limit) {
        double* TREEWRIGHT_RESTRICT sums = sums_;
        std::fill_n(sums, m, 0.0);
        std::size_t c = 0;
        const std::size_t d = tree_.n_columns;
        for (; c + 4 <= d; c += 4) {
            const T* TREEWRIGHT_RESTRICT x = block + c * stride;
            const double q0 = query[c], q1 = query[c + 1], q2 = query[c + 2], q3 = query[c + 3];
            for (std::size_t i = 0; i < m; ++i) {
                double sum = metric_.join(sums[i], metric_.term(q0 - x[i]));
                sum = metric_.join(sum, metric_.term(q1 - x[stride + i]));
                sum = metric_.join(sum, metric_.term(q2 - x[2 * stride + i]));
                sums[i] = metric_.join(sum, metric_.term(q3 - x[3 * stride + i]));
            }
            if (c % 8 == 4 && c + 4 < d) {
                bool any = false;
                for (std::size_t i = 0; i < m; ++i) any |= sums[i] <= limit;
                if (!any) return false;
            }
        }
        for (; c < d; ++c)
            for (std::size_t i = 0; i < m; ++i)
                sums[i] = metric_.join(sums[i], metric_.term(query[c] - block[c * stride + i]));
        return true;
    }

    /// Looks for Ctrl-C every few milliseconds.
    void rest(std::size_t n) {
        work_ += n * (Fixed ? Fixed : tree_.n_columns) + 16;
        if (work_ < 500'000) return;
        work_ = 0;
        interrupt_.check();
    }

    const KDTree<T>& tree_;
    [[no_unique_address]] const Metric metric_;
    Interrupt& interrupt_;
    std::vector<double> side_;  // how far the box is away, in each column
    std::vector<Turn> stack_;
    double sums_[n_together];
    std::size_t visited_ = 0, work_ = 0;
};

}  // namespace treewright
