// A split, and the rule that chooses among splits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "columns.hpp"

namespace treewright {

/// The best candidate so far. Scores within the tolerance are ties, and the first candidate keeps its place:
/// callers offer columns in order and thresholds from low to high. Comparing with `cut` is all that the inner
/// loops do.
struct Best {
    double score = -std::numeric_limits<double>::infinity();
    double cut = -std::numeric_limits<double>::infinity();
    double noise = 0.0;  // what rounding can do to a score

    bool beaten_by(double other) const { return other > cut; }
    bool ties_with(double other) const { return !beaten_by(other) && other >= score - (cut - score); }
    bool is_set() const { return score > -std::numeric_limits<double>::infinity(); }
    void set(double other) {
        constexpr double relative_tie = 1e-12;
        score = other;
        cut = other + relative_tie * std::abs(other) + noise;
    }
};

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
