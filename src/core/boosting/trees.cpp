// One tree of gradient boosting.
#include "boosting/trees.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "boosting/adding.hpp"
#include "boosting/leaves.hpp"
#include "boosting/nodes.hpp"
#include "boosting/shape.hpp"
#include "support/unfilled.hpp"

namespace treewright::boosting {

namespace {

/// The units of a form, by the number of rows and the largest gradient and hessian.
using UnitsOf = Units (*)(std::size_t, double, double);

/// Nodes of at most so many rows are split by one thread each, side by side: so many for each thread, because
/// their sizes differ.
constexpr std::size_t nodes_of_thread = 2;
constexpr std::size_t most_rows_alone = std::size_t{1} << 14;

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
          repeats_(repeats),
          units_of_(units_of),
          adder_(cells, n_train),
          leaf_(cells.n_rows),
          rows_(0, n_train),
          validation_(n_train, cells.n_rows - n_train),
          histograms_(cells.histogram_size()),
          open_(limits.max_leaves >= 0) {}

    GrownTree grow(const Task& task, Pool& pool, Interrupt& interrupt) override {
        pool_ = &pool;
        interrupt_ = &interrupt;
        units_ = units_of_(n_repeated(), task.largest.gradient, task.largest.hessian);
        const SplitSearch<NodeForm> search(cells_, limits_, units_);
        search_ = &search;
        adder_.use(pool, interrupt, units_);
        best_.resize(pool.size());
        start(task);
        for (std::int64_t n_leaves = 1; !open_.is_empty() && n_leaves != limits_.max_leaves; ++n_leaves) {
            interrupt.check();
            const auto node = next_split(n_leaves);
            nodes_[node].step = static_cast<std::int32_t>(n_leaves - 1);
            open(nodes_[node].left, nodes_[node].left + 1, static_cast<std::int32_t>(n_leaves));
        }
        for (auto& node : nodes_)  // some were split early, but their turn has not come
            if (node.step < 0) node.left = -1;
        return finished(task);
    }

  private:
    std::size_t n_repeated() const { return repeats_ ? repeats_.n_rows : rows_.size(); }

    void start(const Task& task) {
        nodes_.clear();
        open_.take_all();
        histograms_.reset();
        validation_.reset();
        BoostedNode root;
        root.rows = {0, rows_.size()};
        root.validation = {0, validation_.size()};
        root.key = task.key;
        root.sums.bounds = {-limits_.max_step, limits_.max_step};
        root.sums.weight = static_cast<double>(n_repeated());
        root.sums.all.count = static_cast<std::int64_t>(rows_.size());
        root.groups.resize(limits_.groups.size());
        std::iota(root.groups.begin(), root.groups.end(), std::uint32_t{0});
        nodes_.push_back(root);
        const bool is_searched = may_split(root);
        if (is_searched) {
            take_histogram(0);
            begin_adding(0);
        }
        nodes_[0].sums.all =
            adder_.pack(task.gradient, task.hessian, repeats_, rows_.of(nodes_[0]), is_searched);
        if (!is_searched) return;
        find_splits(0);
        if (nodes_[0].split.is_set()) open_.push(OpenNode(nodes_[0], 0, false));
    }

    bool may_split(const BoostedNode& node) const {
        return node.sums.all.count >= 2 * limits_.min_rows_leaf && node.sums.all.count >= 2 &&
               (limits_.max_depth < 0 || node.depth < limits_.max_depth);
    }
    bool is_searched(std::int32_t node) const { return node >= 0 && nodes_[node].is_searched; }

    /// Puts children among the open nodes where a split was found.
    void open(std::int32_t left, std::int32_t right, std::int32_t made) {
        for (const auto node : {left, right}) {
            nodes_[node].made = made;
            if (nodes_[node].split.is_set()) open_.push(OpenNode(nodes_[node], node, node == right));
        }
    }

    // ---- which nodes are split ----

    /// The node whose turn it is; it is split already.
    ///
    /// Small nodes are not worth the meetings of several threads: those that come next are split side by
    /// side, each by one thread, and wait until it is their turn. Where a budget ends before, the work was in
    /// vain, but it was done while others would have waited.
    std::int32_t next_split(std::int64_t n_leaves) {
        const OpenNode next = open_.take();
        if (nodes_[next.node].left >= 0) return next.node;
        const bool is_last = n_leaves + 1 == limits_.max_leaves;
        auto batch = is_small(nodes_[next.node]) ? companions(n_leaves) : std::vector<std::int32_t>{};
        batch.push_back(next.node);
        for (const auto node : batch) make_children(node, is_last);
        if (batch.size() == 1) {
            split_together(next.node);
        } else {
            std::sort(batch.begin(), batch.end(), [&](auto a, auto b) {  // the longest work first
                return nodes_[a].rows.size() > nodes_[b].rows.size();
            });
            pool_->run(batch.size(),
                       [&](std::size_t i, std::size_t thread) { split_alone(batch[i], thread); });
        }
        for (const auto node : batch) {
            histograms_.take_back(nodes_[node]);
            for (const auto child : {nodes_[node].left, nodes_[node].left + 1})
                if (!nodes_[child].split.is_set()) histograms_.take_back(nodes_[child]);
        }
        return next.node;
    }
    /// Open nodes that are split beside the next one. The nearer the end of a budget, the less likely is the
    /// turn of a node to come.
    std::vector<std::int32_t> companions(std::int64_t n_leaves) {
        std::size_t most = nodes_of_thread * pool_->size();
        if (limits_.max_leaves >= 0)
            most = std::min(most, static_cast<std::size_t>(limits_.max_leaves - n_leaves) / 4);
        std::vector<OpenNode> taken;
        std::vector<std::int32_t> found;
        while (found.size() + 1 < most && !open_.is_empty()) {
            taken.push_back(open_.take());
            const auto node = taken.back().node;
            if (nodes_[node].left < 0 && is_small(nodes_[node]) && histograms_.n_left() > found.size() + 1)
                found.push_back(node);
        }
        for (; !taken.empty(); taken.pop_back()) open_.push(OpenNode(taken.back()));
        return found;
    }
    bool is_small(const BoostedNode& node) const {
        return pool_->size() > 1 && node.rows.size() <= most_rows_alone &&
               node.histogram != BoostedNode::no_histogram;
    }

    // ---- splitting a node ----

    void make_children(std::int32_t index, bool is_last) {
        const auto left_index = static_cast<std::int32_t>(nodes_.size());
        nodes_.resize(nodes_.size() + 2);
        BoostedNode &node = nodes_[index], &left = nodes_[left_index], &right = nodes_[left_index + 1];
        node.left = left_index;
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
        if (node.histogram == BoostedNode::no_histogram || !(left.is_searched || right.is_searched)) return;
        const auto [small, large] = by_size(node);
        take_histogram(small);
        nodes_[large].histogram = std::exchange(node.histogram, std::size_t{BoostedNode::no_histogram});
    }

    /// The smaller child, whose rows are added up, and the larger one, whose histogram is the rest of the
    /// node's.
    std::pair<std::int32_t, std::int32_t> by_size(const BoostedNode& node) const {
        const std::int32_t left = node.left, right = left + 1;
        const bool left_smaller = nodes_[left].rows.size() <= nodes_[right].rows.size();
        return left_smaller ? std::pair{left, right} : std::pair{right, left};
    }

    /// By all threads. The smaller child's rows are gathered on the way where each thread will add up
    /// columns.
    void split_together(std::int32_t index) {
        weigh_children(index, true);
        divide_validation(index, true);
        const BoostedNode& node = nodes_[index];
        const auto [small, large] = by_size(node);
        const bool is_added = has_histogram(small), left_smaller = small == node.left;
        if (is_added) begin_adding(small);
        const std::size_t small_begin = nodes_[small].rows.begin;
        divide(node, node.rows, rows_, true, [&](const Division::Sides& sides) {
            const Division::Side& side = left_smaller ? sides.left : sides.right;
            if (is_added && !adder_.takes_rows())
                adder_.gather(side.rows.data(), side.n, side.at - small_begin);
        });
        if (is_added) {
            if (adder_.takes_rows()) adder_.add_all();
            return find_splits(small, large);
        }
        for (const auto child : {small, large})
            if (is_searched(child)) build_histogram(child);
    }

    /// By one thread, while others split other nodes.
    void split_alone(std::int32_t index, std::size_t thread) {
        weigh_children(index, false);
        divide_validation(index, false);
        const BoostedNode& node = nodes_[index];
        divide(node, node.rows, rows_, false, [](const Division::Sides&) {});
        const auto [small, large] = by_size(node);
        if (!has_histogram(small)) return;
        const BoostedNode& added = nodes_[small];
        adder_.add_alone(histograms_.of(added), rows_.of(added) + added.rows.begin, added.rows.size(),
                         thread);
        Family family(*this, small, large);
        Best best = family.begin();
        for (std::size_t column = 0; column < cells_.columns.size(); ++column) family.search(column, best);
        family.write(best);
    }

    /// Weights of children, and where values go that the node has no rows of: with the heavier child.
    void weigh_children(std::int32_t index, bool together) {
        BoostedNode &node = nodes_[index], &left = nodes_[node.left], &right = nodes_[node.left + 1];
        if (!repeats_) {
            left.sums.weight = static_cast<double>(left.sums.all.count);
            right.sums.weight = static_cast<double>(right.sums.all.count);
            return;
        }
        left.sums.weight = left_weight(node, together);
        right.sums.weight = node.sums.weight - left.sums.weight;
        send_unseen(node.split, cells_.columns[node.split.column], left.sums.weight >= right.sums.weight);
    }
    /// The weight of the rows that go left, where weights are whole numbers: a sum without rounding.
    double left_weight(const BoostedNode& node, bool together) const {
        const std::uint8_t* const cells = cells_.column(node.split.column);
        const Row* const rows = rows_.of(node);
        std::vector<double> left(pool_->size(), 0.0);
        in_chunks(node.rows.begin, node.rows.end, together && adder_.is_many(node.rows.size()), *pool_,
                  [&](std::size_t begin, std::size_t end, std::size_t thread) {
                      double sum = 0;
                      for (std::size_t i = begin; i < end; ++i)
                          sum += node.split.goes_left[cells[rows[i]]] ? repeats_.weight[rows[i]] : 0.0;
                      left[thread] += sum;
                  });
        return std::accumulate(left.begin(), left.end(), 0.0);
    }

    void divide_validation(std::int32_t index, bool together) {
        const BoostedNode& node = nodes_[index];
        const std::size_t middle =
            divide(node, node.validation, validation_, together, [](const Division::Sides&) {});
        nodes_[node.left].validation = {node.validation.begin, middle};
        nodes_[node.left + 1].validation = {middle, node.validation.end};
    }
    /// Sends some rows of a node to its children and calls work(sides) for each chunk of them; returns where
    /// those of the left child end.
    template <class Work>
    std::size_t divide(const BoostedNode& node, const Segment& rows, RowOrders& orders, bool together,
                       const Work& work) {
        const Row* const from = orders.of(node);
        Division division(cells_.column(node.split.column), node.split, rows, orders.of_children(node));
        in_chunks(rows.begin, rows.end, together && adder_.is_many(rows.size()), *pool_,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                      interrupt_->check();
                      Division::Sides sides;
                      division.divide(from + begin, end - begin, sides);
                      work(sides);
                  });
        return division.left_end();
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

    // ---- histograms ----

    bool has_histogram(std::int32_t node) const {
        return nodes_[node].histogram != BoostedNode::no_histogram;
    }
    /// A place for a histogram; where memory allows no more, the least urgent node gives way.
    void take_histogram(std::int32_t index) {
        if (histograms_.n_left() == 0) histograms_.take_back(nodes_[least_urgent()]);
        histograms_.give_to(nodes_[index]);
    }
    /// Of the open nodes with a histogram the one with the least gain.
    std::int32_t least_urgent() const {
        const auto& open = open_.leaves();
        return std::min_element(open.begin(), open.end(),
                                [&](const OpenNode& a, const OpenNode& b) {
                                    const bool has_a = has_histogram(a.node), has_b = has_histogram(b.node);
                                    return has_a != has_b ? has_a : a.gain < b.gain;
                                })
            ->node;
    }
    void begin_adding(std::int32_t index) {
        const BoostedNode& node = nodes_[index];
        adder_.begin(histograms_.of(node), rows_.of(node) + node.rows.begin, node.rows.size());
    }
    /// Makes the histogram of a node from its rows alone, and searches it.
    void build_histogram(std::int32_t index) {
        take_histogram(index);
        begin_adding(index);
        if (adder_.takes_rows())
            adder_.add_all();
        else
            adder_.gather_all();
        find_splits(index);
    }

    // ---- the search ----

    using Best = std::array<BestSplit, 2>;  // of both nodes that are searched together

    /// A node and its sibling (-1: none), whose histogram is that of their parent until that of the node is
    /// taken away from it, column by column.
    class Family {
      public:
        Family(Grower& grower, std::int32_t node, std::int32_t sibling)
            : grower_(grower),
              nodes_{node, sibling},
              histograms_{grower.histograms_.of(grower.nodes_[node]),
                          sibling < 0 ? nullptr : grower.histograms_.of(grower.nodes_[sibling])} {
            for (const std::size_t side : {0, 1})
                if (is_searched(side)) is_meant_[side] = grower.candidates(of(side));
        }
        /// How many cells there are to be searched.
        std::size_t n_cells() const {
            return (is_searched(0) + is_searched(1)) * grower_.cells_.histogram_size();
        }
        Best begin() const {
            Best best;
            for (const std::size_t side : {0, 1})
                if (is_searched(side)) best[side] = grower_.search_->begin(of(side).sums);
            return best;
        }
        void search(std::size_t column, Best& best) const {
            const auto& start = grower_.cells_.start;
            for (std::size_t i = start[column]; histograms_[1] && i < start[column + 1]; ++i)
                histograms_[1][i] -= histograms_[0][i];
            for (const std::size_t side : {0, 1})
                if (is_searched(side) && (is_meant_[side].empty() || is_meant_[side][column]))
                    grower_.search_->search(column, histograms_[side], of(side).sums, best[side]);
        }
        /// Notes the splits that were found.
        void write(const Best& best) const {
            for (const std::size_t side : {0, 1}) {
                if (!is_searched(side) || !best[side].is_set) continue;
                BoostedNode& node = of(side);
                node.split = grower_.search_->written(best[side], histograms_[side]);
                if (!grower_.repeats_)
                    send_unseen(node.split, grower_.cells_.columns[node.split.column],
                                2 * node.split.left.count >= node.sums.all.count);
            }
        }

      private:
        bool is_searched(std::size_t side) const { return grower_.is_searched(nodes_[side]); }
        BoostedNode& of(std::size_t side) const { return grower_.nodes_[nodes_[side]]; }

        Grower& grower_;
        std::int32_t nodes_[2];
        NodeEntry* histograms_[2];
        std::vector<std::uint8_t> is_meant_[2];
    };

    /// Finishes the histogram of a node column by column, and with it that of its sibling; searches both.
    void find_splits(std::int32_t index, std::int32_t sibling = -1) {
        constexpr std::size_t steps_of_search = 4;  // of a cell, as long as so many additions
        const Family family(*this, index, sibling);
        for (auto& best : best_) best = family.begin();
        adder_.finish(steps_of_search * family.n_cells(),
                      [&](std::size_t first, std::size_t last, std::size_t thread) {
                          for (std::size_t column = first; column < last; ++column)
                              family.search(column, best_[thread]);
                      });
        for (const auto& of_thread : best_)
            for (const std::size_t side : {0, 1})
                if (of_thread[side].beats(best_[0][side])) best_[0][side] = of_thread[side];
        family.write(best_[0]);
    }

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

    // ---- the tree ----

    GrownTree finished(const Task& task) {
        if (limits_.max_leaves < 0) number_steps(nodes_);
        const auto order = depth_first(nodes_);
        GrownTree tree = shape(nodes_, order, columns_, cells_);
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
        auto moments = leaf_moments(task.gradient, task.hessian, task.largest, repeats_, leaf_.data(),
                                    rows_.size(), weight, *pool_);
        const std::optional<double> quantile = task.loss.leaf_quantile();
        const auto answer = [&](std::size_t i, std::size_t) {
            const BoostedNode& leaf = nodes_[order[i]];
            if (leaf.left >= 0) return;
            const Row* const rows = rows_.of(leaf) + leaf.rows.begin;
            moments[i].step =
                quantile
                    ? std::clamp(residual_quantile(task.aims, task.raw, rows, leaf.rows.size(), *quantile),
                                 -limits_.max_step, limits_.max_step)
                    : newton_step(moments[i].gradient, moments[i].hessian, limits_.l2, leaf.sums.bounds);
        };
        if (quantile && rows_.size() > chunk_size)
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
        const auto add = [&](const Row* rows, const Segment& segment, std::uint32_t leaf) {
            for (std::size_t begin = segment.begin; begin < segment.end; begin += chunk_size)
                parts.push_back({rows + begin, std::min(chunk_size, segment.end - begin), leaf});
        };
        for (std::size_t i = 0; i < order.size(); ++i) {
            const BoostedNode& node = nodes_[order[i]];
            if (node.left >= 0) continue;
            add(rows_.of(node), node.rows, static_cast<std::uint32_t>(i));
            add(validation_.of(node), node.validation, static_cast<std::uint32_t>(i));
        }
        const auto note = [&](std::size_t i, std::size_t) {
            for (std::size_t k = 0; k < parts[i].n; ++k) leaf_[parts[i].rows[k]] = parts[i].leaf;
        };
        if (leaf_.size() > worth_threads) return pool_->run(parts.size(), note);
        for (std::size_t i = 0; i < parts.size(); ++i) note(i, 0);
    }

    const Cells& cells_;
    const std::vector<Column>& columns_;
    const Limits& limits_;
    Repeats repeats_;
    UnitsOf units_of_;
    Adder<Form, NodeForm> adder_;
    UnfilledVector<std::uint32_t> leaf_;  // of each row, in the end
    RowOrders rows_, validation_;
    std::vector<Best> best_;  // of each thread
    Units units_;
    std::vector<BoostedNode> nodes_;
    HistogramStore<NodeEntry> histograms_;
    OpenNodes open_;
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
