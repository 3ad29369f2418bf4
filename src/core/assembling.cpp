// From grown nodes to the finished tree: choosing the first splits, preorder, statistics.
#include "assembling.hpp"

#include <cmath>
#include <queue>

namespace treewright {

namespace {

/// For every node the step at which the best-first algorithm splits it; -1 for leaves. The order depends on
/// the gains alone, so it does not matter in which order the nodes were really grown.
std::vector<std::int32_t> split_steps(const Nodes& grown, std::int64_t max_splits) {
    struct Open {
        double gain;
        std::int64_t made;
        std::int32_t node;
        bool operator<(const Open& other) const {
            return gain != other.gain ? gain < other.gain : made > other.made;
        }
    };
    std::vector<std::int32_t> steps(grown.nodes.size(), -1);
    std::priority_queue<Open> frontier;
    std::int64_t n_made = 0;
    const auto open = [&](std::int32_t node) {
        if (!grown.nodes[node].is_leaf()) frontier.push({grown.nodes[node].gain, n_made, node});
        ++n_made;
    };
    open(0);
    for (std::int32_t step = 0; !frontier.empty() && (max_splits < 0 || step < max_splits); ++step) {
        const auto node = frontier.top().node;
        frontier.pop();
        steps[node] = step;
        open(grown.nodes[node].left);
        open(grown.nodes[node].left + 1);
    }
    return steps;
}

std::vector<std::int32_t> preorder(const Nodes& grown, const std::vector<std::int32_t>& steps) {
    std::vector<std::int32_t> order, stack{0};
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
    }
    std::size_t width() const { return start_.back(); }
    void fill_leaf(std::span<const Row> rows, double* out) const {
        for (const Row row : rows)
            for (std::size_t output = 0; output + 1 < start_.size(); ++output)
                out[start_[output] + static_cast<std::size_t>(problem_.label(row, output))] +=
                    problem_.weight(row);
    }
    void fill_parent(std::span<const Row>, const double* left, const double* right, double* out) const {
        for (std::size_t i = 0; i < width(); ++i) out[i] = left[i] + right[i];
    }
    void finish(std::span<const Row>, bool, double*) const {}

  private:
    const Problem& problem_;
    std::vector<std::size_t> start_{0};
};

/// Statistics of numbers: weight, value, deviation Σ w·loss(y, value), for each output. Means join as
/// the moments of two samples do (Chan, Golub and LeVeque); the excess is the loss of the two means about the
/// common one, which holds for every Bregman loss. Medians have to be found anew.
/// Until the end a mean is kept less `centre_`, so that an offset of all numbers costs no digits.
class NumberStatistics {
  public:
    NumberStatistics(const Problem& problem, const Criterion& criterion)
        : problem_(problem), criterion_(criterion) {
        for (std::size_t output = 0; output < problem.targets.n_outputs; ++output)
            centre_.push_back(criterion.is_centred ? problem.number(problem.rows.front(), output) : 0.0);
    }

    std::size_t width() const { return 3 * problem_.targets.n_outputs; }
    void fill_leaf(std::span<const Row> rows, double* out) const {
        for (std::size_t output = 0; output < problem_.targets.n_outputs; ++output, out += 3) {
            out[0] = 0;
            for (const Row row : rows) out[0] += problem_.weight(row);
            out[1] = criterion_.by_median ? median(rows, output, out[0]) - centre_[output]
                                          : mean(rows, output, out[0]);
            out[2] = 0;
            for (const Row row : rows)
                out[2] += problem_.weight(row) *
                          criterion_.loss(problem_.number(row, output) - centre_[output], out[1]);
        }
    }
    void fill_parent(std::span<const Row> rows, const double* left, const double* right, double* out) const {
        if (criterion_.by_median) return fill_leaf(rows, out);
        for (std::size_t output = 0; output < problem_.targets.n_outputs;
             ++output, left += 3, right += 3, out += 3) {
            out[0] = left[0] + right[0];
            out[1] = left[1] + (right[1] - left[1]) * (right[0] / out[0]);
            out[2] = left[2] + right[2] + left[0] * criterion_.loss(left[1], out[1]) +
                     right[0] * criterion_.loss(right[1], out[1]);
        }
    }
    /// Puts the centre back; a leaf of equal numbers gets exactly that number.
    void finish(std::span<const Row> rows, bool is_leaf, double* out) const {
        for (std::size_t output = 0; output < problem_.targets.n_outputs; ++output, out += 3) {
            const double first = problem_.number(rows.front(), output);
            const bool is_constant = is_leaf && std::all_of(rows.begin(), rows.end(), [&](Row row) {
                                         return problem_.number(row, output) == first;
                                     });
            out[1] = is_constant ? first : out[1] + centre_[output];
            if (is_constant) out[2] = 0;
        }
    }

  private:
    /// About the first number of the node, less the centre.
    double mean(std::span<const Row> rows, std::size_t output, double weight) const {
        const double first = problem_.number(rows.front(), output);
        double sum = 0;
        for (const Row row : rows) sum += problem_.weight(row) * (problem_.number(row, output) - first);
        return (first - centre_[output]) + sum / weight;
    }
    double median(std::span<const Row> rows, std::size_t output, double weight) const {
        std::vector<std::pair<double, double>> sorted;
        for (const Row row : rows) sorted.emplace_back(problem_.number(row, output), problem_.weight(row));
        std::sort(sorted.begin(), sorted.end());
        double below = 0;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            below += sorted[i].second;
            if (2 * below == weight && i + 1 < sorted.size())
                return sorted[i].first / 2 + sorted[i + 1].first / 2;
            if (2 * below >= weight) return sorted[i].first;
        }
        return sorted.back().first;
    }

    const Problem& problem_;
    const Criterion& criterion_;
    std::vector<double> centre_;
};

template <class Statistics>
void fill_statistics(const Statistics& statistics, Problem& problem, const Nodes& grown,
                     const std::vector<std::int32_t>& order, GrownTree& tree) {
    tree.width = statistics.width();
    tree.statistic.assign(order.size() * tree.width, 0.0);
    const auto rows_of = [&](std::size_t i) {
        const Node& node = grown.nodes[order[i]];
        return std::span<const Row>(problem.rows.data() + node.begin, node.end - node.begin);
    };
    for (std::size_t i = order.size(); i-- > 0;) {
        double* out = tree.statistic.data() + i * tree.width;
        if (tree.feature[i] < 0) {
            statistics.fill_leaf(rows_of(i), out);
        } else {
            const auto right = static_cast<std::size_t>(tree.end[i + 1]);
            statistics.fill_parent(rows_of(i), out + tree.width, tree.statistic.data() + right * tree.width,
                                   out);
        }
        if (i % 1024 == 0) problem.interrupt->check();
    }
    for (std::size_t i = 0; i < order.size(); ++i)
        statistics.finish(rows_of(i), tree.feature[i] < 0, tree.statistic.data() + i * tree.width);
}

}  // namespace

GrownTree assemble(Problem& problem, const Criterion& criterion, const Nodes& grown) {
    const auto steps = split_steps(grown, problem.limits.max_splits);
    const auto order = preorder(grown, steps);
    const std::size_t n = order.size();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    GrownTree tree;
    tree.end.resize(n);
    tree.feature.assign(n, -1);
    tree.step.resize(n);
    tree.low.assign(n, nan);
    tree.high.assign(n, nan);
    tree.subset.assign(n, -1);
    tree.rows.resize(n);
    tree.missing_left.assign(n, 0);
    for (std::size_t i = n; i-- > 0;) {
        const Node& node = grown.nodes[order[i]];
        tree.rows[i] = node.end - node.begin;
        tree.step[i] = steps[order[i]];
        tree.end[i] = static_cast<std::int32_t>(i) + 1;
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
    if (problem.targets.are_classes())
        fill_statistics(ClassStatistics(problem), problem, grown, order, tree);
    else
        fill_statistics(NumberStatistics(problem, criterion), problem, grown, order, tree);
    return tree;
}

}  // namespace treewright
