// Scanners: they keep the statistic of the rows that went left, one row at a time, and score what they see.
//
// Ids are positions in the canonical order of the rows, so they ascend with the class or with the number.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "data/problem.hpp"
#include "scanners/chance.hpp"
#include "support/portable.hpp"

namespace treewright {

constexpr double unreachable = -std::numeric_limits<double>::infinity();
constexpr double unbounded = std::numeric_limits<double>::infinity();
/// Gains that are differences of risks carry the rounding of the risks.
constexpr double rounding_noise = 2e-15;

/// One scan: add(id) sends a row left, score(n_left) says how good the cut is here. A cursor may offer its
/// own seek(entries, i, last, extra, least) where that is faster than the one below.
template <class C, class Id>
concept Cursor = requires(C cursor, const C same, Id id, std::size_t n_left) {
    cursor.add(id);
    { same.score(n_left) } -> std::same_as<double>;
    { same.weight(n_left) } -> std::same_as<double>;
};

/// What every scanner has.
template <class S, class Id>
concept Scanner = requires(S scanner, const S same, std::span<const Row> rows, std::span<const Id> ids,
                           double score, const Chance& chance) {
    scanner.load(rows);  // once per subtree: its rows, by local id
    scanner.enter(ids);  // once per node: the statistic of the whole node
    { scanner.cursor() } -> Cursor<Id>;
    { same.weight() } -> std::same_as<double>;              // of the node
    { same.noise() } -> std::same_as<double>;               // what rounding can do to a score
    { same.gain(score) } -> std::same_as<double>;           // behind a score, in the units of the data
    { same.chance_score(chance) } -> std::same_as<double>;  // what groups of such sizes score by chance
};

/// Scores groups of rows by sums of statistics: all scanners do but that of medians, and all measures of
/// histograms. As points, groups are compared by their first `dimensions` coordinates.
template <class S>
concept SumsGroups =
    requires(S scorer, const S same, const Sum* statistic, double* point, const Chance& chance) {
        { same.width() } -> std::same_as<std::size_t>;
        { same.weight() } -> std::same_as<double>;
        { same.weight_of(statistic) } -> std::same_as<double>;
        { scorer.score_of(statistic) } -> std::same_as<double>;
        { same.chance_score(chance) } -> std::same_as<double>;
        { same.dimensions() } -> std::same_as<std::size_t>;
        same.point(statistic, point);
    };

/// Shares of classes as points: of two classes, that of the second one says all.
inline std::size_t share_dimensions(std::size_t n_classes) { return n_classes == 2 ? 1 : n_classes; }
inline void share_point(std::span<const Sum> statistic, double weight, double* out) {
    const std::size_t first = statistic.size() == 2 ? 1 : 0;
    for (std::size_t k = first; k < statistic.size(); ++k)
        out[k - first] = static_cast<double>(statistic[k]) / weight;
}

/// Has weights or numbers on grids, and can take those that a node inherits; they then are those it has.
template <class S, class Id>
concept InheritsGrids =
    requires(S scanner, std::span<const Id> ids, Grids& grids) { scanner.enter(ids, grids); };

/// Lets a scanner enter a node of a tree that grows: on the grids that it inherits, or on its own.
template <class Id, Scanner<Id> S>
void enter_node(S& scanner, std::span<const Id> ids, Grids& grids) {
    if constexpr (InheritsGrids<S, Id>)
        scanner.enter(ids, grids);
    else
        scanner.enter(ids);
}

/// Knows whether its cursors round scores otherwise than its score_of does.
template <class S>
concept RoundsScores = requires(const S scanner) {
    { scanner.rounds_scores() } -> std::same_as<bool>;
};

/// Scores sums of rows as its cursors score cuts, to the last bit.
template <class S>
concept Tallies = requires { requires S::tallies; };

/// Has a look at several lists at once, null where that does not pay at the node (see screen.hpp).
template <class S>
concept HasScreen = requires(const S scanner) { scanner.screen()->n_lists; };

/// Knows a score that no cut of the node exceeds.
template <class S>
concept Bounded = requires(const S scanner) {
    { scanner.most() } -> std::same_as<double>;
};

/// Scores counts of classes as its cursors score rows: the classes of the node, in order.
template <class S>
concept CountsClasses = requires(S scanner, std::span<const Sum> left) {
    { scanner.score_of_counts(left) } -> std::same_as<double>;
};

/// Tells the medians of what its cursor has sent left and of the rest, for each output.
template <class S>
concept TellsMedians = requires(const S scanner, double* medians) { scanner.put_medians(medians, medians); };

/// The cut that seek() is after, by looking at one after the other. A function of its own, with all that it
/// calls inside, so that the loop over rows has the registers to itself.
template <class Id, Cursor<Id> C>
TREEWRIGHT_FLATTEN std::size_t seek_one_by_one(C& cursor, const Id* entries, std::size_t i, std::size_t last,
                                               std::size_t extra, double least) {
    for (; i <= last; ++i) {
        cursor.add(entries[i - 1]);
        if (cursor.score(i + extra) > least) break;
    }
    return i;
}

/// The first cut from `i` on that scores more than `least`, i being how many of the entries go left; last + 1
/// if there is none. The entries before i − 1 have been sent left, and all before the cut will be; `extra`
/// rows went left before.
template <class Id, Cursor<Id> C>
std::size_t seek(C& cursor, const Id* entries, std::size_t i, std::size_t last, std::size_t extra,
                 double least) {
    if constexpr (requires { cursor.seek(entries, i, last, extra, least); })
        return cursor.seek(entries, i, last, extra, least);
    else
        return seek_one_by_one(cursor, entries, i, last, extra, least);
}

}  // namespace treewright
