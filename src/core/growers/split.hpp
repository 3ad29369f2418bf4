// A split, and the rule that chooses among splits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "data/columns.hpp"

namespace treewright {

constexpr double relative_tie = 1e-12;

/// The best of candidates that are tried one after the other: a later one has to beat it by more than the
/// tolerance.
struct Best {
    double score = -std::numeric_limits<double>::infinity();
    double cut = -std::numeric_limits<double>::infinity();
    double noise = 0.0;  // what rounding can do to a score

    bool beaten_by(double other) const { return other > cut; }
    bool is_set() const { return score > -std::numeric_limits<double>::infinity(); }
    void set(double other) {
        score = other;
        cut = other + relative_tie * std::abs(other) + noise;
    }
};

/// The least score that ties with the largest one.
inline double least_tie(double largest, double noise) {
    return largest - relative_tie * std::abs(largest) - noise;
}

/// Chooses among cuts in the order of columns and from left to right: the first one that ties with the best
/// of all. So the choice follows from the scores alone, whichever cuts have been left out because they cannot
/// be it. Only a cut that scores more than all before it can be the first; the others need not be offered.
template <class Cut>
class Records {
  public:
    /// Forgets all; what does not score more than `standing` is of no interest.
    void clear(double noise, double standing = -std::numeric_limits<double>::infinity()) {
        noise_ = noise;
        largest_ = standing;
        found_ = false;
        others_.clear();
    }
    bool found() const { return found_; }
    /// What the next cut has to exceed.
    double largest() const { return largest_; }
    void add(double score, Cut&& cut) {
        const double least = least_tie(score, noise_);
        largest_ = score;
        if (found_ && !(first_.score < least)) {
            others_.push_back({score, std::move(cut)});
        } else if (others_.empty()) {
            first_.score = score;
            first_.cut = std::move(cut);
            found_ = true;
        } else {
            others_.push_back({score, std::move(cut)});
            drop_first(least);
        }
    }
    Cut& first() { return first_.cut; }
    Cut& last() { return others_.empty() ? first_.cut : others_.back().cut; }
    double first_score() const { return first_.score; }
    bool ties_with(double score) const { return found_ && first_.score >= least_tie(score, noise_); }
    /// Calls visit(score, cut) for all that may still be the first, in their order.
    template <class Visit>
    void for_each(Visit visit) {
        if (found_) visit(first_.score, first_.cut);
        for (auto& [score, cut] : others_) visit(score, cut);
    }

  private:
    struct Entry {
        double score;
        Cut cut;
    };

    /// The first of the others that ties with the largest takes its place.
    void drop_first(double least) {
        auto next = others_.begin();
        while (next->score < least) ++next;
        first_ = std::move(*next);
        others_.erase(others_.begin(), next + 1);
    }

    bool found_ = false;
    Entry first_{};
    std::vector<Entry> others_;  // of ascending scores, all above the first; rarely any
    double noise_ = 0, largest_ = -std::numeric_limits<double>::infinity();
};

/// A place in a column's sorted list: how many rows come before the cut, and where the missing ones go.
struct ListPlace {
    std::size_t n_first = 0;
    bool missing_left = false;
    double weight_left = 0;
};
/// Brings the places with the missing rows on the right and those with them on the left into one order: from
/// left to right, at one place with the missing ones left first. They all end up in `places`.
void merge_sides(Records<ListPlace>& places, Records<ListPlace>& others, double noise, double standing);

/// A gain as nodes compare it when they compete to be split next: gains that differ by rounding alone are
/// equal (but for the few that lie on two sides of a step), and the node made first wins.
inline double ranked(double gain) {
    constexpr std::uint64_t step = std::uint64_t{1} << 12;  // of the last bits: 2.3e-13 of the gain
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(gain) + step / 2) & ~(step - 1));
}

/// Where a node is cut. A number goes left when value <= low, right when value >= high; every number in
/// [low, high) may serve as the threshold. A category goes left when its code is among `left_codes`.
struct Split {
    std::int32_t column = -1;
    double gain = 0.0;
    double rank = 0.0;  // below 0: a last resort, a subset of categories that is no better than chance
    double low = 0.0;
    double high = 0.0;
    int bin = -1;            // a large node's number: bins below it go left, bins above it right,
    bool at_border = false;  // and its own rows left (true), or by their values
    bool missing_left = false;
    bool saw_missing = false;                           // false: the heavier child will take missing values
    bool is_heavier_left = false;                       // or weighs as much as the right one
    std::vector<std::int32_t> left_codes, right_codes;  // of the categories present in the node

    bool found() const { return column >= 0; }
    bool is_last_resort() const { return rank < 0; }
};

/// A column's best split as C4.5 compares it: its gain, and the entropy of its two sides in bits × weight.
struct RatioEntry {
    double gain;
    double information;
};

/// C4.5's choice: among the columns whose gain is at least the average of the positive gains, the largest
/// ratio of gain to split information; the first one where all gains are zero. -1 without entries.
std::int32_t ratio_winner(const std::vector<RatioEntry>& entries, double noise);

/// W·entropy, in bits, of a split into two weights.
double split_information(double left, double right);

}  // namespace treewright
