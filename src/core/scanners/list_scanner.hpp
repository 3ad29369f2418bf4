// Scanning the sorted list of a column, behind one interface: the loops over rows are compiled for each
// scanner, everything around them once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/problem.hpp"
#include "growers/random_cuts.hpp"
#include "growers/split.hpp"
#include "scanners/group_scorer.hpp"
#include "scanners/median_groups.hpp"
#include "scanners/scanner.hpp"
#include "scanners/screen.hpp"

namespace treewright {

/// The rows of a node in the order of a column: n_known with a value, the others at the end.
template <class Id>
struct SortedList {
    const Id* entries;
    std::size_t n, n_known;
};

/// The cuts of a sorted list that are tried: those after its entries first … last.
struct CutRange {
    std::size_t first, last;

    bool is_empty() const { return first > last || last == 0; }
    void narrow_to(std::size_t cut) {
        first = std::max(first, cut);
        last = std::min(last, cut);
    }
    static CutRange none() { return {1, 0}; }
};

/// The cuts that leave `min_rows` on each side, with the rows without a value on one side.
template <class Id>
CutRange cut_range(const SortedList<Id>& list, bool missing_left, std::int64_t min_rows) {
    const std::size_t n = list.n, extra = missing_left ? n - list.n_known : 0;
    const auto min_leaf = static_cast<std::size_t>(min_rows);
    return {min_leaf > extra + 1 ? min_leaf - extra : 1,
            std::min(list.n_known < n && !missing_left ? list.n_known : list.n_known - 1,
                     n > min_leaf + extra ? n - min_leaf - extra : 0)};
}

/// Where cuts are drawn, the one that is drawn for the column of a node; none if the rows without a value are
/// drawn to the other side. Of one value, the only cut is between it and the missing ones.
template <class Id, class Value>
CutRange drawn_range(const SortedList<Id>& list, bool missing_left, std::int64_t min_rows, std::uint64_t key,
                     std::size_t column, bool one_value, Value value) {
    CutRange range = cut_range(list, missing_left, min_rows);
    if (list.n_known < list.n && (!one_value && draws_missing_left(key, column)) != missing_left)
        return CutRange::none();
    range.narrow_to(one_value ? list.n_known : drawn_cut(threshold_stream(key, column), list.n_known, value));
    return range;
}

/// The cuts of a list that may be the choice, with the rows without a value on either side.
class ListPlaces {
  public:
    /// scan(missing_left, places) adds those of one side that score more than `standing`.
    template <class Scan>
    Records<ListPlace>& find(bool has_missing, double noise, double standing, Scan scan) {
        own_.clear(noise, standing);
        scan(false, own_);
        if (!has_missing) return own_;
        others_.clear(noise, standing);
        scan(true, others_);
        merge_sides(own_, others_, noise, standing);
        return own_;
    }

  private:
    Records<ListPlace> own_, others_;  // with the missing rows on the right; on the left
};

/// A division of categories, and what it scores.
struct Division {
    Subset subset;
    double score;
};

/// What may refuse a cut beside the limits that every grower knows.
class CutJudge {
  public:
    virtual ~CutJudge() = default;
    /// Whether the list may be cut after its first `n_first` entries; asked from left to right, where the
    /// cut scores more than those before it. The scanner's cursor has sent them left.
    virtual bool allows(std::size_t n_first) = 0;
    /// Whether what the cursor has sent left may be one side of a division of categories.
    virtual bool allows_division() = 0;
};

template <class Id>
class ListScanner {
  public:
    virtual ~ListScanner() = default;
    virtual void load(std::span<const Row> rows) = 0;
    /// Takes the grids that a node inherits where it has any use for them, and changes them where it needs
    /// others.
    virtual void enter(std::span<const Id> ids, Grids& grids) = 0;
    void enter(std::span<const Id> ids) {
        Grids own;
        enter(ids, own);
    }

    /// Of the node.
    double weight() const { return weight_; }
    double noise() const { return noise_; }
    /// No cut of the node scores more; infinite where nothing can be said.
    double most() const { return most_; }
    /// Whether a scan rounds scores otherwise than sums of groups are scored.
    bool rounds_scores() const { return rounds_scores_; }
    virtual double gain(double score) const = 0;

    /// Which of some lists without missing values, of the rows of a node, may hold a cut that scores more
    /// than `least`: a bit for each.
    virtual unsigned above(const typename Screen<Id>::Lists& lists, double least) const = 0;
    /// Whether above() knows anything.
    bool screens() const { return screens_; }
    /// Adds the cuts of a range that score more than all before them. Entries of equal rank, by id, are not
    /// cut apart, nor those that a judge does not allow to be.
    virtual void scan(const SortedList<Id>& list, const CutRange& range, bool missing_left, const Id* ranks,
                      double min_weight, Records<ListPlace>& places, CutJudge* judge = nullptr) = 0;

    /// The score of sending some rows left, and their weight.
    struct Sent {
        double score, weight;
    };
    virtual Sent send(std::span<const Id> left) = 0;
    /// The same where the score exceeds `least`.
    virtual std::optional<Sent> send_above(double least, std::span<const Id> left) = 0;
    /// Whether rows differ by their class alone, so that counts of classes say all.
    virtual bool counts_classes() const = 0;
    /// The same score as that of sending these rows left: so many of each class of the node, in order.
    virtual double score_of_counts(std::span<const Sum> left) = 0;
    /// The medians of what has been sent left and of the rest, where groups cannot be summed.
    virtual void put_medians(double* left, double* right) const = 0;

    /// Null where groups of rows cannot be scored by sums: divide() finds their best division instead.
    virtual GroupScorer* groups() = 0;
    virtual void add_to(Sum* statistic, std::span<const Id> ids) const = 0;
    /// Whether sums of groups are scored as a scan scores them, so that the rows of a column of few values
    /// need no list.
    virtual bool tallies() const = 0;
    /// Adds each row to the statistic of its rank, `width` of the groups apart.
    virtual void tally(std::span<const Id> ids, const Id* ranks, std::span<Sum> statistics) = 0;
    virtual std::optional<Division> divide(std::vector<std::span<const Id>>&& groups,
                                           std::size_t n_categories, const Limits& limits, CutJudge* judge,
                                           double standing) = 0;

  protected:
    double weight_ = 0, noise_ = 0, most_ = unbounded;
    bool rounds_scores_ = false, screens_ = false;
};

template <class Id, Scanner<Id> S>
class ListScannerOf final : public ListScanner<Id> {
  public:
    using Sent = typename ListScanner<Id>::Sent;

    template <class... Arguments>
    explicit ListScannerOf(const Problem& problem, Arguments... arguments)
        : problem_(problem), scanner_(problem, arguments...) {
        if constexpr (SumsGroups<S>) groups_ = std::make_unique<GroupScorerOf<S>>(scanner_);
    }

    void load(std::span<const Row> rows) override {
        rows_ = rows;
        scanner_.load(rows);
    }
    using ListScanner<Id>::enter;
    void enter(std::span<const Id> ids, Grids& grids) override {
        enter_node(scanner_, ids, grids);
        this->weight_ = scanner_.weight();
        this->noise_ = scanner_.noise();
        if constexpr (Bounded<S>) this->most_ = scanner_.most();
        if constexpr (RoundsScores<S>) this->rounds_scores_ = scanner_.rounds_scores();
        if constexpr (HasScreen<S>) this->screens_ = scanner_.screen() != nullptr;
        n_ = ids.size();
    }
    double gain(double score) const override { return scanner_.gain(score); }
    unsigned above([[maybe_unused]] const typename Screen<Id>::Lists& lists,
                   [[maybe_unused]] double least) const override {
        if constexpr (HasScreen<S>) return scanner_.screen()->above(lists, n_, least);
        return ~0U;
    }

    void scan(const SortedList<Id>& list, const CutRange& range, bool missing_left, const Id* ranks,
              double min_weight, Records<ListPlace>& places, CutJudge* judge) override {
        const Id* const entries = list.entries;
        const std::size_t extra = missing_left ? list.n - list.n_known : 0;
        auto cursor = scanner_.cursor();
        for (std::size_t i = list.n - extra; i < list.n; ++i) cursor.add(entries[i]);
        for (std::size_t i = 0; i + 1 < range.first; ++i) cursor.add(entries[i]);
        for (std::size_t i = range.first; i <= range.last;) {
            const std::size_t last = std::min(range.last, i + check_period);
            for (; (i = seek(cursor, entries, i, last, extra, places.largest())) <= last; ++i) {
                if (i != list.n_known && ranks[entries[i - 1]] == ranks[entries[i]]) continue;
                if (judge && !judge->allows(i)) continue;
                const double weight = cursor.weight(i + extra);
                if (std::min(weight, this->weight_ - weight) < min_weight) continue;
                places.add(cursor.score(i + extra), {i, missing_left, weight});
            }
            if (i <= range.last) problem_.interrupt->check();
        }
    }
    Sent send(std::span<const Id> left) override {
        auto cursor = scanner_.cursor();
        for (const Id id : left) cursor.add(id);
        return {cursor.score(left.size()), cursor.weight(left.size())};
    }
    std::optional<Sent> send_above(double least, std::span<const Id> left) override {
        const std::size_t n = left.size();
        auto cursor = scanner_.cursor();
        for (const Id id : left.first(n - 1)) cursor.add(id);
        if (seek(cursor, left.data(), n, n, std::size_t{0}, least) > n) return std::nullopt;
        return Sent{cursor.score(n), cursor.weight(n)};
    }
    bool counts_classes() const override { return CountsClasses<S>; }
    double score_of_counts([[maybe_unused]] std::span<const Sum> left) override {
        if constexpr (CountsClasses<S>) return scanner_.score_of_counts(left);
        return unreachable;
    }
    void put_medians([[maybe_unused]] double* left, [[maybe_unused]] double* right) const override {
        if constexpr (TellsMedians<S>) scanner_.put_medians(left, right);
    }

    GroupScorer* groups() override { return groups_.get(); }
    void add_to([[maybe_unused]] Sum* statistic, [[maybe_unused]] std::span<const Id> ids) const override {
        if constexpr (SumsGroups<S>)
            for (const Id id : ids) scanner_.add_to(statistic, id);
    }
    bool tallies() const override { return Tallies<S>; }
    void tally([[maybe_unused]] std::span<const Id> ids, [[maybe_unused]] const Id* ranks,
               [[maybe_unused]] std::span<Sum> statistics) override {
        if constexpr (requires { scanner_.tally(ids, ranks, statistics); })
            scanner_.tally(ids, ranks, statistics);
        else if constexpr (Tallies<S>)
            for (const Id id : ids) scanner_.add_to(statistics.data() + ranks[id] * scanner_.width(), id);
    }
    std::optional<Division> divide([[maybe_unused]] std::vector<std::span<const Id>>&& groups,
                                   [[maybe_unused]] std::size_t n_categories,
                                   [[maybe_unused]] const Limits& limits, [[maybe_unused]] CutJudge* judge,
                                   [[maybe_unused]] double standing) override {
        if constexpr (SumsGroups<S>) {
            return std::nullopt;
        } else {
            MedianDivision<S, Id> division(scanner_, limits, std::move(groups), n_categories,
                                           scanner_.noise(), standing);
            if (!division.run(
                    problem_.targets.n_outputs > 1 || judge,
                    [&](Id id) { return problem_.weight(rows_[id]); },
                    [&] { return !judge || judge->allows_division(); }))
                return std::nullopt;
            return Division{std::move(division.found), division.score()};
        }
    }

  private:
    static constexpr std::size_t check_period = std::size_t{1} << 16;  // rows between looks for Ctrl-C

    const Problem& problem_;
    S scanner_;
    std::span<const Row> rows_;
    std::unique_ptr<GroupScorer> groups_;
    std::size_t n_ = 0;  // rows of the node
};

}  // namespace treewright
