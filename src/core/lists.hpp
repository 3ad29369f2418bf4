// Growing a subtree in sorted lists: each column's rows are sorted once, and every split divides all lists
// without disturbing their order. Fast while the lists stay in cache; exact at any size. Where nodes draw a
// few of many columns, no lists are kept: a node sorts its rows by the columns that it has drawn.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <ranges>
#include <span>
#include <vector>

#include "column_draw.hpp"
#include "median_groups.hpp"
#include "nodes.hpp"
#include "problem.hpp"
#include "random_cuts.hpp"
#include "sides.hpp"
#include "significance.hpp"
#include "sorting.hpp"
#include "splitting.hpp"
#include "subsets.hpp"

namespace treewright {

template <class Id, class Scanner, bool ratio>
class ListGrower {
  public:
    explicit ListGrower(const Problem& problem)
        : problem_(problem),
          limits_(problem.limits),
          scanner_(problem),
          significance_(problem),
          draw_(problem),
          keeps_lists_(!draw_.draws() || sorting_cost * draw_.n_first() > problem.columns.size()) {}

    void grow(Row* rows, const Job& job, Nodes& out) {
        prepare(rows, job, out);
        while (!frontier_.empty() && (job.max_splits < 0 || n_splits_ < job.max_splits)) {
            problem_.interrupt->check();
            split(take());
        }
        std::vector<Row> sorted(n_);
        for (std::size_t i = 0; i < n_; ++i) sorted[i] = rows_[row_list()[i]];
        std::copy(sorted.begin(), sorted.end(), rows);
    }

  private:
    /// A leaf that can be split, with its best split.
    struct Candidate {
        std::int32_t node = -1;
        std::uint32_t begin = 0, end = 0;  // its part of every list
        std::int64_t depth = 0;
        std::uint64_t key = 0;
        Split split;
        std::size_t n_first = 0;       // number: how many rows of its list come before the cut
        std::vector<char> group_left;  // category: which groups of its list go left
        double weight_left = 0, weight = 0;

        std::size_t size() const { return end - begin; }
        /// Order of a heap whose top has the largest gain; the node made first wins a tie.
        bool operator<(const Candidate& other) const {
            const double mine = ranked(split.gain), others = ranked(other.split.gain);
            return mine != others ? mine < others : node > other.node;
        }
    };

    /// What sorting the rows of a node by one column takes, in times of dividing a list that is kept.
    static constexpr std::size_t sorting_cost = 6;

    std::size_t n_columns() const { return problem_.columns.size(); }
    std::size_t n_lists() const { return keeps_lists_ ? n_columns() : 1; }
    std::size_t place(std::size_t column) const { return keeps_lists_ ? column : 0; }
    Id* list(std::size_t column) { return lists_.data() + place(column) * n_; }
    Id* row_list() { return lists_.data() + n_lists() * n_; }
    const Id* rank(std::size_t column) const { return ranks_.data() + place(column) * n_; }

    void prepare(Row* rows, const Job& job, Nodes& out) {
        out_ = &out;
        rows_.assign(rows, rows + (out.nodes[job.node].end - out.nodes[job.node].begin));
        n_ = rows_.size();
        lists_.resize((n_lists() + 1) * n_);
        ranks_.resize(n_lists() * n_);
        is_constant_.resize(n_columns());
        has_missing_.resize(n_columns());
        for (std::size_t column = 0; keeps_lists_ && column < n_columns(); ++column) {
            sort(column, std::views::iota(std::size_t{0}, n_), list(column));
            if (n_ > 100000) problem_.interrupt->check();
        }
        std::iota(row_list(), row_list() + n_, Id{0});
        goes_left_.resize(n_);
        spill_.resize(n_);
        scanner_.load(rows_);
        n_splits_ = 0;
        best_first_ = job.max_splits >= 0;
        frontier_.clear();
        Candidate root;
        root.node = job.node;
        root.end = static_cast<std::uint32_t>(n_);
        root.depth = job.depth;
        root.key = job.key;
        consider(std::move(root));
    }

    template <class Ids>
    void sort(std::size_t column, const Ids& ids, Id* sorted) {
        const auto facts =
            sorter_.sort(problem_.columns[column], rows_, ids, sorted, ranks_.data() + place(column) * n_);
        is_constant_[column] = facts.is_constant;
        has_missing_[column] = facts.has_missing;
    }

    Candidate take() {
        if (best_first_) std::pop_heap(frontier_.begin(), frontier_.end());
        Candidate candidate = std::move(frontier_.back());
        frontier_.pop_back();
        return candidate;
    }
    bool is_open(std::uint32_t begin, std::uint32_t end, std::int64_t depth) {
        if (!may_split(limits_, end - begin, depth)) return false;
        const Id *first = row_list() + begin, *last = row_list() + end - 1;
        if (!problem_.same_target(rows_[*first], rows_[*last])) return true;
        return problem_.targets.n_outputs > 1 && !std::all_of(first, last, [&](Id id) {
                   return problem_.same_target(rows_[id], rows_[*last]);
               });
    }
    /// Searches a node's best split and keeps it for later if there is one.
    void consider(Candidate&& candidate) {
        if (!is_open(candidate.begin, candidate.end, candidate.depth) || !search(candidate)) return;
        frontier_.push_back(std::move(candidate));
        if (best_first_) std::push_heap(frontier_.begin(), frontier_.end());
    }

    bool search(Candidate& candidate) {
        const std::span<const Id> ids(row_list() + candidate.begin, candidate.size());
        scanner_.enter(ids);
        candidate.weight = scanner_.weight();
        Best best;
        best.noise = scanner_.noise();
        for (auto columns = draw_.first(candidate.key); !columns.empty();
             columns = has_any(candidate) ? std::span<const std::int32_t>() : draw_.next())
            for (const auto column : columns) {
                if (is_settled(candidate, best)) break;
                if (!keeps_lists_) sort(static_cast<std::size_t>(column), ids, list(0) + candidate.begin);
                try_column(candidate, static_cast<std::size_t>(column), best);
            }
        if constexpr (ratio) choose_by_ratio(candidate);
        if (!candidate.split.found() || candidate.split.gain < limits_.min_gain) return false;
        if (!is_significant(candidate, ids)) return false;
        if (keeps_lists_) find_gap(candidate);
        return true;
    }
    bool is_significant(const Candidate& candidate, std::span<const Id> ids) {
        if (limits_.critical.empty()) return true;
        mark_sides(candidate);
        return significance_.passes(
            ids, [&](Id id) { return rows_[id]; }, [&](Id id) { return goes_left_[id]; });
    }
    /// Whether no further column can do better: two rows have one cut only, and a cut that leaves no risk is
    /// as good as any. The first column wins a tie.
    bool is_settled(const Candidate& candidate, const Best& best) const {
        if (ratio || !candidate.split.found()) return false;
        if constexpr (requires { scanner_.most(); })
            if (!best.beaten_by(scanner_.most())) return true;
        return candidate.size() == 2;
    }
    /// The values on both sides of the cut; all known values lie left where the missing ones alone go right.
    void find_gap(Candidate& node) {
        const auto column = static_cast<std::size_t>(node.split.column);
        if (problem_.columns[column].is_category()) return;
        const Id* const entries = list(column) + node.begin;
        const bool all_known_left = node.n_first == known_rows(column, node);
        const auto value = [&](std::size_t i) {
            return all_known_left ? std::numeric_limits<double>::infinity()
                                  : problem_.columns[column].value(rows_[entries[i]]);
        };
        node.split.low = value(node.n_first - 1);
        node.split.high = value(node.n_first);
    }
    /// Whether a drawn column divides the node; a last resort is none while there are columns to draw.
    bool has_any(const Candidate& candidate) const {
        return ratio ? !rivals_.empty() : candidate.split.found() && !candidate.split.is_last_resort();
    }

    void try_column(Candidate& candidate, std::size_t column, Best& best) {
        if (is_constant_[column]) return;
        constexpr std::size_t long_scan = 10000;
        if (candidate.size() > long_scan) problem_.interrupt->check();
        if constexpr (ratio) best = Best{.noise = scanner_.noise()};
        const bool better = problem_.columns[column].is_category() ? try_category(candidate, column, best)
                                                                   : try_number(candidate, column, best);
        if (!better) return;
        candidate.split.column = static_cast<std::int32_t>(column);
        candidate.split.gain = std::max(0.0, scanner_.gain(best.score));
        candidate.split.rank = problem_.columns[column].is_category() ? rank_of(limits_, best.score) : 0.0;
        if (!keeps_lists_) find_gap(candidate);
        if constexpr (ratio) rivals_.push_back(candidate);
    }
    void choose_by_ratio(Candidate& candidate) {
        std::vector<RatioEntry> entries;
        for (const auto& rival : rivals_)
            entries.push_back(
                {rival.split.gain, split_information(rival.weight_left, rival.weight - rival.weight_left)});
        const auto winner = ratio_winner(entries, scanner_.gain(scanner_.noise()));
        if (winner >= 0) candidate = std::move(rivals_[winner]);
        rivals_.clear();
    }

    std::size_t known_rows(std::size_t column, const Candidate& node) {
        if (!has_missing_[column]) return node.size();
        const Id* entries = list(column) + node.begin;
        return static_cast<std::size_t>(
            std::partition_point(entries, entries + node.size(),
                                 [&](Id id) { return rank(column)[id] != missing_rank<Id>; }) -
            entries);
    }

    struct Cut {
        Best best;
        std::size_t n_first = 0;
        bool missing_left = false;
        double weight_left = 0;
        bool found = false;
    };

    bool try_number(Candidate& node, std::size_t column, Best& best) {
        const Id* entries = list(column) + node.begin;
        const std::size_t n_known = known_rows(column, node);
        constexpr std::size_t worth_a_look = 16;  // in fewer rows a constant column is found out on the way
        if (n_known == 0 || (n_known == node.size() && n_known > worth_a_look &&
                             rank(column)[entries[0]] == rank(column)[entries[n_known - 1]]))
            return false;
        Cut cut = scan(node, column, n_known, false, best);
        if (n_known < node.size()) {
            Cut other = scan(node, column, n_known, true, best);
            if (other.found && (!cut.found || cut.best.beaten_by(other.best.score) ||
                                (cut.best.ties_with(other.best.score) && other.n_first <= cut.n_first)))
                cut = other;
        }
        if (!cut.found) return false;
        best = cut.best;
        node.n_first = cut.n_first;
        node.weight_left = cut.weight_left;
        node.split.missing_left = cut.missing_left;
        node.split.saw_missing = n_known < node.size();
        return true;
    }

    /// Tries every cut of one sorted list, with the missing rows on one side.
    Cut scan(const Candidate& node, std::size_t column, std::size_t n_known, bool missing_left,
             const Best& standing) {
        const Id* entries = list(column) + node.begin;
        const Id* ranks = rank(column);
        const std::size_t n = node.size(), n_missing = n - n_known, extra = missing_left ? n_missing : 0;
        const auto min_leaf = static_cast<std::size_t>(limits_.min_rows_leaf);
        std::size_t first = min_leaf > extra + 1 ? min_leaf - extra : 1;
        std::size_t last = std::min(n_missing > 0 && !missing_left ? n_known : n_known - 1,
                                    n > min_leaf + extra ? n - min_leaf - extra : 0);
        if (limits_.random_splits) {
            // One value and missing ones: the only cut is between the two.
            const bool one_value = ranks[entries[0]] == ranks[entries[n_known - 1]];
            if (n_missing > 0 && (!one_value && draws_missing_left(node.key, column)) != missing_left)
                return {standing};
            const std::size_t drawn =
                one_value ? n_known
                          : drawn_cut(threshold_stream(node.key, column), n_known, [&](std::size_t i) {
                                return problem_.columns[column].value(rows_[entries[i]]);
                            });
            if (drawn < first || drawn > last) return {standing};
            first = last = drawn;
        }
        Cut cut{standing, 0, missing_left};
        if (first > last || last == 0) return cut;
        auto cursor = scanner_.cursor();
        for (std::size_t i = n_known; missing_left && i < n; ++i) cursor.add(entries[i]);
        for (std::size_t i = 0; i + 1 < first; ++i) cursor.add(entries[i]);
        for (std::size_t i = first; (i = seek(cursor, entries, i, last, extra, cut.best.cut)) <= last; ++i) {
            if (i < n_known && ranks[entries[i - 1]] == ranks[entries[i]]) continue;
            const double weight = cursor.weight(i + extra);
            if (std::min(weight, node.weight - weight) < limits_.min_weight_leaf) continue;
            cut.best.set(cursor.score(i + extra));
            cut.n_first = i;
            cut.weight_left = weight;
            cut.found = true;
        }
        return cut;
    }
    bool try_category(Candidate& node, std::size_t column, Best& best) {
        const Id* entries = list(column) + node.begin;
        const std::size_t n_known = known_rows(column, node);
        find_groups(column, entries, n_known);
        const std::size_t n_groups = group_start_.size() - 1;
        if (n_groups == 0 || (n_groups == 1 && n_known == node.size())) return false;
        Subset subset;
        if constexpr (Scanner::is_additive) {
            gather_groups(entries, n_known, node.size());
            SubsetSearch<Scanner> search(scanner_, limits_, groups_, node.size(), best);
            Random random = subset_stream(node.key, column);
            if (!(limits_.random_splits && n_groups > 1 ? search.run_random(random) : search.run()))
                return false;
            subset = std::move(search.found);
        } else {
            std::vector<std::span<const Id>> groups;
            for (std::size_t g = 0; g < n_groups; ++g)
                groups.emplace_back(entries + group_start_[g], entries + group_start_[g + 1]);
            if (n_known < node.size()) groups.emplace_back(entries + n_known, entries + node.size());
            MedianDivision<Scanner, Id> division(scanner_, limits_, std::move(groups), n_groups, best);
            if (!division.run(problem_.targets.n_outputs > 1,
                              [&](Id id) { return problem_.weight(rows_[id]); }))
                return false;
            subset = std::move(division.found);
        }
        node.weight_left = subset.weight_left;
        node.split.missing_left = subset.missing_left;
        node.split.saw_missing = n_known < node.size();
        node.split.left_codes.clear();
        node.split.right_codes.clear();
        for (std::size_t g = 0; g < n_groups; ++g) {
            const auto code = problem_.columns[column].code(rows_[entries[group_start_[g]]]);
            (subset.is_left[g] ? node.split.left_codes : node.split.right_codes).push_back(code);
        }
        node.group_left = std::move(subset.is_left);
        return true;
    }
    void find_groups(std::size_t column, const Id* entries, std::size_t n_known) {
        group_start_.clear();
        for (std::size_t i = 0; i < n_known; ++i)
            if (i == 0 || rank(column)[entries[i]] != rank(column)[entries[i - 1]]) group_start_.push_back(i);
        group_start_.push_back(n_known);
    }
    void gather_groups(const Id* entries, std::size_t n_known, std::size_t n) {
        const std::size_t width = scanner_.width();
        groups_.n = group_start_.size() - 1;
        groups_.statistics.assign(groups_.n * width, 0);
        groups_.counts.resize(groups_.n);
        groups_.missing.assign(width, 0);
        groups_.n_missing = n - n_known;
        for (std::size_t g = 0; g < groups_.n; ++g) {
            groups_.counts[g] = group_start_[g + 1] - group_start_[g];
            for (std::size_t i = group_start_[g]; i < group_start_[g + 1]; ++i)
                scanner_.add_to(groups_.statistics.data() + g * width, entries[i]);
        }
        for (std::size_t i = n_known; i < n; ++i) scanner_.add_to(groups_.missing.data(), entries[i]);
    }

    void split(const Candidate& parent) {
        ++n_splits_;
        const auto n_left = static_cast<std::uint32_t>(mark_sides(parent));
        const bool heavier_left = parent.weight_left >= parent.weight - parent.weight_left;
        out_->cut(parent.node, problem_, parent.split, n_left, heavier_left);
        const std::int32_t left = out_->nodes[parent.node].left;
        divide(row_list(), parent.begin, parent.end);
        Candidate children[2];
        bool open[2];
        for (const int side : {0, 1}) {
            Candidate& child = children[side];
            child.node = left + side;
            child.begin = side == 0 ? parent.begin : parent.begin + n_left;
            child.end = side == 0 ? parent.begin + n_left : parent.end;
            child.depth = parent.depth + 1;
            child.key = Random::child(parent.key, side == 0);
            open[side] = is_open(child.begin, child.end, child.depth);
        }
        if (!open[0] && !open[1]) return;
        const bool in_order =
            !problem_.columns[parent.split.column].is_category() && !parent.split.saw_missing;
        for (std::size_t column = 0; keeps_lists_ && column < n_columns(); ++column) {
            if (is_constant_[column] || (in_order && column == static_cast<std::size_t>(parent.split.column)))
                continue;
            divide(list(column), parent.begin, parent.end);
        }
        // The right child first, so that a stack yields the left one first.
        for (const int side : {1, 0})
            if (open[side]) consider(std::move(children[side]));
    }
    /// Notes for each row of a node on which side it goes; returns how many go left.
    std::size_t mark_sides(const Candidate& parent) {
        if (!keeps_lists_)
            return mark_by_value(problem_, parent.split, std::span<const Row>(rows_),
                                 std::span<const Id>(row_list() + parent.begin, parent.size()), goes_left_);
        const auto column = static_cast<std::size_t>(parent.split.column);
        const Id* entries = list(column) + parent.begin;
        const std::size_t n_known = known_rows(column, parent);
        std::size_t n_left = 0;
        const auto mark = [&](std::size_t first, std::size_t last, bool left) {
            for (std::size_t i = first; i < last; ++i) goes_left_[entries[i]] = left;
            n_left += left ? last - first : 0;
        };
        if (problem_.columns[column].is_category()) {
            find_groups(column, entries, n_known);
            for (std::size_t g = 0; g + 1 < group_start_.size(); ++g)
                mark(group_start_[g], group_start_[g + 1], parent.group_left[g]);
        } else {
            mark(0, parent.n_first, true);
            mark(parent.n_first, n_known, false);
        }
        mark(n_known, parent.size(), parent.split.missing_left);
        return n_left;
    }
    /// Moves the rows that go left to the front, keeping the order on both sides; no branches.
    void divide(Id* entries, std::uint32_t begin, std::uint32_t end) {
        Id* const spill = spill_.data();
        const std::uint8_t* const goes_left = goes_left_.data();
        std::size_t n_left = begin, n_right = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const Id id = entries[i];
            const std::size_t left = goes_left[id];
            entries[n_left] = id;
            spill[n_right] = id;
            n_left += left;
            n_right += 1 - left;
        }
        std::memcpy(entries + n_left, spill, n_right * sizeof(Id));
    }

    const Problem& problem_;
    const Limits& limits_;
    Scanner scanner_;
    SignificanceTest significance_;
    ColumnDraw draw_;
    bool keeps_lists_;
    Nodes* out_ = nullptr;
    std::vector<Row> rows_;  // by local id
    std::size_t n_ = 0;
    std::vector<Id> lists_, ranks_, spill_;
    std::vector<std::uint8_t> goes_left_, is_constant_, has_missing_;
    std::vector<Candidate> frontier_, rivals_;
    std::vector<std::size_t> group_start_;
    Groups groups_;
    ColumnSorter<Id> sorter_;
    bool best_first_ = false;
    std::int64_t n_splits_ = 0;
};

}  // namespace treewright
