// Growing a subtree on one thread: the frame of all growers of small nodes. How a node's columns are searched
// is the business of a finder.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data/problem.hpp"
#include "growers/column_draw.hpp"
#include "growers/frontier.hpp"
#include "growers/nodes.hpp"
#include "growers/significance.hpp"
#include "growers/split.hpp"
#include "scanners/list_scanner.hpp"

namespace treewright {

/// A cut of one column.
struct ColumnCut {
    Split split{};
    double weight_left = 0;
    std::size_t n_first =
        0;  // a number: how many rows of its list, or of its values, lie before the cut or go left
    std::vector<char> group_left{};  // a sorted list's category: which of its groups go left
};

/// A leaf that can be split, with its best cut. Its rows are those of the ids [begin, end).
struct Leaf : ColumnCut {
    std::int32_t node = -1;
    std::uint32_t begin = 0, end = 0;
    std::int64_t depth = 0;
    std::uint64_t key = 0;  // of the node's random stream
    Grids grids{};          // first those that it inherits, then its own
    double weight = 0;

    std::size_t size() const { return end - begin; }
    double worth() const { return split.gain; }
    std::int64_t made() const { return node; }
};

/// The subtree at hand as its finder sees it.
template <class Id>
struct Subtree {
    const Problem& problem;
    ListScanner<Id>& scanner;
    std::vector<Row> rows{};                // by id: their place in the canonical order
    std::vector<Id> ids{};                  // of all leaves, one after the other
    std::vector<std::uint8_t> goes_left{};  // by id, for the split at hand
    std::vector<Id> spill{};
    std::vector<Sum> left{};  // the statistic of a cut

    std::span<Id> ids_of(const Leaf& leaf) { return {ids.data() + leaf.begin, leaf.size()}; }
    /// A cut of a column that still lacks all but its gain.
    ColumnCut cut_of(std::size_t column, double score) const {
        ColumnCut cut;
        cut.split.column = static_cast<std::int32_t>(column);
        cut.split.gain = std::max(0.0, scanner.gain(score));
        return cut;
    }
    /// The gain of sending some rows left, whichever way the scanner came to it.
    double plain_gain(std::span<const Id> some, std::span<const Id> others = {}) {
        GroupScorer& scorer = *scanner.groups();
        left.assign(scorer.width(), 0);
        scanner.add_to(left.data(), some);
        scanner.add_to(left.data(), others);
        return std::max(0.0, scanner.gain(scorer.score_of(left.data())));
    }
    /// Moves the ids that go left to the front, keeping the order on both sides; no branches.
    void divide(std::span<Id> some) {
        divide(some, [side = goes_left.data()](std::size_t, Id id) { return side[id]; });
    }
    /// The same where side(i, id) tells whether the i-th of them goes left.
    template <class Side>
    void divide(std::span<Id> some, Side side) {
        Id *const entries = some.data(), *const rest = spill.data();
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t i = 0; i < some.size(); ++i) {
            const Id id = entries[i];
            const std::size_t left = side(i, id);
            entries[n_left] = id;
            rest[n_right] = id;
            n_left += left;
            n_right += 1 - left;
        }
        std::memcpy(entries + n_left, rest, n_right * sizeof(Id));
    }
};

/// Searches the columns of a node.
template <class F, class Id>
concept SplitFinder =
    requires(F finder, const F same, Subtree<Id>& subtree, Leaf& leaf, const Leaf& parent,
             const ColumnDraw& draw, std::size_t column, std::size_t n_left, Records<ColumnCut>& cuts) {
        F(subtree, draw);
        finder.load(bool());  // once per subtree; whether leaves are split best first
        /// Whether a leaf is better grown from an excerpt of its rows.
        { same.leaves(parent) } -> std::same_as<bool>;
        finder.enter(parent);  // before the columns of a leaf are tried
        /// Adds the cuts of a column that score more than all before them.
        finder.try_column(parent, column, cuts);
        /// Tells what the chosen cut still lacks: the values on both sides of it, and a gain that does not
        /// depend on how the scanner came to it.
        finder.finish(leaf);
        /// Notes by id which rows go left; returns how many do.
        { finder.mark_sides(parent) } -> std::same_as<std::size_t>;
        /// Divides the ids of a leaf; returns how many go left.
        { finder.divide_ids(parent) } -> std::same_as<std::size_t>;
        /// After the ids of a leaf, of which so many go left: divides what else is kept of them.
        finder.divide(parent, n_left);
    };

template <class Id, SplitFinder<Id> Finder>
class SubtreeGrower {
  public:
    SubtreeGrower(const Problem& problem, std::unique_ptr<ListScanner<Id>> scanner, bool by_ratio)
        : problem_(problem),
          limits_(problem.limits),
          by_ratio_(by_ratio),
          scanner_(std::move(scanner)),
          subtree_{problem, *scanner_},
          draw_(problem),
          finder_(subtree_, draw_),
          significance_(problem) {}

    /// Grows the whole subtree of a node; its nodes are appended to `out`, whose first node is the subtree's
    /// root. Reorders the node's rows.
    void grow(Row* rows, const Job& job, Nodes& out) {
        out_ = &out;
        auto& [_, scanner, own_rows, ids, goes_left, spill, left] = subtree_;
        own_rows.assign(rows, rows + out.nodes[job.node].size());
        const std::size_t n = own_rows.size();
        ids.resize(n);
        std::iota(ids.begin(), ids.end(), Id{0});
        goes_left.resize(n);
        spill.resize(n);
        scanner.load(own_rows);
        const bool is_budgeted = job.max_splits >= 0;
        finder_.load(is_budgeted);
        frontier_ = Frontier<Leaf>(is_budgeted);
        Leaf root;
        root.node = job.node;
        root.end = static_cast<std::uint32_t>(n);
        root.depth = job.depth;
        root.key = job.key;
        root.grids = job.grids;
        if (is_open(root)) consider(std::move(root));
        for (std::int64_t n_splits = 0; !frontier_.is_empty() && (!is_budgeted || n_splits < job.max_splits);
             ++n_splits) {
            constexpr std::int64_t check_period = 32;  // splits between looks for Ctrl-C
            if (n_splits % check_period == 0) problem_.interrupt->check();
            split(frontier_.take());
        }
        std::vector<Row> sorted(n);
        for (std::size_t i = 0; i < n; ++i) sorted[i] = own_rows[ids[i]];
        std::copy(sorted.begin(), sorted.end(), rows);
    }

  private:
    bool is_open(const Leaf& leaf) {
        if (!may_split(limits_, leaf.size(), leaf.depth)) return false;
        const auto ids = subtree_.ids_of(leaf);
        const auto& rows = subtree_.rows;
        if (!problem_.same_target(rows[ids.front()], rows[ids.back()])) return true;
        return problem_.targets.n_outputs > 1 && !std::all_of(ids.begin(), ids.end(), [&](Id id) {
                   return problem_.same_target(rows[id], rows[ids.back()]);
               });
    }
    /// Searches an open leaf's best split and keeps it for later if there is one.
    void consider(Leaf&& leaf) {
        if (finder_.leaves(leaf))
            out_->pending.push_back({leaf.node, leaf.depth, leaf.key, -1, leaf.grids});
        else if (search(leaf))
            frontier_.push(std::move(leaf));
    }

    bool search(Leaf& leaf) {
        scanner_->enter(subtree_.ids_of(leaf), leaf.grids);
        finder_.enter(leaf);
        leaf.weight = scanner_->weight();
        cuts_.clear(scanner_->noise());
        for (auto columns = draw_.first(leaf.key); !columns.empty();
             columns = has_any() ? std::span<const std::int32_t>() : draw_.next())
            for (const auto column : columns) {
                if (is_settled(leaf)) break;
                constexpr std::size_t many = 10000;
                if (leaf.size() > many) problem_.interrupt->check();
                if (by_ratio_) cuts_.clear(scanner_->noise());
                finder_.try_column(leaf, static_cast<std::size_t>(column), cuts_);
                if (by_ratio_ && cuts_.found()) rivals_.push_back(std::move(cuts_.first()));
            }
        if (by_ratio_) choose_by_ratio(leaf);
        if (!cuts_.found()) return false;
        static_cast<ColumnCut&>(leaf) = std::move(cuts_.first());
        finder_.finish(leaf);
        return leaf.split.gain >= limits_.min_gain && is_significant(leaf);
    }
    bool is_significant(const Leaf& leaf) {
        if (limits_.critical.empty()) return true;
        finder_.mark_sides(leaf);
        return significance_.passes(
            std::span<const Id>(subtree_.ids_of(leaf)), [&](Id id) { return subtree_.rows[id]; },
            [&](Id id) { return subtree_.goes_left[id]; });
    }
    /// Whether no further column can do better: two rows have one cut only, and a cut that leaves no risk is
    /// as good as any. The first column wins a tie.
    bool is_settled(const Leaf& leaf) const {
        if (by_ratio_ || !cuts_.found()) return false;
        return (scanner_->most() < unbounded && cuts_.ties_with(scanner_->most())) || leaf.size() == 2;
    }
    /// Whether a drawn column divides the node; a last resort is none while there are columns to draw.
    bool has_any() {
        return by_ratio_ ? !rivals_.empty() : cuts_.found() && !cuts_.first().split.is_last_resort();
    }
    void choose_by_ratio(const Leaf& leaf) {
        std::vector<RatioEntry> entries;
        for (const auto& rival : rivals_)
            entries.push_back(
                {rival.split.gain, split_information(rival.weight_left, leaf.weight - rival.weight_left)});
        const auto winner = ratio_winner(entries, scanner_->gain(scanner_->noise()));
        cuts_.clear(scanner_->noise());
        if (winner >= 0) cuts_.add(rivals_[winner].split.gain, std::move(rivals_[winner]));
        rivals_.clear();
    }

    void split(const Leaf& parent) {
        const auto n_left = static_cast<std::uint32_t>(finder_.divide_ids(parent));
        const bool heavier_left = parent.weight_left >= parent.weight - parent.weight_left;
        out_->cut(parent.node, problem_, parent.split, n_left, heavier_left);
        const std::int32_t left = out_->nodes[parent.node].left;
        const std::uint32_t middle = parent.begin + n_left;
        Leaf children[2];
        for (const int side : {0, 1}) {
            Leaf& child = children[side];
            child.node = left + side;
            child.begin = side == 0 ? parent.begin : middle;
            child.end = side == 0 ? middle : parent.end;
            child.depth = parent.depth + 1;
            child.key = Random::child(parent.key, side == 0);
            child.grids = parent.grids;
        }
        const bool is_left_open = is_open(children[0]), is_right_open = is_open(children[1]);
        if (is_left_open || is_right_open) finder_.divide(parent, n_left);
        // The right child first, so that a stack yields the left one first.
        if (is_right_open) consider(std::move(children[1]));
        if (is_left_open) consider(std::move(children[0]));
    }

    const Problem& problem_;
    const Limits& limits_;
    const bool by_ratio_;
    std::unique_ptr<ListScanner<Id>> scanner_;
    Subtree<Id> subtree_;
    ColumnDraw draw_;
    Finder finder_;
    SignificanceTest significance_;
    Nodes* out_ = nullptr;
    Frontier<Leaf> frontier_;
    Records<ColumnCut> cuts_;        // of the leaf that is searched
    std::vector<ColumnCut> rivals_;  // the best cut of each column, where ratios choose
};

}  // namespace treewright
