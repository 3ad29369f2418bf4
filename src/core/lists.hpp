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
    /// A cut of one column.
    struct ColumnCut {
        Split split;
        std::size_t n_first = 0;       // number: how many rows of its list come before the cut
        std::vector<char> group_left;  // category: which groups of its list go left
        double weight_left = 0;
    };
    /// A leaf that can be split, with its best split.
    struct Candidate : ColumnCut {
        std::int32_t node = -1;
        std::uint32_t begin = 0, end = 0;  // its part of every list
        std::int64_t depth = 0;
        std::uint64_t key = 0;
        Grids grids;  // first those that it inherits, then its own
        double weight = 0;

        std::size_t size() const { return end - begin; }
        /// Order of a heap whose top has the largest gain; the node made first wins a tie.
        bool operator<(const Candidate& other) const {
            const double mine = ranked(this->split.gain), others = ranked(other.split.gain);
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
        root.grids = job.grids;
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
        enter_node(scanner_, ids, candidate.grids);
        candidate.weight = scanner_.weight();
        cuts_.clear(scanner_.noise());
        for (auto columns = draw_.first(candidate.key); !columns.empty();
             columns = has_any() ? std::span<const std::int32_t>() : draw_.next())
            for (const auto column : columns) {
                if (is_settled(candidate)) break;
                if (!keeps_lists_) sort(static_cast<std::size_t>(column), ids, list(0) + candidate.begin);
                try_column(candidate, static_cast<std::size_t>(column));
            }
        if constexpr (ratio) choose_by_ratio(candidate);
        if (cuts_.found()) static_cast<ColumnCut&>(candidate) = std::move(cuts_.first());
        if (keeps_lists_ && candidate.split.found()) finish_number(candidate, candidate);
        if (!candidate.split.found() || candidate.split.gain < limits_.min_gain) return false;
        if (!is_significant(candidate, ids)) return false;
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
    bool is_settled(const Candidate& candidate) const {
        if (ratio || !cuts_.found()) return false;
        if constexpr (requires { scanner_.most(); })
            if (cuts_.ties_with(scanner_.most())) return true;
        return candidate.size() == 2;
    }
    /// What a cut of a number still lacks: the values on both sides of it, and a gain that does not depend on
    /// how the scanner came to it.
    void finish_number(const Candidate& node, ColumnCut& cut) {
        if (problem_.columns[cut.split.column].is_category()) return;
        find_gap(node, cut);
        if constexpr (requires { scanner_.rounds_scores(); })
            if (scanner_.rounds_scores()) cut.split.gain = plain_gain(node, cut);
    }
    double plain_gain(const Candidate& node, const ColumnCut& cut) {
        const Id* const entries = list(static_cast<std::size_t>(cut.split.column)) + node.begin;
        const std::size_t n_known = known_rows(static_cast<std::size_t>(cut.split.column), node);
        left_.assign(scanner_.width(), 0);
        for (std::size_t i = 0; i < cut.n_first; ++i) scanner_.add_to(left_.data(), entries[i]);
        for (std::size_t i = n_known; cut.split.missing_left && i < node.size(); ++i)
            scanner_.add_to(left_.data(), entries[i]);
        return std::max(0.0, scanner_.gain(scanner_.score_of(left_.data())));
    }
    /// All known values lie left where the missing ones alone go right.
    void find_gap(const Candidate& node, ColumnCut& cut) {
        const auto column = static_cast<std::size_t>(cut.split.column);
        const Id* const entries = list(column) + node.begin;
        const bool all_known_left = cut.n_first == known_rows(column, node);
        const auto value = [&](std::size_t i) {
            return all_known_left ? std::numeric_limits<double>::infinity()
                                  : problem_.columns[column].value(rows_[entries[i]]);
        };
        cut.split.low = value(cut.n_first - 1);
        cut.split.high = value(cut.n_first);
    }
    /// Whether a drawn column divides the node; a last resort is none while there are columns to draw.
    bool has_any() {
        return ratio ? !rivals_.empty() : cuts_.found() && !cuts_.first().split.is_last_resort();
    }

    void try_column(const Candidate& node, std::size_t column) {
        if (is_constant_[column]) return;
        constexpr std::size_t long_scan = 10000;
        if (node.size() > long_scan) problem_.interrupt->check();
        if constexpr (ratio) cuts_.clear(scanner_.noise());
        if (problem_.columns[column].is_category())
            try_category(node, column);
        else
            try_number(node, column);
        if constexpr (ratio)
            if (cuts_.found()) rivals_.push_back(std::move(cuts_.first()));
    }
    /// A cut that scores more than all before it.
    void offer(const Candidate& node, std::size_t column, double score, ColumnCut&& cut) {
        cut.split.column = static_cast<std::int32_t>(column);
        cut.split.gain = std::max(0.0, scanner_.gain(score));
        cut.split.rank = problem_.columns[column].is_category() ? rank_of(limits_, score) : 0.0;
        if (!keeps_lists_) finish_number(node, cut);
        cuts_.add(score, std::move(cut));
    }
    void choose_by_ratio(const Candidate& node) {
        std::vector<RatioEntry> entries;
        for (const auto& rival : rivals_)
            entries.push_back(
                {rival.split.gain, split_information(rival.weight_left, node.weight - rival.weight_left)});
        const auto winner = ratio_winner(entries, scanner_.gain(scanner_.noise()));
        cuts_.clear(scanner_.noise());
        if (winner >= 0) cuts_.add(rivals_[winner].split.gain, std::move(rivals_[winner]));
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

    void try_number(const Candidate& node, std::size_t column) {
        const Id* entries = list(column) + node.begin;
        const std::size_t n_known = known_rows(column, node);
        constexpr std::size_t worth_a_look = 16;  // in fewer rows a constant column is found out on the way
        if (n_known == 0 || (n_known == node.size() && n_known > worth_a_look &&
                             rank(column)[entries[0]] == rank(column)[entries[n_known - 1]]))
            return;
        scan(node, column, n_known, false, places_);
        if (n_known < node.size()) {
            scan(node, column, n_known, true, other_places_);
            merge_sides(places_, other_places_, scanner_.noise(), standing());
        }
        places_.for_each([&](double score, const ListPlace& place) {
            ColumnCut cut;
            cut.n_first = place.n_first;
            cut.weight_left = place.weight_left;
            cut.split.missing_left = place.missing_left;
            cut.split.saw_missing = n_known < node.size();
            offer(node, column, score, std::move(cut));
        });
    }
    /// What a cut has to exceed to be of interest.
    double standing() const { return cuts_.largest(); }

    /// Tries every cut of one sorted list, with the missing rows on one side.
    void scan(const Candidate& node, std::size_t column, std::size_t n_known, bool missing_left,
              Records<ListPlace>& places) {
        const Id* entries = list(column) + node.begin;
        const Id* ranks = rank(column);
        const std::size_t n = node.size(), n_missing = n - n_known, extra = missing_left ? n_missing : 0;
        const auto min_leaf = static_cast<std::size_t>(limits_.min_rows_leaf);
        std::size_t first = min_leaf > extra + 1 ? min_leaf - extra : 1;
        std::size_t last = std::min(n_missing > 0 && !missing_left ? n_known : n_known - 1,
                                    n > min_leaf + extra ? n - min_leaf - extra : 0);
        places.clear(scanner_.noise(), standing());
        if (limits_.random_splits) {
            // One value and missing ones: the only cut is between the two.
            const bool one_value = ranks[entries[0]] == ranks[entries[n_known - 1]];
            if (n_missing > 0 && (!one_value && draws_missing_left(node.key, column)) != missing_left) return;
            const std::size_t drawn =
                one_value ? n_known
                          : drawn_cut(threshold_stream(node.key, column), n_known, [&](std::size_t i) {
                                return problem_.columns[column].value(rows_[entries[i]]);
                            });
            if (drawn < first || drawn > last) return;
            first = last = drawn;
        }
        if (first > last || last == 0) return;
        auto cursor = scanner_.cursor();
        for (std::size_t i = n_known; missing_left && i < n; ++i) cursor.add(entries[i]);
        for (std::size_t i = 0; i + 1 < first; ++i) cursor.add(entries[i]);
        for (std::size_t i = first; (i = seek(cursor, entries, i, last, extra, places.largest())) <= last;
             ++i) {
            if (i < n_known && ranks[entries[i - 1]] == ranks[entries[i]]) continue;
            const double weight = cursor.weight(i + extra);
            if (std::min(weight, node.weight - weight) < limits_.min_weight_leaf) continue;
            places.add(cursor.score(i + extra), {i, missing_left, weight});
        }
    }
    void try_category(const Candidate& node, std::size_t column) {
        const Id* entries = list(column) + node.begin;
        const std::size_t n_known = known_rows(column, node);
        find_groups(column, entries, n_known);
        const std::size_t n_groups = group_start_.size() - 1;
        if (n_groups == 0 || (n_groups == 1 && n_known == node.size())) return;
        Subset subset;
        double score;
        if constexpr (Scanner::is_additive) {
            gather_groups(entries, n_known, node.size());
            SubsetSearch<Scanner> search(scanner_, limits_, groups_, node.size(), scanner_.noise(),
                                         standing());
            Random random = subset_stream(node.key, column);
            if (!(limits_.random_splits && n_groups > 1 ? search.run_random(random) : search.run())) return;
            score = search.score();
            subset = std::move(search.found);
        } else {
            std::vector<std::span<const Id>> groups;
            for (std::size_t g = 0; g < n_groups; ++g)
                groups.emplace_back(entries + group_start_[g], entries + group_start_[g + 1]);
            if (n_known < node.size()) groups.emplace_back(entries + n_known, entries + node.size());
            MedianDivision<Scanner, Id> division(scanner_, limits_, std::move(groups), n_groups,
                                                 scanner_.noise(), standing());
            if (!division.run(problem_.targets.n_outputs > 1,
                              [&](Id id) { return problem_.weight(rows_[id]); }))
                return;
            score = division.score();
            subset = std::move(division.found);
        }
        ColumnCut cut;
        cut.weight_left = subset.weight_left;
        cut.split.missing_left = subset.missing_left;
        cut.split.saw_missing = n_known < node.size();
        for (std::size_t g = 0; g < n_groups; ++g) {
            const auto code = problem_.columns[column].code(rows_[entries[group_start_[g]]]);
            (subset.is_left[g] ? cut.split.left_codes : cut.split.right_codes).push_back(code);
        }
        cut.group_left = std::move(subset.is_left);
        offer(node, column, score, std::move(cut));
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
            child.grids = parent.grids;
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
    std::vector<Candidate> frontier_;
    std::vector<ColumnCut> rivals_;             // the best cut of each column, where ratios choose
    Records<ColumnCut> cuts_;                   // of the node that is searched
    Records<ListPlace> places_, other_places_;  // of the column; of it with the missing rows on the left
    std::vector<std::size_t> group_start_;
    std::vector<Sum> left_;  // the statistic of a cut
    Groups groups_;
    ColumnSorter<Id> sorter_;
    bool best_first_ = false;
    std::int64_t n_splits_ = 0;
};

}  // namespace treewright
