// How the cuts of a node are counted, priced and chosen. This is CART's way and that of gain ratios; C4.5's
// Release 8 has its own (release8.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "growers/constrained/cut.hpp"

namespace treewright::constrained {

class Policy {
  public:
    virtual ~Policy() = default;

    /// Which of a node's cuts is taken, one of each column, in the order of the columns; -1: none. `weight`
    /// is that of the node.
    virtual std::int32_t choose(const std::vector<Cut>& cuts, double weight) const = 0;
    /// Whether a cut into so many branches is allowed if so many of them have enough rows.
    virtual bool are_enough(std::size_t n_large, std::size_t n_branches) const {
        return n_large >= n_branches;
    }

    /// Whether it has a say in the cuts of a number: then the functions below are asked.
    virtual bool counts_cuts() const { return false; }
    /// Notes by how many of the known rows are left of a cut whether it counts; `n_left` is the same number
    /// with parts of rows counted as parts. Returns how many cuts count.
    virtual std::size_t count_cuts(const Ranks&, std::span<const Id>, std::span<const double>,
                                   std::vector<char>&) const {
        return 0;
    }
    /// Takes off the gain of the best of so many cuts what the choice among them costs; false where then
    /// nothing is left. `n_rows` and `weight` are those of the node.
    virtual bool charge(Cut&, std::size_t, double, double) const { return true; }
    /// Chooses the threshold between the values of two ranks.
    virtual void choose_threshold(Split&, const Ranks&, Id, Id) const {}
};

/// W·entropy, in bits, of a cut into some weights.
double split_information(const std::vector<double>& weights);

/// What rounding can do to the gains of some cuts.
double noise_of(const std::vector<Cut>& cuts);

std::unique_ptr<Policy> make_policy(const Problem& problem, const Options& options,
                                    const Criterion& criterion);

}  // namespace treewright::constrained
