// Searching a node's columns one at a time: every cut of a sorted list, or the best subset of categories.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "careful/branching.hpp"
#include "careful/cut.hpp"
#include "careful/gate.hpp"
#include "careful/ranking.hpp"
#include "elementary.hpp"
#include "median_groups.hpp"
#include "random_cuts.hpp"
#include "scanning.hpp"
#include "subsets.hpp"

namespace treewright::careful {

template <class Scanner>
class ScanSearcher : public ColumnSearcher {
  public:
    ScanSearcher(const Task& task, Scanner scanner)
        : task_(task),
          limits_(task.problem.limits),
          scanner_(std::move(scanner)),
          gate_(task),
          branching_(task) {
        scanner_.load(task.problem.rows);
    }

    void enter(const View& node) override {
        node_ = node;
        all_.resize(node.rows.size());
        std::iota(all_.begin(), all_.end(), Id{0});
        position_.clear();
        for (const Row row : node.rows) position_.push_back(task_.position[row]);
        // Parts of rows are counted by the gate, whole ones by their number.
        limits_.min_rows_leaf = node.shares.empty() ? task_.problem.limits.min_rows_leaf : 0;
        gate_.enter(node_);
        scanner_.enter(position_);
        is_whole_ = true;
        weight_ = scanner_.weight();
        most_ = std::numeric_limits<double>::infinity();
        if constexpr (requires { scanner_.most(); }) most_ = scanner_.gain(scanner_.most());
    }
    Cut search(std::int32_t column) override {
        column_ = column;
        if (task_.ranks[column].is_constant) return {};
        const bool is_category = task_.problem.columns[column].is_category();
        if (is_category && task_.options.multiway) return branching_.search(node_, column, gate_);
        n_known_ = sorter_.sort(task_.ranks[column], node_.rows, list_);
        const bool has_missing = n_known_ < list_.size();
        const bool one_value = n_known_ == 0 || rank(0) == rank(n_known_ - 1);
        if (n_known_ == 0 || (one_value && (!has_missing || task_.options.scores_known()))) return {};
        if (is_category) {
            if constexpr (Scanner::is_additive)
                return search_category();
            else
                return search_category_by_medians();
        }
        return has_missing && task_.options.missing == Missing::category ? search_three_way()
                                                                         : search_number();
    }
    double most() const override { return most_; }
    double weight() const override { return weight_; }

  private:
    static constexpr std::size_t check_period = std::size_t{1} << 16;  // rows of a scan

    std::uint32_t rank(std::size_t i) const { return task_.ranks[column_].of_row[node_.rows[list_[i]]]; }
    double value(std::size_t i) const { return task_.problem.columns[column_].value(node_.rows[list_[i]]); }

    /// The rows that compete for a cut: all of the node, or those whose value is known.
    void compete(bool only_known) {
        if (!only_known || n_known_ == list_.size()) {
            if (!is_whole_) scanner_.enter(position_);
            is_whole_ = true;
            n_competing_ = list_.size();
            return gate_.take(column_, all_);
        }
        known_.clear();
        known_position_.clear();
        for (const Id id : all_) {
            if (task_.ranks[column_].of_row[node_.rows[id]] == missing_rank) continue;
            known_.push_back(id);
            known_position_.push_back(position_[id]);
        }
        scanner_.enter(known_position_);
        is_whole_ = false;
        n_competing_ = n_known_;
        gate_.take(column_, known_);
    }
    /// A cut of the rows that compete. Where gains may be negative, such cuts are not made.
    Cut cut_of(double gain, std::vector<double> weights) const {
        Cut cut;
        cut.noise = scanner_.gain(scanner_.noise());
        if (gain < -cut.noise) return cut;
        cut.split.column = column_;
        cut.split.gain = std::max(0.0, gain);
        cut.weights = std::move(weights);
        return cut;
    }

    Cut search_number() {
        compete(task_.options.scores_known());
        scan(false, places_);
        if (n_known_ < n_competing_) {
            scan(true, other_places_);
            merge_sides(places_, other_places_, scanner_.noise(), unreachable);
        }
        if (!places_.found()) return {};
        const ListPlace& place = places_.first();
        Cut cut = cut_of(scanner_.gain(places_.first_score()) - toll(),
                         {place.weight_left, scanner_.weight() - place.weight_left});
        cut.split.missing_left = place.missing_left;
        cut.split.saw_missing = n_known_ < n_competing_;
        set_gap(cut, place.n_first);
        return task_.options.release8 && !(cut.split.gain > cut.noise) ? Cut{} : cut;
    }
    /// The values on both sides of the cut; all known values lie left where the missing ones alone go right.
    void set_gap(Cut& cut, std::size_t n_first) const {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        cut.split.low = n_first == n_known_ ? infinite : value(n_first - 1);
        cut.split.high = n_first == n_known_ ? infinite : value(n_first);
        if (!task_.options.release8) return;
        // The greatest value of the whole table that is not above the middle; the middle may be infinite, or
        // round to the upper value, which stays on its side.
        const auto& values = task_.ranks[column_].values;
        const double middle = cut.split.low / 2 + cut.split.high / 2;
        const auto above =
            std::upper_bound(values.begin() + rank(n_first - 1) + 1, values.begin() + rank(n_first), middle);
        cut.split.low = cut.split.high = *(above - 1);
    }

    /// Tries every cut of the sorted list, with the missing rows that compete on one side.
    void scan(bool missing_left, Records<ListPlace>& places) {
        const std::size_t n = n_competing_, extra = missing_left ? n - n_known_ : 0;
        const auto min_leaf = static_cast<std::size_t>(limits_.min_rows_leaf);
        std::size_t first = min_leaf > extra + 1 ? min_leaf - extra : 1;
        std::size_t last = std::min(n_known_ < n && !missing_left ? n_known_ : n_known_ - 1,
                                    n > min_leaf + extra ? n - min_leaf - extra : 0);
        places.clear(scanner_.noise());
        if (limits_.random_splits) {
            // One value and missing ones: the only cut is between the two.
            const auto column = static_cast<std::size_t>(column_);
            const bool one_value = rank(0) == rank(n_known_ - 1);
            if (n_known_ < n && (!one_value && draws_missing_left(node_.key, column)) != missing_left) return;
            const std::size_t drawn = one_value ? n_known_
                                                : drawn_cut(threshold_stream(node_.key, column), n_known_,
                                                            [&](std::size_t i) { return value(i); });
            first = std::max(first, drawn);
            last = std::min(last, drawn);
        }
        start_counting();
        auto cursor = scanner_.cursor();
        const bool is_summed = gate_.width() > 0;
        gated_.assign(gate_.width(), 0);
        const auto send = [&](std::size_t i) {
            cursor.add(position_[list_[i]]);
            if (is_summed) gate_.add_to(gated_.data(), list_[i]);
        };
        for (std::size_t i = n_known_; missing_left && i < n; ++i) send(i);
        for (std::size_t i = 1; i <= last; ++i) {
            send(i - 1);
            if (i % check_period == 0) task_.problem.interrupt->check();
            if (i < first || (i < n_known_ && rank(i - 1) == rank(i))) continue;
            if (task_.options.release8 && !counts_as_cut(i)) continue;
            const double score = cursor.score(i + extra);
            if (!(score > places.largest())) continue;
            const double weight = cursor.weight(i + extra);
            if (std::min(weight, scanner_.weight() - weight) < limits_.min_weight_leaf) continue;
            if (!passes(cursor, i < n_known_)) continue;
            places.add(score, {i, missing_left, weight});
        }
    }

    /// Whether the gate lets through what the cursor, and `gated_` with it, has sent left.
    template <class Cursor>
    bool passes(const Cursor& cursor, bool is_ordered) {
        if constexpr (Scanner::is_additive)
            return gate_.allows(gated_.data(), is_ordered);
        else
            return gate_.allows_medians(cursor, is_ordered);
    }

    /// C4.5: a cut leaves at least so many rows on each side, and counts only between values that differ.
    void start_counting() {
        n_cuts_ = 0;
        if (!task_.options.release8) return;
        constexpr double share = 0.1, most = 25;
        const double n_known = node_.shares.empty() ? static_cast<double>(n_known_) : gate_.total_count();
        const auto least = static_cast<double>(task_.problem.limits.min_rows_leaf);
        min_side_ = share * n_known / task_.problem.targets.n_classes[0];
        min_side_ = min_side_ <= least ? least : std::min(min_side_, most);
        max_side_ = n_known < 2 * least ? -1 : n_known - min_side_;
    }
    bool counts_as_cut(std::size_t i) {
        constexpr double least_difference = 1e-5;
        const double count = node_.shares.empty() ? static_cast<double>(i) : gate_.count_of(gated_.data());
        if (count < min_side_ - share_rounding || count > max_side_ + share_rounding) return false;
        if (!(value(i - 1) < value(i) - least_difference)) return false;
        ++n_cuts_;
        return true;
    }
    /// What the choice among the cuts costs: log2 of their number, per row.
    double toll() const {
        if (!task_.options.release8 || n_cuts_ == 0) return 0;
        return elementary::log2(static_cast<double>(n_cuts_)) / node_.count() * weight_;
    }

    /// Low, high and missing; or known and missing, where nothing tells the known ones apart.
    Cut search_three_way() {
        compete(false);
        auto cursor = scanner_.cursor();
        gated_.assign(gate_.width(), 0);
        std::vector<Sum> missing(gate_.width(), 0);
        for (std::size_t i = 0; i < n_known_; ++i) {
            cursor.add(position_[list_[i]]);
            gate_.add_to(gated_.data(), list_[i]);
        }
        for (std::size_t i = n_known_; i < list_.size(); ++i) gate_.add_to(missing.data(), list_[i]);
        const double score = cursor.score(n_known_), known = cursor.weight(n_known_),
                     rest = scanner_.weight() - known;
        const auto n_missing = static_cast<std::int64_t>(list_.size() - n_known_);
        const auto is_admitted = [&] {
            if constexpr (Scanner::is_additive)
                return gate_.admits(missing.data());
            else
                return gate_.admits_rest(cursor);
        };
        if (score == unreachable || n_missing < limits_.min_rows_leaf || rest < limits_.min_weight_leaf ||
            !is_admitted())
            return {};
        const bool may_be_two = static_cast<std::int64_t>(n_known_) >= limits_.min_rows_leaf &&
                                known >= limits_.min_weight_leaf && passes(cursor, false);
        Cut two = may_be_two ? cut_of(scanner_.gain(score), {known, rest}) : Cut{};
        const double outer = scanner_.gain(score), noise = scanner_.gain(scanner_.noise());
        two.split.saw_missing = true;
        set_gap(two, n_known_);
        compete(true);
        scan(false, places_);
        if (!places_.found()) return two;
        const ListPlace& place = places_.first();
        Cut three = cut_of(outer + scanner_.gain(places_.first_score()),
                           {place.weight_left, scanner_.weight() - place.weight_left, rest});
        three.noise = std::max(three.noise, noise);
        three.form = Cut::Form::three_way;
        three.split.saw_missing = true;
        set_gap(three, place.n_first);
        Best best;
        best.noise = three.noise;
        if (three.found()) best.set(three.split.gain);
        return two.found() && best.beaten_by(two.split.gain) ? two : three;
    }

    Cut search_category() {
        const auto begin = compete_in_groups();
        Gated<Scanner> scorer(scanner_, gate_, position_);
        gather_groups(scorer, begin);
        SubsetSearch<Gated<Scanner>> search(scorer, limits_, groups_, n_competing_, scanner_.noise());
        Random random = subset_stream(node_.key, static_cast<std::size_t>(column_));
        if (!(limits_.random_splits && groups_.n > 1 ? search.run_random(random) : search.run())) return {};
        return category_cut(search.score(), search.found, begin);
    }
    Cut search_category_by_medians() {
        const auto begin = compete_in_groups();
        std::vector<Id> ids;
        for (std::size_t i = 0; i < n_competing_; ++i) ids.push_back(position_[list_[i]]);
        std::vector<std::span<const Id>> groups;
        for (std::size_t g = 0; g + 1 < begin.size(); ++g)
            groups.emplace_back(ids.data() + begin[g], ids.data() + begin[g + 1]);
        if (n_known_ < n_competing_) groups.emplace_back(ids.data() + n_known_, ids.data() + n_competing_);
        MedianDivision<Scanner, Id> division(scanner_, limits_, std::move(groups), begin.size() - 1,
                                             scanner_.noise());
        const Problem& problem = task_.problem;
        const bool found = division.run(
            problem.targets.n_outputs > 1 || gate_.is_active(),
            [&](Id id) { return problem.weight(problem.rows[id]); },
            [&](const auto& cursor) { return gate_.allows_medians(cursor, false); });
        return found ? category_cut(division.score(), division.found, begin) : Cut{};
    }
    /// Lets rows compete by their category; returns where each category begins in the list, and the known
    /// rows end.
    std::vector<std::size_t> compete_in_groups() {
        compete(task_.options.scores_known());
        std::vector<std::size_t> begin;
        for (std::size_t i = 0; i < n_known_; ++i)
            if (i == 0 || rank(i) != rank(i - 1)) begin.push_back(i);
        begin.push_back(n_known_);
        return begin;
    }
    Cut category_cut(double score, const Subset& subset, const std::vector<std::size_t>& begin) const {
        const double left = subset.weight_left;
        const double rank = rank_of(limits_, score);
        Cut cut = cut_of(rank < 0 ? 0.0 : scanner_.gain(score), {left, scanner_.weight() - left});
        cut.split.rank = rank;
        cut.split.missing_left = subset.missing_left;
        cut.split.saw_missing = n_known_ < n_competing_;
        for (std::size_t g = 0; g + 1 < begin.size(); ++g) {
            const auto code = task_.problem.columns[column_].code(node_.rows[list_[begin[g]]]);
            (subset.is_left[g] ? cut.split.left_codes : cut.split.right_codes).push_back(code);
        }
        return cut;
    }
    void gather_groups(const Gated<Scanner>& scorer, const std::vector<std::size_t>& begin) {
        const std::size_t width = scorer.width();
        groups_.n = begin.size() - 1;
        groups_.statistics.assign(groups_.n * width, 0);
        groups_.counts.resize(groups_.n);
        groups_.missing.assign(width, 0);
        groups_.n_missing = n_competing_ - n_known_;
        for (std::size_t g = 0; g < groups_.n; ++g) {
            groups_.counts[g] = begin[g + 1] - begin[g];
            for (std::size_t i = begin[g]; i < begin[g + 1]; ++i)
                scorer.add_to(groups_.statistics.data() + g * width, list_[i]);
        }
        for (std::size_t i = n_known_; i < n_competing_; ++i) scorer.add_to(groups_.missing.data(), list_[i]);
    }

    const Task& task_;
    Limits limits_;
    Scanner scanner_;
    Gate gate_;
    Branching branching_;
    View node_;
    Sorter sorter_;
    Groups groups_;
    std::int32_t column_ = -1;
    std::vector<Id> all_, known_, list_;         // places among the rows of the node
    std::vector<Id> position_, known_position_;  // of all and of the known ones in the table
    std::vector<Sum> gated_;
    Records<ListPlace> places_, other_places_;  // of the column; of it with the missing rows on the left
    std::size_t n_known_ = 0, n_competing_ = 0;
    bool is_whole_ = false;
    double weight_ = 0, most_ = 0;
    std::size_t n_cuts_ = 0;
    double min_side_ = 0, max_side_ = 0;
};

template <class Scanner>
std::unique_ptr<ColumnSearcher> make_searcher(const Task& task) {
    return std::make_unique<ScanSearcher<Scanner>>(task, Scanner(task.problem));
}

}  // namespace treewright::careful
