// Searching small nodes in sorted lists: each column's rows are sorted once, and every split divides all
// lists without disturbing their order. Fast while the lists stay in cache; exact at any size. Where nodes
// draw a few of many columns, no lists are kept: a node sorts its rows by the columns that it has drawn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "data/column_sorter.hpp"
#include "data/problem.hpp"
#include "growers/column_draw.hpp"
#include "growers/random_cuts.hpp"
#include "growers/sides.hpp"
#include "growers/split.hpp"
#include "growers/subsets.hpp"
#include "growers/subtree.hpp"
#include "scanners/list_scanner.hpp"

namespace treewright {

template <class Id>
class SortedListFinder {
  public:
    SortedListFinder(Subtree<Id>& subtree, const ColumnDraw& draw)
        : subtree_(subtree),
          problem_(subtree.problem),
          limits_(subtree.problem.limits),
          scanner_(subtree.scanner),
          keeps_lists_(!draw.draws() || sorting_cost * draw.n_first() > subtree.problem.columns.size()) {}

    void load(bool) {
        n_ = subtree_.rows.size();
        lists_.resize(n_lists() * n_);
        ranks_.resize(n_lists() * n_);
        is_constant_.resize(n_columns());
        has_missing_.resize(n_columns());
        for (std::size_t column = 0; keeps_lists_ && column < n_columns(); ++column) {
            sort(column, std::views::iota(std::size_t{0}, n_), list(column));
            if (n_ > 100000) problem_.interrupt->check();
        }
    }
    bool leaves(const Leaf&) const { return false; }
    void enter(const Leaf&) {}

    void try_column(const Leaf& leaf, std::size_t column, Records<ColumnCut>& cuts) {
        if (!keeps_lists_)
            sort(column, std::span<const Id>(subtree_.ids_of(leaf)), list(column) + leaf.begin);
        if (is_constant_[column]) return;
        if (problem_.columns[column].is_category())
            try_category(leaf, column, cuts);
        else
            try_number(leaf, column, cuts);
    }
    void finish(Leaf& leaf) {
        if (keeps_lists_ && !problem_.columns[leaf.split.column].is_category()) finish_number(leaf, leaf);
    }

    std::size_t mark_sides(const Leaf& parent) {
        auto& goes_left = subtree_.goes_left;
        if (!keeps_lists_)
            return mark_by_value(problem_, parent.split, std::span<const Row>(subtree_.rows),
                                 std::span<const Id>(subtree_.ids_of(parent)), goes_left);
        const auto column = static_cast<std::size_t>(parent.split.column);
        const SortedList<Id> sorted = list_of(column, parent);
        std::size_t n_left = 0;
        const auto mark = [&](std::size_t first, std::size_t last, bool left) {
            for (std::size_t i = first; i < last; ++i) goes_left[sorted.entries[i]] = left;
            n_left += left ? last - first : 0;
        };
        if (problem_.columns[column].is_category()) {
            find_groups(column, sorted);
            for (std::size_t g = 0; g + 1 < group_start_.size(); ++g)
                mark(group_start_[g], group_start_[g + 1], parent.group_left[g]);
        } else {
            mark(0, parent.n_first, true);
            mark(parent.n_first, sorted.n_known, false);
        }
        mark(sorted.n_known, sorted.n, parent.split.missing_left);
        return n_left;
    }
    std::size_t divide_ids(const Leaf& parent) {
        const std::size_t n_left = mark_sides(parent);
        subtree_.divide(subtree_.ids_of(parent));
        return n_left;
    }
    void divide(const Leaf& parent) {
        const auto tested = static_cast<std::size_t>(parent.split.column);
        const bool in_order = !problem_.columns[tested].is_category() && !parent.split.saw_missing;
        for (std::size_t column = 0; keeps_lists_ && column < n_columns(); ++column) {
            if (is_constant_[column] || (in_order && column == tested)) continue;
            subtree_.divide({list(column) + parent.begin, parent.size()});
        }
    }

  private:
    /// What sorting the rows of a node by one column takes, in times of dividing a list that is kept.
    static constexpr std::size_t sorting_cost = 6;

    std::size_t n_columns() const { return problem_.columns.size(); }
    std::size_t n_lists() const { return keeps_lists_ ? n_columns() : 1; }
    std::size_t place(std::size_t column) const { return keeps_lists_ ? column : 0; }
    Id* list(std::size_t column) { return lists_.data() + place(column) * n_; }
    const Id* ranks(std::size_t column) const { return ranks_.data() + place(column) * n_; }

    template <class Ids>
    void sort(std::size_t column, const Ids& ids, Id* sorted) {
        const auto facts = sorter_.sort(problem_.columns[column], subtree_.rows, ids, sorted,
                                        ranks_.data() + place(column) * n_);
        is_constant_[column] = facts.is_constant;
        has_missing_[column] = facts.has_missing;
    }
    SortedList<Id> list_of(std::size_t column, const Leaf& leaf) {
        const Id* const entries = list(column) + leaf.begin;
        const std::size_t n = leaf.size();
        if (!has_missing_[column]) return {entries, n, n};
        const Id* const own_ranks = ranks(column);
        const Id* const end = std::partition_point(entries, entries + n,
                                                   [&](Id id) { return own_ranks[id] != missing_rank<Id>; });
        return {entries, n, static_cast<std::size_t>(end - entries)};
    }
    double value(std::size_t column, Id id) const {
        return problem_.columns[column].value(subtree_.rows[id]);
    }

    /// All known values lie left where the missing ones alone go right.
    void finish_number(const Leaf& leaf, ColumnCut& cut) {
        const auto column = static_cast<std::size_t>(cut.split.column);
        const SortedList<Id> sorted = list_of(column, leaf);
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const bool all_known_left = cut.n_first == sorted.n_known;
        cut.split.low = all_known_left ? infinity : value(column, sorted.entries[cut.n_first - 1]);
        cut.split.high = all_known_left ? infinity : value(column, sorted.entries[cut.n_first]);
        if (!scanner_.rounds_scores()) return;
        const std::span<const Id> all(sorted.entries, sorted.n);
        cut.split.gain = subtree_.plain_gain(all.first(cut.n_first),
                                             all.subspan(cut.split.missing_left ? sorted.n_known : sorted.n));
    }

    void try_number(const Leaf& leaf, std::size_t column, Records<ColumnCut>& cuts) {
        const SortedList<Id> sorted = list_of(column, leaf);
        const Id* const own_ranks = ranks(column);
        constexpr std::size_t worth_a_look = 16;  // in fewer rows a constant column is found out on the way
        if (sorted.n_known == 0 || (sorted.n_known == sorted.n && sorted.n > worth_a_look &&
                                    own_ranks[sorted.entries[0]] == own_ranks[sorted.entries[sorted.n - 1]]))
            return;
        const bool has_missing = sorted.n_known < sorted.n;
        const auto scan = [&](bool missing_left, Records<ListPlace>& places) {
            const CutRange range = range_of(leaf, column, sorted, missing_left);
            if (!range.is_empty())
                scanner_.scan(sorted, range, missing_left, own_ranks, limits_.min_weight_leaf, places);
        };
        auto& places = places_.find(has_missing, scanner_.noise(), cuts.largest(), scan);
        places.for_each([&](double score, const ListPlace& place) {
            ColumnCut cut = subtree_.cut_of(column, score);
            cut.n_first = place.n_first;
            cut.weight_left = place.weight_left;
            cut.split.missing_left = place.missing_left;
            cut.split.saw_missing = has_missing;
            if (!keeps_lists_) finish_number(leaf, cut);
            cuts.add(score, std::move(cut));
        });
    }
    CutRange range_of(const Leaf& leaf, std::size_t column, const SortedList<Id>& sorted,
                      bool missing_left) const {
        if (!limits_.random_splits) return cut_range(sorted, missing_left, limits_.min_rows_leaf);
        const Id* const own_ranks = ranks(column);
        const bool one_value = own_ranks[sorted.entries[0]] == own_ranks[sorted.entries[sorted.n_known - 1]];
        return drawn_range(sorted, missing_left, limits_.min_rows_leaf, leaf.key, column, one_value,
                           [&](std::size_t i) { return value(column, sorted.entries[i]); });
    }

    void try_category(const Leaf& leaf, std::size_t column, Records<ColumnCut>& cuts) {
        const SortedList<Id> sorted = list_of(column, leaf);
        find_groups(column, sorted);
        const std::size_t n_groups = group_start_.size() - 1;
        if (n_groups == 0 || (n_groups == 1 && sorted.n_known == sorted.n)) return;
        auto division = best_division(leaf, column, sorted, cuts.largest());
        if (!division) return;
        auto& [subset, score] = *division;
        ColumnCut cut = subtree_.cut_of(column, score);
        cut.weight_left = subset.weight_left;
        cut.split.rank = rank_of(limits_, score);
        cut.split.missing_left = subset.missing_left;
        cut.split.saw_missing = sorted.n_known < sorted.n;
        for (std::size_t g = 0; g < n_groups; ++g) {
            const auto code = problem_.columns[column].code(subtree_.rows[sorted.entries[group_start_[g]]]);
            (subset.is_left[g] ? cut.split.left_codes : cut.split.right_codes).push_back(code);
        }
        cut.group_left = std::move(subset.is_left);
        cuts.add(score, std::move(cut));
    }
    std::optional<Division> best_division(const Leaf& leaf, std::size_t column, const SortedList<Id>& sorted,
                                          double standing) {
        const std::size_t n_groups = group_start_.size() - 1;
        if (GroupScorer* const scorer = scanner_.groups()) {
            gather_groups(*scorer, sorted);
            SubsetSearch search(*scorer, limits_, groups_, sorted.n, scanner_.noise(), standing);
            Random random = subset_stream(leaf.key, column);
            if (!(limits_.random_splits && n_groups > 1 ? search.run_random(random) : search.run()))
                return std::nullopt;
            return Division{std::move(search.found), search.score()};
        }
        std::vector<std::span<const Id>> groups;
        for (std::size_t g = 0; g < n_groups; ++g)
            groups.emplace_back(sorted.entries + group_start_[g], sorted.entries + group_start_[g + 1]);
        if (sorted.n_known < sorted.n)
            groups.emplace_back(sorted.entries + sorted.n_known, sorted.entries + sorted.n);
        return scanner_.divide(std::move(groups), n_groups, limits_, nullptr, standing);
    }
    void find_groups(std::size_t column, const SortedList<Id>& sorted) {
        const Id* const own_ranks = ranks(column);
        group_start_.clear();
        for (std::size_t i = 0; i < sorted.n_known; ++i)
            if (i == 0 || own_ranks[sorted.entries[i]] != own_ranks[sorted.entries[i - 1]])
                group_start_.push_back(i);
        group_start_.push_back(sorted.n_known);
    }
    void gather_groups(const GroupScorer& scorer, const SortedList<Id>& sorted) {
        const std::size_t width = scorer.width();
        groups_.n = group_start_.size() - 1;
        groups_.statistics.assign(groups_.n * width, 0);
        groups_.counts.resize(groups_.n);
        groups_.missing.assign(width, 0);
        groups_.n_missing = sorted.n - sorted.n_known;
        for (std::size_t g = 0; g < groups_.n; ++g) {
            groups_.counts[g] = group_start_[g + 1] - group_start_[g];
            scanner_.add_to(groups_.statistics.data() + g * width,
                            {sorted.entries + group_start_[g], groups_.counts[g]});
        }
        scanner_.add_to(groups_.missing.data(), {sorted.entries + sorted.n_known, groups_.n_missing});
    }

    Subtree<Id>& subtree_;
    const Problem& problem_;
    const Limits& limits_;
    ListScanner<Id>& scanner_;
    const bool keeps_lists_;
    std::size_t n_ = 0;
    std::vector<Id> lists_, ranks_;  // column by column; or of the column that is tried
    std::vector<std::uint8_t> is_constant_, has_missing_;
    ListPlaces places_;  // of the column that is tried
    std::vector<std::size_t> group_start_;
    Groups groups_;
    ColumnSorter<Id> sorter_;
};

}  // namespace treewright
