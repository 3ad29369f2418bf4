// One tree of gradient boosting.
#include "boosting/trees.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>
#include <utility>

#include "boosting/adding.hpp"
#include "boosting/division.hpp"
#include "boosting/leaves.hpp"

namespace treewright::boosting {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 29;  // of histograms that are kept at a time

struct BoostedNode {
    Segment rows, validation;
    std::int64_t depth = 0;
    NodeSums sums;
    std::uint64_t key = 0;
    std::vector<std::uint32_t> groups;  // those that have all columns of its path
    BoostedSplit split;
    std::int32_t left = -1, step = -1;
    bool is_searched = true;
    std::size_t histogram = no_histogram;

    static constexpr std::size_t no_histogram = static_cast<std::size_t>(-1);
};

/// The units of a form, by the number of rows and the largest gradient and hessian.
using UnitsOf = Units (*)(std::size_t, double, double);

template <class Form, class NodeForm>
class Grower : public TreeGrower {
  public:
    using NodeEntry = typename NodeForm::Entry;

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
          adder_(cells, n_train),
          leaf_(cells.n_rows),
          order_{std::vector<Row>(n_train), std::vector<Row>(n_train)},
          validation_{std::vector<Row>(cells.n_rows - n_train), std::vector<Row>(cells.n_rows - n_train)} {}

    GrownTree grow(const Task& task, Pool& pool, Interrupt& interrupt) override {
        pool_ = &pool;
        interrupt_ = &interrupt;
        units_ = units_of_(n_repeated(), task.largest.gradient, task.largest.hessian);
        const SplitSearch<NodeForm> search(cells_, limits_, units_);
        search_ = &search;
        adder_.use(pool, interrupt, units_);
        best_.resize(pool.size());
        start(task);
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

    std::size_t n_repeated() const { return repeats_ ? repeats_.n_rows : n_train_; }

    void start(const Task& task) {
        nodes_.clear();
        open_.clear();
        free_.resize(histograms_.size());
        std::iota(free_.begin(), free_.end(), std::size_t{0});
        std::iota(validation_[0].begin(), validation_[0].end(), static_cast<Row>(n_train_));
        BoostedNode root;
        root.rows = {0, n_train_};
        root.validation = {0, validation_[0].size()};
        root.key = task.key;
        root.sums.bounds = {-limits_.max_step, limits_.max_step};
        root.sums.weight = static_cast<double>(n_repeated());
        root.sums.all.count = static_cast<std::int64_t>(n_train_);
        root.groups.resize(limits_.groups.size());
        std::iota(root.groups.begin(), root.groups.end(), std::uint32_t{0});
        nodes_.push_back(root);
        const bool is_searched = may_split(root);
        if (is_searched) begin_histogram(0);
        nodes_[0].sums.all =
            adder_.pack(task.gradient, task.hessian, repeats_, order_[0].data(), is_searched);
        if (is_searched) find_splits(0);
    }

    std::int32_t next_open() {
        if (limits_.max_leaves >= 0) std::pop_heap(open_.begin(), open_.end());
        const auto node = open_.back().node;
        open_.pop_back();
        return node;
    }
    bool may_split(const BoostedNode& node) const {
        return node.sums.all.count >= 2 * limits_.min_rows_leaf && node.sums.all.count >= 2 &&
               (limits_.max_depth < 0 || node.depth < limits_.max_depth);
    }

    // ---- histograms ----

    void begin_histogram(std::int32_t index) {
        take_histogram(index);
        const BoostedNode& node = nodes_[index];
        adder_.begin(histograms_[node.histogram].data(), order_of(node).data() + node.rows.begin,
                     node.rows.size());
    }
    /// Makes the histogram of a node from its rows alone, and searches it.
    void build_histogram(std::int32_t index) {
        begin_histogram(index);
        if (adder_.takes_rows())
            adder_.add_all();
        else
            adder_.gather_all();
        find_splits(index);
    }

    /// A place for a histogram; where memory allows no more, the least urgent node gives way.
    void take_histogram(std::int32_t index) {
        if (free_.empty()) {
            const std::size_t bytes = cells_.histogram_size() * sizeof(NodeEntry);
            if (histograms_.size() < std::max<std::size_t>(3, most_bytes / std::max<std::size_t>(bytes, 1))) {
                free_.push_back(histograms_.size());
                histograms_.emplace_back(cells_.histogram_size());
            } else {
                drop_histogram(nodes_[least_urgent()]);
            }
        }
        nodes_[index].histogram = free_.back();
        free_.pop_back();
    }
    /// Of the open nodes with a histogram the one with the least gain.
    std::int32_t least_urgent() const {
        const auto has = [&](const Open& open) {
            return nodes_[open.node].histogram != BoostedNode::no_histogram;
        };
        return std::min_element(
                   open_.begin(), open_.end(),
                   [&](const Open& a, const Open& b) { return has(a) != has(b) ? has(a) : a < b; })
            ->node;
    }
    void drop_histogram(BoostedNode& node) {
        if (node.histogram != BoostedNode::no_histogram) free_.push_back(node.histogram);
        node.histogram = BoostedNode::no_histogram;
    }

    // ---- splits ----

    /// The columns that a node may test; empty: all. Of those in its groups as large a share is drawn as of
    /// all columns.
    std::vector<std::uint8_t> candidates(const BoostedNode& node) const {
        const std::size_t n = cells_.columns.size(), n_drawn = limits_.columns_drawn;
        const bool draws = n_drawn > 0 && n_drawn < n;
        if (!draws && limits_.groups.empty()) return {};
        std::vector<std::uint8_t> is_meant(n, limits_.groups.empty());
        for (const auto group : node.groups)
            for (const auto column : limits_.groups[group]) is_meant[column] = 1;
        if (!draws) return is_meant;
        std::vector<std::size_t> order;
        for (std::size_t column = 0; column < n; ++column)
            if (is_meant[column]) order.push_back(column);
        Random random{node.key};
        is_meant.assign(n, 0);
        for (std::size_t i = 0; i < (n_drawn * order.size() + n - 1) / n; ++i) {
            std::swap(order[i], order[i + random.below(order.size() - i)]);
            is_meant[order[i]] = 1;
        }
        return is_meant;
    }

    /// Finishes the histogram of a node column by column, and with it that of its sibling, which is what
    /// their parent has beside it; searches both. −1: there is none.
    void find_splits(std::int32_t index, std::int32_t sibling = -1, std::int32_t parent = -1) {
        const std::int32_t nodes[2] = {index, sibling};
        NodeEntry* const own = histograms_[nodes_[index].histogram].data();
        NodeEntry* const rest = parent < 0 ? nullptr : histograms_[nodes_[parent].histogram].data();
        NodeEntry* const histograms[2] = {own, rest};
        std::vector<std::uint8_t> is_meant[2];
        for (const std::size_t side : {0, 1}) {
            if (!is_searched(nodes[side])) continue;
            is_meant[side] = candidates(nodes_[nodes[side]]);
            for (auto& best : best_) best[side] = search_->begin(nodes_[nodes[side]].sums);
        }
        const auto search = [&](std::size_t column, std::size_t thread) {
            for (std::size_t i = cells_.start[column]; rest && i < cells_.start[column + 1]; ++i)
                rest[i] -= own[i];
            for (const std::size_t side : {0, 1})
                if (is_searched(nodes[side]) && (is_meant[side].empty() || is_meant[side][column]))
                    search_->search(column, histograms[side], nodes_[nodes[side]].sums, best_[thread][side]);
        };
        adder_.finish(2 * cells_.histogram_size(),
                      [&](std::size_t first, std::size_t last, std::size_t thread) {
                          for (std::size_t column = first; column < last; ++column) search(column, thread);
                      });
        if (rest)
            nodes_[sibling].histogram =
                std::exchange(nodes_[parent].histogram, std::size_t{BoostedNode::no_histogram});
        // Without a budget the last one comes first: the right child, whatever was added up.
        const bool in_order = index < sibling || sibling < 0;
        for (const std::size_t side : {in_order ? 0 : 1, in_order ? 1 : 0})
            if (is_searched(nodes[side])) open(nodes[side], side);
        for (const auto node : nodes)
            if (node >= 0 && !nodes_[node].split.is_set()) drop_histogram(nodes_[node]);
    }
    bool is_searched(std::int32_t node) const { return node >= 0 && nodes_[node].is_searched; }

    /// Puts a node among the open ones if a split was found.
    void open(std::int32_t index, std::size_t side) {
        const BestSplit* best = &best_[0][side];
        for (const auto& of_thread : best_)
            if (of_thread[side].beats(*best)) best = &of_thread[side];
        if (!best->is_set) return;
        BoostedNode& node = nodes_[index];
        node.split = search_->written(*best, histograms_[node.histogram].data());
        if (!repeats_)
            send_unseen(node.split, cells_.columns[node.split.column],
                        2 * node.split.left.count >= node.sums.all.count);
        open_.push_back({node.split.gain, index});
        if (limits_.max_leaves >= 0) std::push_heap(open_.begin(), open_.end());
    }

    const std::vector<Row>& order_of(const BoostedNode& node) const {
        return order_[static_cast<std::size_t>(node.depth) % 2];
    }
    const std::vector<Row>& validation_of(const BoostedNode& node) const {
        return validation_[static_cast<std::size_t>(node.depth) % 2];
    }

    /// Where the rows of its children are put.
    static Row* next_order(const BoostedNode& node, std::array<std::vector<Row>, 2>& orders) {
        return orders[static_cast<std::size_t>(node.depth + 1) % 2].data();
    }

    /// The weight of the rows that go left, where weights are whole numbers: a sum without rounding.
    double left_weight(const BoostedNode& node) const {
        const std::uint8_t* const cells = cells_.column(node.split.column);
        const Row* const rows = order_of(node).data();
        std::vector<double> left(pool_->size(), 0.0);
        in_chunks(node.rows.begin, node.rows.end, adder_.is_many(node.rows.size()), *pool_,
                  [&](std::size_t begin, std::size_t end, std::size_t thread) {
                      double sum = 0;
                      for (std::size_t i = begin; i < end; ++i)
                          sum += node.split.goes_left[cells[rows[i]]] ? repeats_.weight[rows[i]] : 0.0;
                      left[thread] += sum;
                  });
        return std::accumulate(left.begin(), left.end(), 0.0);
    }

    void cut(std::int32_t index, bool is_last) {
        const auto left_index = static_cast<std::int32_t>(nodes_.size());
        nodes_[index].left = left_index;
        nodes_.resize(nodes_.size() + 2);
        BoostedNode &node = nodes_[index], &left = nodes_[left_index], &right = nodes_[left_index + 1];
        if (repeats_) {
            left.sums.weight = left_weight(node);
            right.sums.weight = node.sums.weight - left.sums.weight;
            send_unseen(node.split, cells_.columns[node.split.column], left.sums.weight >= right.sums.weight);
        } else {
            left.sums.weight = static_cast<double>(node.split.left.count);
            right.sums.weight = static_cast<double>(node.sums.all.count - node.split.left.count);
        }
        left.sums.all = node.split.left;
        right.sums.all = node.sums.all - node.split.left;
        left.rows = {node.rows.begin, node.rows.begin + static_cast<std::size_t>(left.sums.all.count)};
        right.rows = {left.rows.end, node.rows.end};
        left.depth = right.depth = node.depth + 1;
        left.key = Random::child(node.key, true);
        right.key = Random::child(node.key, false);
        set_bounds(node, left, right);
        for (const auto group : node.groups)
            if (std::binary_search(limits_.groups[group].begin(), limits_.groups[group].end(),
                                   node.split.column))
                left.groups.push_back(group);
        right.groups = left.groups;
        left.is_searched = !is_last && may_split(left);
        right.is_searched = !is_last && may_split(right);
        divide_validation(index);
        divide(index);
    }

    /// Divides the rows of a node; those of the smaller child are added up on the way, and the larger child's
    /// histogram is the rest of the node's.
    void divide(std::int32_t index) {
        const std::int32_t left = nodes_[index].left, right = left + 1;
        const bool left_smaller = nodes_[left].rows.size() <= nodes_[right].rows.size();
        const std::int32_t small = left_smaller ? left : right, large = left_smaller ? right : left;
        const bool is_added =
            nodes_[index].histogram != BoostedNode::no_histogram && (is_searched(left) || is_searched(right));
        if (is_added) begin_histogram(small);
        const BoostedNode& node = nodes_[index];
        const std::size_t small_begin = nodes_[small].rows.begin;
        const Row* const rows = order_of(node).data();
        Division division(cells_.column(node.split.column), node.split, node.rows, next_order(node, order_));
        in_chunks(node.rows.begin, node.rows.end, adder_.is_many(node.rows.size()), *pool_,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                      interrupt_->check();
                      Division::Sides sides;
                      division.divide(rows + begin, end - begin, sides);
                      const Division::Side& side = left_smaller ? sides.left : sides.right;
                      if (is_added && !adder_.takes_rows())
                          adder_.gather(side.rows.data(), side.n, side.at - small_begin);
                  });
        if (is_added) {
            if (adder_.takes_rows()) adder_.add_all();
            return find_splits(small, large, index);
        }
        drop_histogram(nodes_[index]);
        for (const auto child : {left, right})
            if (is_searched(child)) build_histogram(child);
    }

    void divide_validation(std::int32_t index) {
        const BoostedNode& node = nodes_[index];
        const Row* const rows = validation_of(node).data();
        Division division(cells_.column(node.split.column), node.split, node.validation,
                          next_order(node, validation_));
        in_chunks(node.validation.begin, node.validation.end, adder_.is_many(node.validation.size()), *pool_,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                      Division::Sides sides;
                      division.divide(rows + begin, end - begin, sides);
                  });
        nodes_[node.left].validation = {node.validation.begin, division.left_end()};
        nodes_[node.left + 1].validation = {division.left_end(), node.validation.end};
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
        number_leaves(order);
        std::vector<double> weight(order.size());  // of leaves
        for (std::size_t i = 0; i < order.size(); ++i)
            if (const BoostedNode& node = nodes_[order[i]]; node.left < 0) weight[i] = node.sums.weight;
        auto moments = leaf_moments(task.gradient, task.hessian, task.largest, repeats_, leaf_, n_train_,
                                    weight, *pool_);
        const std::optional<double> quantile = task.loss.leaf_quantile();
        const auto answer = [&](std::size_t i, std::size_t) {
            const BoostedNode& leaf = nodes_[order[i]];
            if (leaf.left >= 0) return;
            const Row* const rows = order_of(leaf).data() + leaf.rows.begin;
            moments[i].step =
                quantile
                    ? std::clamp(residual_quantile(task.aims, task.raw, rows, leaf.rows.size(), *quantile),
                                 -limits_.max_step, limits_.max_step)
                    : newton_step(moments[i].gradient, moments[i].hessian, limits_.l2, leaf.sums.bounds);
        };
        if (quantile && n_train_ > chunk_size)
            pool_->run(order.size(), answer);
        else
            for (std::size_t i = 0; i < order.size(); ++i) answer(i, 0);
        std::vector<double> added(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) added[i] = limits_.learning_rate * moments[i].step;
        in_chunks(0, leaf_.size(), leaf_.size() > worth_threads, *pool_,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t row = begin; row < end; ++row) task.raw[row] += added[leaf_[row]];
                  });
        return moments;
    }

    /// Notes for each row in which leaf it is.
    void number_leaves(const std::vector<std::int32_t>& order) {
        struct Part {
            const Row* rows;
            std::size_t n;
            std::uint32_t leaf;
        };
        std::vector<Part> parts;
        const auto add = [&](const std::vector<Row>& rows, const Segment& segment, std::uint32_t leaf) {
            for (std::size_t begin = segment.begin; begin < segment.end; begin += chunk_size)
                parts.push_back({rows.data() + begin, std::min(chunk_size, segment.end - begin), leaf});
        };
        for (std::size_t i = 0; i < order.size(); ++i) {
            const BoostedNode& node = nodes_[order[i]];
            if (node.left >= 0) continue;
            add(order_of(node), node.rows, static_cast<std::uint32_t>(i));
            add(validation_of(node), node.validation, static_cast<std::uint32_t>(i));
        }
        const auto note = [&](std::size_t i, std::size_t) {
            for (std::size_t k = 0; k < parts[i].n; ++k) leaf_[parts[i].rows[k]] = parts[i].leaf;
        };
        if (leaf_.size() > worth_threads) return pool_->run(parts.size(), note);
        for (std::size_t i = 0; i < parts.size(); ++i) note(i, 0);
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
    Adder<Form, NodeForm> adder_;
    std::vector<std::uint32_t> leaf_;  // of each row, in the end
    // Rows of nodes of even and of odd depth: a node's are divided from the one to the other.
    std::array<std::vector<Row>, 2> order_, validation_;
    std::vector<std::array<BestSplit, 2>> best_;  // of each thread, for both nodes that are searched
    Units units_;
    std::vector<BoostedNode> nodes_;
    std::vector<Open> open_;
    std::vector<std::vector<NodeEntry>> histograms_;
    std::vector<std::size_t> free_;
    const SplitSearch<NodeForm>* search_ = nullptr;
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
    const bool is_loose = n > most_packed;
    const auto make = [&]<class Form, class NodeForm>(UnitsOf units_of) -> std::unique_ptr<TreeGrower> {
        return std::make_unique<Grower<Form, NodeForm>>(cells, columns, limits, train.n_rows, repeats,
                                                        units_of);
    };
    // Repeated rows have the units of a table in which they are repeated, and room for their products.
    const auto make_form = [&]<class Form, class NodeForm>() {
        if (!repeats) return make.template operator()<Form, NodeForm>(&Form::units);
        return is_loose ? make.template operator()<Loose, LooseSums>(&Form::units)
                        : make.template operator()<Wide<std::int64_t>, WideSums>(&Form::units);
    };
    if (loss.is_flat() && (!train.weight || repeats) && Narrow<std::int64_t>::bits(n) >= least_bits)
        return n < many_rows ? make_form.template operator()<Narrow<std::int64_t>, NarrowSums>()
                             : make_form.template operator()<Narrow<std::int32_t>, NarrowSums>();
    if (is_loose) return make_form.template operator()<Wide<std::int32_t>, LooseSums>();
    return n < many_rows ? make_form.template operator()<Wide<std::int64_t>, WideSums>()
                         : make_form.template operator()<Wide<std::int32_t>, WideSums>();
}

}  // namespace treewright::boosting
