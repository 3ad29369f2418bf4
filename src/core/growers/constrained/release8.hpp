// What C4.5, Release 8, does in its own way with the cuts of a number.
#pragma once

#include <cstdint>
#include <span>

#include "growers/constrained/cut.hpp"

namespace treewright::constrained {

/// Which cuts of a column count: those that leave at least so many rows on each side and lie between values
/// that differ.
class Release8Cuts {
  public:
    /// `n_known` rows have a value, parts of rows counted as parts.
    Release8Cuts(const Problem& problem, double n_known);

    bool count(double n_left, double below, double above) const;

  private:
    double min_side_, max_side_;
};

/// What the choice among so many cuts costs, per row of the node: log2 of their number.
double release8_toll(std::size_t n_cuts, double n_rows, double weight);

/// The greatest value of the whole table that is not above the middle of a gap. `values` are those of the
/// table by rank; the gap lies between two of them.
double release8_threshold(std::span<const double> values, std::uint32_t rank_below, std::uint32_t rank_above,
                          double low, double high);

}  // namespace treewright::constrained
