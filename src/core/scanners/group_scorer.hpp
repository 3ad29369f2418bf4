// Scoring groups of rows by sums of their statistics, behind one interface: what searches subsets of
// categories is compiled once, for every scanner and every measure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/problem.hpp"
#include "scanners/chance.hpp"
#include "scanners/scanner.hpp"

namespace treewright {

class GroupScorer {
  public:
    virtual ~GroupScorer() = default;
    /// How many sums a statistic has.
    virtual std::size_t width() const = 0;
    /// Of the node.
    virtual double weight() const = 0;
    virtual double weight_of(const Sum* statistic) const = 0;
    virtual double score_of(const Sum* left) = 0;
    virtual double chance_score(const Chance& chance) const = 0;
    virtual std::size_t dimensions() const = 0;
    virtual void point(const Sum* statistic, double* out) const = 0;

    /// Whether the best subset may be refused, by the criterion or by `allows`.
    virtual bool may_refuse() const { return false; }
    virtual bool allows(const Sum*) { return true; }
};

/// A scanner or a measure as a scorer of groups.
template <SumsGroups S>
class GroupScorerOf final : public GroupScorer {
  public:
    explicit GroupScorerOf(S& scorer) : scorer_(scorer) {}

    std::size_t width() const override { return scorer_.width(); }
    double weight() const override { return scorer_.weight(); }
    double weight_of(const Sum* statistic) const override { return scorer_.weight_of(statistic); }
    double score_of(const Sum* left) override { return scorer_.score_of(left); }
    double chance_score(const Chance& chance) const override { return scorer_.chance_score(chance); }
    std::size_t dimensions() const override { return scorer_.dimensions(); }
    void point(const Sum* statistic, double* out) const override { scorer_.point(statistic, out); }
    bool may_refuse() const override {
        return requires { requires S::may_refuse; };
    }

  private:
    S& scorer_;
};

}  // namespace treewright
