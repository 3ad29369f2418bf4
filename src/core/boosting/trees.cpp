// One tree of gradient boosting.
#include "boosting/trees.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "boosting/histograms.hpp"
#include "boosting/leaves.hpp"

namespace treewright::boosting {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 29;  // of histograms that are kept at a time

/// Rows [begin, end) of an order that is divided as the tree grows.
struct Segment {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
};

/// Divides the rows of a segment: those that go left come first, both sides in their old order.
Segment divide(std::vector<Row>& order, std::vector<Row>& spare, const Segment& segment,
               const std::uint8_t* cells, const BoostedSplit& split) {
    Row* const rows = order.data() + segment.begin;
    const std::uint8_t* const goes_left = split.goes_left.data();
    std::size_t n_left = 0, n_right = 0;
    for (std::size_t i = 0; i < segment.size(); ++i) {
        const Row row = rows[i];
        const std::size_t left = goes_left[cells[row]];
        rows[n_left] = row;
        spare[n_right] = row;
        n_left += left;
        n_right += 1 - left;
    }
    std::copy_n(spare.begin(), n_right, rows + n_left);
    return {segment.begin, segment.begin + n_left};
}

struct BoostedNode {
    Segment rows, validation;
    std::int64_t depth = 0;
    NodeSums sums;
    std::uint64_t key = 0;
    std::vector<std::uint32_t> groups;  // those that have all columns of its path
    BoostedSplit split;
    std::int32_t left = -1, step = -1;
    std::size_t histogram = no_histogram;

    static constexpr std::size_t no_histogram = static_cast<std::size_t>(-1);
};

/// The units of a form, by the number of rows and the largest gradient and hessian.
using UnitsOf = Units (*)(std::size_t, double, double);

template <class Form>
class Grower : public TreeGrower {
  public:
    using Entry = typename Form::Entry;

    /// `n_train` rows; where they are `repeats`, `units_of` is that of the form that the repeated rows would
    /// have.
    Grower(const Cells& cells, const std::vector<Column>& columns, const Limits& limits, std::size_t n_train,
           const Repeats& repeats, UnitsOf units_of)
        : cells_(cells),
          columns_(columns),
          limits_(limits),
          n_train_(n_train),
          repeats_(repeats),
          units_of_(units_of),
          rows_(n_train),
          leaf_(cells.n_rows),
          order_(n_train),
          validation_(cells.n_rows - n_train),
          spare_(std::max(n_train, validation_.size())) {}

    GrownTree grow(const Task& task, Pool& pool, Interrupt& interrupt) override {
        pool_ = &pool;
        interrupt_ = &interrupt;
        pack(task);
        start(task.key);
        const SplitSearch<Form> search(cells_, limits_, units_);
        search_ = &search;
        find_split(0);
        // Without a budget the order does not matter: the last one made comes first, which keeps few
        // histograms.
        for (std::int64_t n_leaves = 1; !open_.empty() && n_leaves != limits_.max_leaves; ++n_leaves) {
            interrupt.check();
            const auto node = next_open();
            nodes_[node].step = static_cast<std::int32_t>(n_leaves - 1);
            cut(node, n_leaves + 1 == limits_.max_leaves);
        }
        return finished(task);
    }

  private:
    struct Open {
        double gain;
        std::int32_t node;
        bool operator<(const Open& other) const {
            return gain != other.gain ? gain < other.gain : node > other.node;
        }
    };

    /// Gradients and hessians as whole numbers.
    void pack(const Task& task) {
        const double *const g = task.gradient, *const h = task.hessian;
        double largest_gradient = 0, largest_hessian = 0;
        for (std::size_t i = 0; i < n_train_; ++i)
            largest_gradient = std::max(largest_gradient, std::abs(g[i]));
        for (std::size_t i = 0; i < n_train_; ++i) largest_hessian = std::max(largest_hessian, h[i]);
        units_ = units_of_(repeats_ ? repeats_.n_rows : n_train_, largest_gradient, largest_hessian);
        for (std::size_t i = 0; i < n_train_; ++i) rows_[i] = Form::pack(units_, g[i], h[i]);
        for (std::size_t i = 0; repeats_ && i < n_train_; ++i)
            rows_[i] = Form::times(rows_[i], static_cast<std::int64_t>(repeats_.weight[i]));
    }
    /// How much the rows of a node count for.
    double weight_of(const BoostedNode& node) const {
        if (!repeats_) return static_cast<double>(node.sums.all.count);
        double sum = 0;
        for (std::size_t i = node.rows.begin; i < node.rows.end; ++i) sum += repeats_.weight[order_[i]];
        return sum;
    }
    bool is_heavier_left(const BoostedNode& node) const {
        const std::uint8_t* const cells = cells_.column(node.split.column);
        double left = 0;
        for (std::size_t i = node.rows.begin; i < node.rows.end; ++i)
            left += node.split.goes_left[cells[order_[i]]] ? repeats_.weight[order_[i]] : 0.0;
        return 2 * left >= node.sums.weight;
    }

    void start(std::uint64_t key) {
        nodes_.clear();
        open_.clear();
        free_.resize(histograms_.size());
        std::iota(free_.begin(), free_.end(), std::size_t{0});
        std::iota(order_.begin(), order_.end(), Row{0});
        std::iota(validation_.begin(), validation_.end(), static_cast<Row>(n_train_));
        BoostedNode root;
        root.rows = {0, n_train_};
        root.validation = {0, validation_.size()};
        root.key = key;
        root.sums.bounds = {-limits_.max_step, limits_.max_step};
        Entry all{};
        for (const auto& row : rows_) all += Form::entry(row, units_.count_bits);
        root.sums.all = Form::unpack(units_, all);
        root.groups.resize(limits_.groups.size());
        std::iota(root.groups.begin(), root.groups.end(), std::uint32_t{0});
        nodes_.push_back(root);
        if (may_split(root)) build_histogram(0);
    }

    std::int32_t next_open() {
        if (limits_.max_leaves < 0) {
            const auto node = open_.back().node;
            open_.pop_back();
            return node;
        }
        std::pop_heap(open_.begin(), open_.end());
        const auto node = open_.back().node;
        open_.pop_back();
        return node;
    }

    bool may_split(const BoostedNode& node) const {
        return node.sums.all.count >= 2 * limits_.min_rows_leaf && node.sums.all.count >= 2 &&
               (limits_.max_depth < 0 || node.depth < limits_.max_depth);
    }

    /// A place for a histogram; beyond what memory allows none, and children are then counted from their
    /// rows.
    bool take_histogram(BoostedNode& node) {
        if (free_.empty()) {
            const std::size_t bytes = cells_.histogram_size() * sizeof(Entry);
            if (histograms_.size() >= std::max<std::size_t>(3, most_bytes / std::max<std::size_t>(bytes, 1)))
                return false;
            free_.push_back(histograms_.size());
            histograms_.emplace_back(cells_.histogram_size());
        }
        node.histogram = free_.back();
        free_.pop_back();
        return true;
    }
    void drop_histogram(BoostedNode& node) {
        if (node.histogram != BoostedNode::no_histogram) free_.push_back(node.histogram);
        node.histogram = BoostedNode::no_histogram;
    }
    void build_histogram(std::int32_t index) {
        BoostedNode& node = nodes_[index];
        if (!take_histogram(node)) {  // the least urgent one gives way
            drop_histogram(nodes_[std::min_element(open_.begin(), open_.end(), [&](auto a, auto b) {
                                      const bool has_a =
                                          nodes_[a.node].histogram != BoostedNode::no_histogram;
                                      const bool has_b =
                                          nodes_[b.node].histogram != BoostedNode::no_histogram;
                                      return has_a != has_b ? has_a : a < b;
                                  })->node]);
            take_histogram(node);
        }
        build<Form>(cells_, {rows_.data(), units_.count_bits}, order_.data() + node.rows.begin,
                    node.rows.size(), histograms_[node.histogram].data(), *pool_, *interrupt_);
    }

    /// The columns that a node may test; empty: all. Of those in its groups as large a share is drawn as of
    /// all columns.
    const std::vector<std::uint8_t>& candidates(const BoostedNode& node) {
        const std::size_t n = cells_.columns.size(), n_drawn = limits_.columns_drawn;
        const bool draws = n_drawn > 0 && n_drawn < n;
        if (!draws && limits_.groups.empty()) return candidates_;
        candidates_.assign(n, limits_.groups.empty());
        for (const auto group : node.groups)
            for (const auto column : limits_.groups[group]) candidates_[column] = 1;
        if (!draws) return candidates_;
        std::vector<std::size_t> order;
        for (std::size_t column = 0; column < n; ++column)
            if (candidates_[column]) order.push_back(column);
        Random random{node.key};
        candidates_.assign(n, 0);
        for (std::size_t i = 0; i < (n_drawn * order.size() + n - 1) / n; ++i) {
            std::swap(order[i], order[i + random.below(order.size() - i)]);
            candidates_[order[i]] = 1;
        }
        return candidates_;
    }

    /// Searches a node that has a histogram; one that has no split gives it back.
    void find_split(std::int32_t index) {
        BoostedNode& node = nodes_[index];
        if (node.histogram == BoostedNode::no_histogram) return;
        node.sums.weight = weight_of(node);
        node.split = search_->search(histograms_[node.histogram].data(), node.sums, candidates(node));
        if (!node.split.is_set()) return drop_histogram(node);
        if (repeats_)
            search_->send_unseen(node.split, histograms_[node.histogram].data(), is_heavier_left(node));
        open_.push_back({node.split.gain, index});
        if (limits_.max_leaves >= 0) std::push_heap(open_.begin(), open_.end());
    }

    void cut(std::int32_t index, bool is_last) {
        const auto left_index = static_cast<std::int32_t>(nodes_.size());
        nodes_[index].left = left_index;
        nodes_.resize(nodes_.size() + 2);
        BoostedNode &node = nodes_[index], &left = nodes_[left_index], &right = nodes_[left_index + 1];
        left.rows = divide(order_, spare_, node.rows, cells_.column(node.split.column), node.split);
        right.rows = {left.rows.end, node.rows.end};
        left.validation =
            divide(validation_, spare_, node.validation, cells_.column(node.split.column), node.split);
        right.validation = {left.validation.end, node.validation.end};
        left.sums.all = node.split.left;
        right.sums.all = node.sums.all - node.split.left;
        left.depth = right.depth = node.depth + 1;
        left.key = Random::child(node.key, true);
        right.key = Random::child(node.key, false);
        set_bounds(node, left, right);
        for (const auto group : node.groups)
            if (std::binary_search(limits_.groups[group].begin(), limits_.groups[group].end(),
                                   node.split.column))
                left.groups.push_back(group);
        right.groups = left.groups;
        const bool split_left = !is_last && may_split(left), split_right = !is_last && may_split(right);
        if (!split_left && !split_right) return drop_histogram(node);
        make_histograms(index, left_index, split_left, split_right);
        if (split_left) find_split(left_index);
        if (split_right) find_split(left_index + 1);
    }

    /// The smaller child's rows are added up; the larger one is the rest.
    void make_histograms(std::int32_t index, std::int32_t left, bool split_left, bool split_right) {
        const bool left_smaller = nodes_[left].rows.size() <= nodes_[left + 1].rows.size();
        const std::int32_t small = left_smaller ? left : left + 1, large = left_smaller ? left + 1 : left;
        const bool need_small = left_smaller ? split_left : split_right;
        const bool need_large = left_smaller ? split_right : split_left;
        if (nodes_[index].histogram == BoostedNode::no_histogram) {
            if (need_small) build_histogram(small);
            if (need_large) build_histogram(large);
            return;
        }
        build_histogram(small);
        BoostedNode& node = nodes_[index];
        subtract(histograms_[node.histogram].data(), histograms_[nodes_[small].histogram].data(),
                 cells_.histogram_size());
        nodes_[large].histogram = node.histogram;
        node.histogram = BoostedNode::no_histogram;
        if (!need_small) drop_histogram(nodes_[small]);
        if (!need_large) drop_histogram(nodes_[large]);
    }

    /// Below a split of a monotone column both sides keep to their side of the middle of their answers.
    void set_bounds(const BoostedNode& node, BoostedNode& left, BoostedNode& right) const {
        left.sums.bounds = right.sums.bounds = node.sums.bounds;
        const int way = limits_.monotone.empty() ? 0 : limits_.monotone[node.split.column];
        if (way == 0) return;
        const double middle = (step_of(left) + step_of(right)) / 2;
        (way > 0 ? left : right).sums.bounds.high = middle;
        (way > 0 ? right : left).sums.bounds.low = middle;
    }
    double step_of(const BoostedNode& node) const {
        return newton_step(static_cast<double>(node.sums.all.gradient) * units_.gradient,
                           static_cast<double>(node.sums.all.hessian) * units_.hessian, limits_.l2,
                           node.sums.bounds);
    }

    GrownTree finished(const Task& task) {
        if (limits_.max_leaves < 0) number_steps();
        std::vector<std::int32_t> order, stack{0};
        while (!stack.empty()) {
            const auto node = stack.back();
            stack.pop_back();
            order.push_back(node);
            if (nodes_[node].left < 0) continue;
            stack.push_back(nodes_[node].left + 1);
            stack.push_back(nodes_[node].left);
        }
        GrownTree tree = shape(order);
        std::vector<Moments> moments = answers(task, order);
        for (std::size_t i = order.size(); i-- > 0;)
            if (tree.feature[i] >= 0)
                moments[i] = moments[i + 1].joined(moments[static_cast<std::size_t>(tree.end[i + 1])],
                                                   limits_.l2, limits_.max_step);
        tree.width = 3;
        for (const auto& each : moments) each.write(limits_.learning_rate, tree.statistic);
        return tree;
    }

    /// The answers of the leaves, which are added to the predictions of their rows. Rows are gone through in
    /// their order, not leaf by leaf: memory is read from its beginning to its end.
    std::vector<Moments> answers(const Task& task, const std::vector<std::int32_t>& order) {
        const auto for_leaves = [&](auto work) {
            pool_->run(n_train_ > 50000 ? order.size() : 1, [&](std::size_t first, std::size_t) {
                for (std::size_t i = first; i < order.size(); i += n_train_ > 50000 ? order.size() : 1)
                    if (nodes_[order[i]].left < 0) work(i, nodes_[order[i]]);
            });
        };
        for_leaves([&](std::size_t i, const BoostedNode& leaf) {
            const auto number = static_cast<std::uint32_t>(i);
            for (std::size_t k = leaf.rows.begin; k < leaf.rows.end; ++k) leaf_[order_[k]] = number;
            for (std::size_t k = leaf.validation.begin; k < leaf.validation.end; ++k)
                leaf_[validation_[k]] = number;
        });
        auto moments =
            leaf_moments(task.gradient, task.hessian, repeats_.weight, leaf_, n_train_, order.size(), *pool_);
        std::vector<double> added(order.size());
        const std::optional<double> quantile = task.loss.leaf_quantile();
        for_leaves([&](std::size_t i, const BoostedNode& leaf) {
            const Row* const rows = order_.data() + leaf.rows.begin;
            moments[i].step =
                quantile
                    ? std::clamp(residual_quantile(task.aims, task.raw, rows, leaf.rows.size(), *quantile),
                                 -limits_.max_step, limits_.max_step)
                    : newton_step(moments[i].gradient, moments[i].hessian, limits_.l2, leaf.sums.bounds);
            added[i] = limits_.learning_rate * moments[i].step;
        });
        constexpr std::size_t block = 1 << 16;
        pool_->run((leaf_.size() + block - 1) / block, [&](std::size_t part, std::size_t) {
            for (std::size_t row = part * block; row < std::min(leaf_.size(), (part + 1) * block); ++row)
                task.raw[row] += added[leaf_[row]];
        });
        return moments;
    }

    /// When each node would have been split if the largest gain came first.
    void number_steps() {
        std::priority_queue<Open> frontier;
        const auto open = [&](std::int32_t node) {
            if (nodes_[node].left >= 0) frontier.push({nodes_[node].split.gain, node});
        };
        open(0);
        for (std::int32_t step = 0; !frontier.empty(); ++step) {
            const auto node = frontier.top().node;
            frontier.pop();
            nodes_[node].step = step;
            open(nodes_[node].left);
            open(nodes_[node].left + 1);
        }
    }

    GrownTree shape(const std::vector<std::int32_t>& order) const {
        const std::size_t n = order.size();
        const double nan = std::numeric_limits<double>::quiet_NaN();
        GrownTree tree;
        tree.end.resize(n);
        tree.feature.assign(n, -1);
        tree.step.assign(n, -1);
        tree.low.assign(n, nan);
        tree.high.assign(n, nan);
        tree.subset.assign(n, -1);
        tree.rows.resize(n);
        tree.missing_left.assign(n, 0);
        for (std::size_t i = n; i-- > 0;) {
            const BoostedNode& node = nodes_[order[i]];
            tree.rows[i] = static_cast<std::int64_t>(node.rows.size());
            tree.end[i] = static_cast<std::int32_t>(i) + 1;
            if (node.left < 0) continue;
            tree.end[i] = tree.end[tree.end[i + 1]];
            tree.step[i] = node.step;
            tree.feature[i] = static_cast<std::int32_t>(node.split.column);
            tree.missing_left[i] = node.split.missing_left;
            if (columns_[node.split.column].is_category()) continue;
            tree.low[i] = node.split.low;
            tree.high[i] = node.split.high;
        }
        for (std::size_t i = 0; i < n; ++i)
            if (const BoostedNode& node = nodes_[order[i]];
                node.left >= 0 && columns_[node.split.column].is_category())
                write_subset(node.split, i, tree);
        return tree;
    }

    void write_subset(const BoostedSplit& split, std::size_t node, GrownTree& tree) const {
        const auto n = static_cast<std::size_t>(columns_[split.column].n_categories);
        const auto& cell = cells_.columns[split.column].of_category;
        const std::size_t start = tree.subsets.size();
        tree.subset[node] = static_cast<std::int64_t>(start);
        tree.subsets.resize(start + (n + 7) / 8, 0);
        for (std::size_t code = 0; code < n; ++code)
            if (split.goes_left[cell[code]])
                tree.subsets[start + code / 8] |= static_cast<std::uint8_t>(1U << (code % 8));
    }

    const Cells& cells_;
    const std::vector<Column>& columns_;
    const Limits& limits_;
    std::size_t n_train_;
    Repeats repeats_;
    UnitsOf units_of_;
    std::vector<typename Form::RowEntry> rows_;  // gradients and hessians
    std::vector<std::uint32_t> leaf_;            // of each row, in the end
    std::vector<Row> order_, validation_, spare_;
    Units units_;
    std::vector<BoostedNode> nodes_;
    std::vector<Open> open_;
    std::vector<std::vector<Entry>> histograms_;
    std::vector<std::size_t> free_;
    std::vector<std::uint8_t> candidates_;
    const SplitSearch<Form>* search_ = nullptr;
    Pool* pool_ = nullptr;
    Interrupt* interrupt_ = nullptr;
};

}  // namespace

std::unique_ptr<TreeGrower> make_grower(const Cells& cells, const std::vector<Column>& columns,
                                        const Limits& limits, const Aims& train, const Repeats& repeats,
                                        const Loss& loss) {
    constexpr int least_bits = 22;                           // of the largest gradient: small ones count, too
    constexpr std::size_t many_rows = std::size_t{1} << 17;  // that do not stay in cache
    const std::size_t n = repeats ? repeats.n_rows : train.n_rows;
    const auto make = [&]<class Form>(UnitsOf units_of) -> std::unique_ptr<TreeGrower> {
        return std::make_unique<Grower<Form>>(cells, columns, limits, train.n_rows, repeats, units_of);
    };
    // Repeated rows have the units of a table in which they are repeated, and room for their products.
    const auto make_form = [&]<class Form>() {
        return repeats ? make.template operator()<Wide<std::int64_t>>(&Form::units)
                       : make.template operator()<Form>(&Form::units);
    };
    if (loss.is_flat() && (!train.weight || repeats) && Narrow<std::int64_t>::bits(n) >= least_bits)
        return n < many_rows ? make_form.template operator()<Narrow<std::int64_t>>()
                             : make_form.template operator()<Narrow<std::int32_t>>();
    return n < many_rows ? make_form.template operator()<Wide<std::int64_t>>()
                         : make_form.template operator()<Wide<std::int32_t>>();
}

}  // namespace treewright::boosting
