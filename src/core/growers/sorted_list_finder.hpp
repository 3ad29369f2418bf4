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
          keeps_lists_(!draw.draws() || sorting_cost * draw.n_first() > subtree.problem.columns.size()),
          is_screened_(!draw.draws() && !limits_.random_splits) {}

    void load(bool) {
        n_ = subtree_.rows.size();
        lists_.resize(n_lists() * n_);
        ranks_.resize(n_lists() * n_);
        is_constant_.resize(n_columns());
        has_missing_.resize(n_columns());
        n_values_.assign(n_columns(), 0);
        samples_.resize(n_columns() * few_values);
        for (std::size_t column = 0; keeps_lists_ && column < n_columns(); ++column) {
            const std::size_t n_values = sort(column, std::views::iota(std::size_t{0}, n_), list(column));
            if (counts_values(column, n_values)) take_samples(column, n_values);
            if (n_ > 100000) problem_.interrupt->check();
        }
    }
    bool leaves(const Leaf&) const { return false; }
    void enter(const Leaf&) { screened_end_ = 0; }

    void try_column(const Leaf& leaf, std::size_t column, Records<ColumnCut>& cuts) {
        if (!keeps_lists_)
            sort(column, std::span<const Id>(subtree_.ids_of(leaf)), list(column) + leaf.begin);
        if (is_constant_[column]) return;
        if (n_values_[column] > 0) return try_counted(leaf, column, cuts);
        if (keeps_lists_ && leaf.size() <= few_rows && column >= screened_end_) sort_few(column, leaf);
        if (is_screened_ && cuts.found() && scanner_.screens() && !may_offer(leaf, column, cuts.largest()))
            return;
        if (problem_.columns[column].is_category())
            try_category(leaf, column, cuts);
        else
            try_number(leaf, column, cuts);
    }
    void finish(Leaf& leaf) {
        const auto column = static_cast<std::size_t>(leaf.split.column);
        if (n_values_[column] > 0)
            finish_counted(leaf);
        else if (keeps_lists_ && !problem_.columns[column].is_category())
            finish_number(leaf, leaf);
    }

    std::size_t mark_sides(const Leaf& parent) {
        auto& goes_left = subtree_.goes_left;
        if (!keeps_lists_)
            return mark_by_value(problem_, parent.split, std::span<const Row>(subtree_.rows),
                                 std::span<const Id>(subtree_.ids_of(parent)), goes_left);
        const auto column = static_cast<std::size_t>(parent.split.column);
        std::size_t n_left = 0;
        if (n_values_[column] > 0) {
            const Id* const own_ranks = ranks(column);
            for (const Id id : subtree_.ids_of(parent))
                n_left += goes_left[id] = own_ranks[id] < parent.n_first;
            return n_left;
        }
        const SortedList<Id> sorted = list_of(column, parent);
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
    void divide(const Leaf& parent, std::size_t n_left) {
        if (std::max(n_left, parent.size() - n_left) <= few_rows) return;
        const auto tested = static_cast<std::size_t>(parent.split.column);
        const bool in_order = !problem_.columns[tested].is_category() && !parent.split.saw_missing;
        for (std::size_t column = 0; keeps_lists_ && column < n_columns(); ++column) {
            if (is_constant_[column] || n_values_[column] > 0 || (in_order && column == tested)) continue;
            subtree_.divide({list(column) + parent.begin, parent.size()});
        }
    }

  private:
    /// What sorting the rows of a node by one column takes, in times of dividing a list that is kept.
    static constexpr std::size_t sorting_cost = 6;
    /// Leaves of at most so many rows find no lists, but sort their rows by rank.
    static constexpr std::size_t few_rows = 3;
    /// Columns of at most so many values have their rows counted by value.
    static constexpr std::size_t few_values = 32;

    std::size_t n_columns() const { return problem_.columns.size(); }
    std::size_t n_lists() const { return keeps_lists_ ? n_columns() : 1; }
    std::size_t place(std::size_t column) const { return keeps_lists_ ? column : 0; }
    Id* list(std::size_t column) { return lists_.data() + place(column) * n_; }
    const Id* ranks(std::size_t column) const { return ranks_.data() + place(column) * n_; }

    /// Whether a column may offer a cut that scores more than `least`: from a look at several columns at
    /// once, which come one after the other.
    bool may_offer(const Leaf& leaf, std::size_t column, double least) {
        if (column >= screened_end_) {
            typename Screen<Id>::Lists lists;
            screened_begin_ = column;
            screened_end_ = std::min(column + lists.size(), n_columns());
            is_above_ = 0;
            for (std::size_t i = 0; i < lists.size(); ++i) {
                const std::size_t here = std::min(column + i, n_columns() - 1);
                const bool is_plain = !problem_.columns[here].is_category() && !has_missing_[here];
                if (i > 0 && leaf.size() <= few_rows && here != column) sort_few(here, leaf);
                lists[i] = list(here) + leaf.begin;
                is_above_ |= static_cast<unsigned>(!is_plain) << i;
            }
            is_above_ |= scanner_.above(lists, least);
        }
        return (is_above_ >> (column - screened_begin_) & 1) != 0;
    }
    /// Sorts the rows of a leaf by their ranks: few rows are sorted faster than their lists are divided.
    void sort_few(std::size_t column, const Leaf& leaf) {
        const Id* const own_ranks = ranks(column);
        const auto ids = subtree_.ids_of(leaf);
        Id* const sorted = list(column) + leaf.begin;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const Id id = ids[i], rank = own_ranks[id];
            std::size_t place = i;
            for (; place > 0 && own_ranks[sorted[place - 1]] > rank; --place)
                sorted[place] = sorted[place - 1];
            sorted[place] = id;
        }
    }
    /// Returns how many values there are, where they have been counted.
    template <class Ids>
    std::size_t sort(std::size_t column, const Ids& ids, Id* sorted) {
        const auto facts = sorter_.sort(problem_.columns[column], subtree_.rows, ids, sorted,
                                        ranks_.data() + place(column) * n_);
        is_constant_[column] = facts.is_constant;
        has_missing_[column] = facts.has_missing;
        return facts.n_distinct;
    }
    /// Whether the rows of a column of so many values are counted by value, so that it needs no list below.
    bool counts_values(std::size_t column, std::size_t n_values) const {
        return n_values > 1 && n_values <= few_values && !has_missing_[column] && scanner_.tallies() &&
               !problem_.columns[column].is_category() && !limits_.random_splits &&
               (limits_.min_rows_leaf <= 1 || !problem_.is_weighted());
    }
    /// Notes a row of each value.
    void take_samples(std::size_t column, std::size_t n_values) {
        n_values_[column] = n_values;
        const Id* const own_ranks = ranks(column);
        for (std::size_t i = 0; i < n_; ++i)
            samples_[column * few_values + own_ranks[list(column)[i]]] = list(column)[i];
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
            if (!keeps_lists_)
                finish_number(leaf, cut);
            else  // the values will be asked for if no column offers more
                for (const std::size_t i : {place.n_first - 1, std::min(place.n_first, sorted.n - 1)})
                    problem_.columns[column].prefetch_value(subtree_.rows[sorted.entries[i]]);
            cuts.add(score, std::move(cut));
        });
    }
    /// A column of few values: the rows are summed by value, and every border between values is scored.
    void try_counted(const Leaf& leaf, std::size_t column, Records<ColumnCut>& cuts) {
        GroupScorer& scorer = *scanner_.groups();
        const std::size_t width = scorer.width(), n_values = n_values_[column];
        tallied_.assign(n_values * width, 0);
        scanner_.tally(subtree_.ids_of(leaf), ranks(column), tallied_);
        auto& left = subtree_.left;
        left.assign(width, 0);
        auto& places =
            places_.find(false, scanner_.noise(), cuts.largest(), [&](bool, Records<ListPlace>& found) {
                std::size_t last = n_values - 1;
                while (tallied_[last * width] == 0) --last;
                for (std::size_t value = 0; value < last; ++value) {
                    const Sum* const own = tallied_.data() + value * width;
                    if (own[0] == 0) continue;
                    for (std::size_t i = 0; i < width; ++i) left[i] += own[i];
                    const double weight = scorer.weight_of(left.data());
                    const auto n_left = limits_.min_rows_leaf > 1 ? left[0] : 1;
                    const auto n_right =
                        limits_.min_rows_leaf > 1 ? static_cast<Sum>(leaf.size()) - left[0] : 1;
                    if (std::min(n_left, n_right) < limits_.min_rows_leaf ||
                        std::min(weight, leaf.weight - weight) < limits_.min_weight_leaf)
                        continue;
                    const double score = scorer.score_of(left.data());
                    if (score > found.largest()) found.add(score, {value + 1, false, weight});
                }
            });
        places.for_each([&](double score, const ListPlace& place) {
            ColumnCut cut = subtree_.cut_of(column, score);
            cut.n_first = place.n_first;
            cut.weight_left = place.weight_left;
            cuts.add(score, std::move(cut));
        });
    }
    /// The values on both sides of a cut of a column of few values.
    void finish_counted(Leaf& leaf) {
        const auto column = static_cast<std::size_t>(leaf.split.column);
        const Id* const own_ranks = ranks(column);
        std::size_t next = few_values;
        for (const Id id : subtree_.ids_of(leaf))
            if (own_ranks[id] >= leaf.n_first) next = std::min<std::size_t>(next, own_ranks[id]);
        const Id* const samples = samples_.data() + column * few_values;
        leaf.split.low = value(column, samples[leaf.n_first - 1]);
        leaf.split.high = value(column, samples[next]);
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
    const bool is_screened_;                             // columns come in order, and all their cuts count
    std::size_t screened_begin_ = 0, screened_end_ = 0;  // the columns that are screened,
    unsigned is_above_ = 0;                              // and a bit for each: whether it needs a scan
    std::size_t n_ = 0;
    std::vector<Id> lists_, ranks_;  // column by column; or of the column that is tried
    std::vector<std::uint8_t> is_constant_, has_missing_;
    std::vector<std::size_t> n_values_;  // of columns of few values, otherwise 0
    std::vector<Id> samples_;            // and a row of each value
    std::vector<Sum> tallied_;           // by value, of the column that is tried
    ListPlaces places_;                  // of the column that is tried
    std::vector<std::size_t> group_start_;
    Groups groups_;
    ColumnSorter<Id> sorter_;
};

}  // namespace treewright
