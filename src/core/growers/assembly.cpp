// From grown nodes to the finished tree: choosing the first splits, preorder, statistics.
#include "growers/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "data/grids.hpp"
#include "support/exact_sum.hpp"

namespace treewright {

namespace {

/// The branches that wait, the one with the largest gain first, of equal ones the one made first: a heap.
/// Which of two goes first cannot be foreseen, so it is reckoned without a branch.
class OpenBranches {
  public:
    bool is_empty() const { return heap_.empty(); }
    /// The left child of the first branch.
    std::int32_t first() const { return heap_.front().left; }
    void push(std::uint64_t gain, std::size_t made, std::int32_t left) {
        const Open open{gain, ~static_cast<std::uint32_t>(made), left};
        heap_.push_back(open);
        lift(heap_.size() - 1, open);
    }
    void drop_first() {
        const Open last = heap_.back();
        heap_.pop_back();
        const std::size_t n = heap_.size();
        if (n == 0) return;
        // The last one nearly always goes back to the bottom: down there first, then up.
        std::size_t hole = 0;
        for (std::size_t child = 1; child < n; child = 2 * hole + 1) {
            child += child + 1 < n && heap_[child].goes_after(heap_[child + 1]);
            heap_[hole] = heap_[child];
            hole = child;
        }
        lift(hole, last);
    }

  private:
    struct Open {
        std::uint64_t gain;
        std::uint32_t newness;
        std::int32_t left;

        bool goes_after(const Open& other) const {
            return static_cast<int>(gain < other.gain) |
                   (static_cast<int>(gain == other.gain) & static_cast<int>(newness < other.newness));
        }
    };

    void lift(std::size_t place, const Open& open) {
        for (; place > 0 && heap_[(place - 1) / 2].goes_after(open); place = (place - 1) / 2)
            heap_[place] = heap_[(place - 1) / 2];
        heap_[place] = open;
    }

    std::vector<Open> heap_;
};

/// For every node the step at which the best-first algorithm splits it; -1 for leaves. The order depends on
/// the gains alone, so it does not matter in which order the nodes were really grown.
std::vector<std::int32_t> split_steps(const Nodes& grown, std::int64_t max_splits) {
    // The way through the nodes is random: all that a step asks for lies close together, at the left child of
    // the branch.
    struct Brief {
        std::uint64_t gain;
        std::int32_t left, step_above;
    };
    std::vector<Brief> nodes;
    nodes.reserve(grown.nodes.size());
    for (const auto& node : grown.nodes) nodes.push_back({order_key(ranked(node.gain)), node.left, -1});
    OpenBranches open;
    std::size_t n_made = 0;
    const auto add = [&](const Brief& node) {
        if (node.left >= 0) open.push(node.gain, n_made, node.left);
        ++n_made;
    };
    add(nodes[0]);
    for (std::int32_t step = 0; !open.is_empty() && (max_splits < 0 || step < max_splits); ++step) {
        Brief* const children = &nodes[open.first()];
        open.drop_first();
        if (!open.is_empty()) prefetch(&nodes[open.first()]);
        children[0].step_above = step;
        add(children[0]);
        add(children[1]);
    }
    std::vector<std::int32_t> steps;
    steps.reserve(nodes.size());
    for (const auto& node : nodes) steps.push_back(node.left < 0 ? -1 : nodes[node.left].step_above);
    return steps;
}

/// 0 for every branch and -1 for leaves.
std::vector<std::int32_t> all_splits(const Nodes& grown) {
    std::vector<std::int32_t> steps;
    steps.reserve(grown.nodes.size());
    for (const auto& node : grown.nodes) steps.push_back(node.is_leaf() ? -1 : 0);
    return steps;
}

/// The nodes that are left where those are split that have a step.
std::vector<std::int32_t> preorder(const Nodes& grown, const std::vector<std::int32_t>& steps) {
    std::vector<std::int32_t> order, stack{0};
    order.reserve(grown.nodes.size());
    while (!stack.empty()) {
        const auto node = stack.back();
        stack.pop_back();
        order.push_back(node);
        if (steps[node] < 0) continue;
        stack.push_back(grown.nodes[node].left + 1);
        stack.push_back(grown.nodes[node].left);
    }
    return order;
}

/// Statistics of classes: weights per class, one block per output.
class ClassStatistics {
  public:
    explicit ClassStatistics(const Problem& problem) : problem_(problem) {
        for (const auto k : problem.targets.n_classes)
            start_.push_back(start_.back() + static_cast<std::size_t>(k));
        if (problem.is_weighted()) sums_.resize(width());
    }
    std::size_t width() const { return start_.back(); }
    void fill_leaf(std::size_t, std::span<const Row> rows, double* out) {
        if (!problem_.is_weighted())
            return for_each_part(rows, [&](std::size_t column, double) { ++out[column]; });
        for_each_part(rows, [&](std::size_t column, double weight) { sums_[column].add(weight); });
        for (std::size_t column = 0; column < width(); ++column) {
            if (sums_[column].is_empty()) continue;
            out[column] = sums_[column].rounded();
            sums_[column].clear();
        }
    }
    void fill_parent(std::size_t, std::size_t left, std::size_t right, std::span<const Row>,
                     const double* statistic, double* out) const {
        for (std::size_t i = 0; i < width(); ++i)
            out[i] = statistic[left * width() + i] + statistic[right * width() + i];
    }
    /// Calls visit(column, weight) for every row and output; the columns of an output follow the one before.
    template <class Visit>
    void for_each_part(std::span<const Row> rows, Visit visit) const {
        for (const Row row : rows)
            for (std::size_t output = 0; output + 1 < start_.size(); ++output)
                visit(start_[output] + static_cast<std::size_t>(problem_.label(row, output)),
                      problem_.weight(row));
    }

  private:
    const Problem& problem_;
    std::vector<std::size_t> start_{0};
    std::vector<ExactSum> sums_;  // by column, of one leaf
};

/// Statistics of numbers: weight, value, deviation Σ w·loss(y, value), for each output. Sums over the rows of
/// a leaf are exact and rounded once. Means join as the moments of two samples do (Chan, Golub and LeVeque);
/// the excess is the loss of the two means about the common one, which holds for every Bregman loss. Medians
/// have to be found anew.
/// What rounding took from a mean is kept beside it: neither an offset of all numbers nor an outlier
/// elsewhere in the tree costs digits.
class NumberStatistics {
  public:
    NumberStatistics(const Problem& problem, const Criterion& criterion, std::size_t n_nodes)
        : problem_(problem),
          criterion_(criterion),
          rest_(std::make_shared<std::vector<double>>(n_nodes * problem.targets.n_outputs, 0.0)) {
        if (criterion.by_median) weights_ = weight_grid(problem, problem.rows);
    }

    std::size_t width() const { return 3 * n_outputs(); }
    void fill_leaf(std::size_t node, std::span<const Row> rows, double* out) {
        const Rounded weight = weight_of(rows);
        for (std::size_t output = 0; output < n_outputs(); ++output, out += 3) {
            out[0] = weight.value;
            if (rows.empty()) continue;  // a branch for categories that no row has
            const auto number = [&](Row row) { return problem_.number(row, output); };
            const double first = number(rows.front());
            if (std::all_of(rows.begin(), rows.end(), [&](Row row) { return number(row) == first; })) {
                put_value(node, output, out, {first + 0.0, 0.0});  // of two zeros the positive one
                continue;
            }
            if (criterion_.by_median) {
                out[1] = median_number(problem_, weights_, rows, output);
            } else {
                add_up(rows, number);
                put_value(node, output, out, quotient(sum_.rounded_with_rest(), weight));
            }
            add_up(rows, [&](Row row) {
                return loss(number(row) - out[1] - rest(node, output), number(row), out[1]);
            });
            out[2] = sum_.rounded();
        }
    }
    void fill_parent(std::size_t node, std::size_t left, std::size_t right, std::span<const Row> rows,
                     const double* statistic, double* out) {
        if (criterion_.by_median) return fill_leaf(node, rows, out);
        for (std::size_t output = 0; output < n_outputs(); ++output, out += 3) {
            const double* const l = statistic + left * width() + 3 * output;
            const double* const r = statistic + right * width() + 3 * output;
            out[0] = l[0] + r[0];
            const double between = (r[1] - l[1]) + (rest(right, output) - rest(left, output)),
                         share = r[0] / out[0], distance = rest(left, output) + between * share;
            const double value = l[1] + distance;
            put_value(node, output, out, {value, distance - (value - l[1])});
            out[2] = l[2] + r[2] + l[0] * loss(-between * share, l[1], out[1]) +
                     r[0] * loss(between * (1 - share), r[1], out[1]);
        }
    }

  private:
    std::size_t n_outputs() const { return problem_.targets.n_outputs; }
    double& rest(std::size_t node, std::size_t output) { return (*rest_)[node * n_outputs() + output]; }
    /// A loss that depends on the difference alone is taken of the difference, which is known more exactly.
    double loss(double difference, double y, double value) const {
        return criterion_.is_centred ? criterion_.loss(difference, 0.0) : criterion_.loss(y, value);
    }
    void put_value(std::size_t node, std::size_t output, double* out, const Rounded& mean) {
        out[1] = mean.value;
        rest(node, output) = mean.rest;
    }
    Rounded weight_of(std::span<const Row> rows) {
        if (!problem_.is_weighted()) return {static_cast<double>(rows.size()), 0.0};
        if (rows.size() == 1) return {problem_.weight(rows[0]), 0.0};
        sum_.clear();
        for (const Row row : rows) sum_.add(problem_.weight(row));
        return sum_.rounded_with_rest();
    }
    /// Σ w·value(row).
    template <class Value>
    void add_up(std::span<const Row> rows, Value value) {
        sum_.clear();
        for (const Row row : rows)
            if (problem_.is_weighted())
                sum_.add_product(problem_.weight(row), value(row));
            else
                sum_.add(value(row));
    }

    const Problem& problem_;
    const Criterion& criterion_;
    Grid weights_;                               // on which medians weigh rows
    std::shared_ptr<std::vector<double>> rest_;  // of each node's means, shared by all copies
    ExactSum sum_;
};

/// A finished tree's nodes as tasks: subtrees, each a range of the preorder, and the nodes above them.
struct Parts {
    std::vector<std::pair<std::size_t, std::size_t>> subtrees;
    std::vector<std::size_t> above;

    /// Subtrees so small that they occupy all threads to the end; for one thread the whole tree.
    Parts(const GrownTree& tree, std::size_t n_threads) {
        constexpr std::size_t parts_per_thread = 16;
        const auto size = [&](std::size_t i) {
            const auto n_nodes = static_cast<std::size_t>(tree.end[i]) - i;
            return n_nodes * (1 + tree.width) + static_cast<std::size_t>(tree.rows[i]);
        };
        const std::size_t most = n_threads == 1 ? size(0) : size(0) / (n_threads * parts_per_thread);
        for (std::size_t i = 0; i < tree.end.size();) {
            const bool is_part = tree.feature[i] < 0 || size(i) <= most;
            if (!is_part) {
                above.push_back(i++);
                continue;
            }
            subtrees.emplace_back(i, tree.end[i]);
            i = static_cast<std::size_t>(tree.end[i]);
        }
    }
};

/// Fills the statistics of a tree, and does something `other` at the same time.
template <class Statistics>
void fill_statistics(const Statistics& statistics, Problem& problem, const Nodes& grown,
                     const std::vector<std::int32_t>& order, Pool& pool, const std::function<void()>& other,
                     GrownTree& tree) {
    tree.width = statistics.width();
    tree.statistic.resize(order.size() * tree.width);
    std::vector<Statistics> own(pool.size(), statistics);  // one per thread
    const auto fill = [&](std::size_t i, std::size_t thread) {
        const Node& node = grown.nodes[order[i]];
        const std::span<const Row> rows(problem.rows.data() + node.begin, node.end - node.begin);
        double* const out = tree.statistic.data() + i * tree.width;
        std::fill_n(out, tree.width, 0.0);
        if (tree.feature[i] < 0)
            own[thread].fill_leaf(i, rows, out);
        else
            own[thread].fill_parent(i, i + 1, static_cast<std::size_t>(tree.end[i + 1]), rows,
                                    tree.statistic.data(), out);
        if (i % 1024 == 0) problem.interrupt->check();
    };
    const Parts parts(tree, pool.size());
    pool.run(parts.subtrees.size() + 1, [&](std::size_t task, std::size_t thread) {
        if (task == 0) return other();
        const auto [first, last] = parts.subtrees[task - 1];
        for (std::size_t i = last; i-- > first;) fill(i, thread);
    });
    for (std::size_t i = parts.above.size(); i-- > 0;) fill(parts.above[i], 0);
}

/// Lists the classes of each leaf with their weights; branches have none of their own.
void fill_leaves(const Problem& problem, const Nodes& grown, const std::vector<std::int32_t>& order,
                 GrownTree& tree) {
    const ClassStatistics statistics(problem);
    std::vector<std::pair<std::int32_t, double>> parts;
    std::vector<std::int32_t> column;
    std::vector<double> value;
    ExactSum sum;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Node& node = grown.nodes[order[i]];
        parts.clear();
        column.clear();
        value.clear();
        if (tree.feature[i] < 0)
            statistics.for_each_part({problem.rows.data() + node.begin, node.end - node.begin},
                                     [&](std::size_t k, double weight) {
                                         parts.emplace_back(static_cast<std::int32_t>(k), weight);
                                     });
        std::sort(parts.begin(), parts.end());
        for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
            sum.clear();
            for (; end < parts.size() && parts[end].first == parts[begin].first; ++end)
                sum.add(parts[end].second);
            column.push_back(parts[begin].first);
            value.push_back(sum.rounded());
        }
        tree.leaves.add({column, value});
        if (i % 1024 == 0) problem.interrupt->check();
    }
}

/// Preorder and everything but the statistics and the steps, which are filled in afterwards.
GrownTree lay_out(const Problem& problem, const Nodes& grown, const std::vector<std::int32_t>& order,
                  const std::vector<std::int32_t>& steps) {
    const std::size_t n = order.size();
    GrownTree tree(n);
    for (std::size_t i = n; i-- > 0;) {
        const Node& node = grown.nodes[order[i]];
        tree.rows[i] = node.end - node.begin;
        if (steps[order[i]] < 0) continue;
        tree.end[i] = tree.end[tree.end[i + 1]];
        tree.feature[i] = node.column;
        tree.missing_left[i] = node.missing_left;
        if (node.subset < 0) {
            tree.low[i] = node.low;
            tree.high[i] = node.high;
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        const Node& node = grown.nodes[order[i]];
        if (tree.feature[i] < 0 || node.subset < 0) continue;
        const auto n_bytes = (static_cast<std::size_t>(problem.columns[node.column].n_categories) + 7) / 8;
        tree.subset[i] = static_cast<std::int64_t>(tree.subsets.size());
        tree.subsets.insert(tree.subsets.end(), grown.subsets.begin() + node.subset,
                            grown.subsets.begin() + node.subset + static_cast<std::ptrdiff_t>(n_bytes));
    }
    return tree;
}

/// The tree of the nodes in `order`; `find_steps` may correct their steps while the statistics are filled.
GrownTree tree_of(Problem& problem, const Criterion& criterion, const Nodes& grown,
                  const std::vector<std::int32_t>& order, const std::vector<std::int32_t>& steps, Pool& pool,
                  const std::function<void()>& find_steps) {
    GrownTree tree = lay_out(problem, grown, order, steps);
    if (problem.is_wide) {
        find_steps();
        fill_leaves(problem, grown, order, tree);
    } else if (problem.targets.are_classes()) {
        fill_statistics(ClassStatistics(problem), problem, grown, order, pool, find_steps, tree);
    } else {
        fill_statistics(NumberStatistics(problem, criterion, order.size()), problem, grown, order, pool,
                        find_steps, tree);
    }
    for (std::size_t i = 0; i < order.size(); ++i) tree.step[i] = steps[order[i]];
    return tree;
}

}  // namespace

GrownTree assemble(Problem& problem, const Criterion& criterion, const Nodes& grown, Pool& pool) {
    // Without a budget every branch is split, so that the order of the splits can be found meanwhile.
    const auto max_splits = problem.limits.max_splits;
    auto steps = max_splits < 0 ? all_splits(grown) : split_steps(grown, max_splits);
    const auto order = preorder(grown, steps);
    return tree_of(problem, criterion, grown, order, steps, pool, [&] {
        if (max_splits < 0) steps = split_steps(grown, max_splits);
    });
}

GrownTree assemble(Problem& problem, const Criterion& criterion, const Nodes& grown,
                   const std::vector<std::int32_t>& steps, std::vector<std::int32_t>& order) {
    order = preorder(grown, steps);
    Pool alone(1, *problem.interrupt);
    return tree_of(problem, criterion, grown, order, steps, alone, [] {});
}

}  // namespace treewright
