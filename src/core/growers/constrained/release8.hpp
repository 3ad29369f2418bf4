// What C4.5, Release 8, does in its own way.
#pragma once

#include "growers/constrained/policy.hpp"

namespace treewright::constrained {

class Release8 final : public Policy {
  public:
    explicit Release8(const Problem& problem);

    /// By gain ratio. Missing values are a branch of the split information; columns of very many categories
    /// have no part in the average gain, unless all are such; all per unit of weight, with C4.5's own
    /// rounding.
    std::int32_t choose(const std::vector<Cut>& cuts, double weight) const override;
    /// Of many branches two must be large enough.
    bool are_enough(std::size_t n_large, std::size_t) const override { return n_large >= 2; }

    bool counts_cuts() const override { return true; }
    /// Those that leave at least so many rows on each side and lie between values that differ.
    std::size_t count_cuts(const Ranks& ranks, std::span<const Id> known, std::span<const double> n_left,
                           std::vector<char>& counts) const override;
    /// The choice costs, per row of the node, log2 of the number of cuts.
    bool charge(Cut& cut, std::size_t n_cuts, double n_rows, double weight) const override;
    /// The greatest value of the whole table that is not above the middle of the gap.
    void choose_threshold(Split& split, const Ranks& ranks, Id below, Id above) const override;

  private:
    const Problem& problem_;
    bool all_have_many_;  // categories
};

}  // namespace treewright::constrained
