// The best subset of a column's categories to send left.
//
// Where a group is one number (two classes, or one regression target), the best subset is a prefix of the
// groups in the order of that number (Fisher; Breiman et al. 1984): exact at any number of categories, as
// long as limits on leaves do not refuse it. Otherwise every subset is tried up to `exact_groups` categories.
// Above that the groups are ordered along their first principal component (Coppersmith, Hong and Hosking
// 1999) and by the share of each of the largest classes, every prefix is tried, and the best one is improved
// by moving single categories.
//
// The gain of the best subset of many categories is partly chance: where the limits ask for it, what chance
// gives (see chance.hpp) is taken off before the column competes with others. The subset itself stays the
// best one.
#pragma once

#include <vector>

#include "data/problem.hpp"
#include "growers/split.hpp"
#include "scanners/chance.hpp"
#include "scanners/group_scorer.hpp"

namespace treewright {

/// Up to so many categories every subset is tried.
constexpr std::size_t exact_groups = 10;

/// The categories present in a node: their statistics one after the other, the rows behind them, and the
/// statistic of the rows whose category is missing.
struct Groups {
    std::size_t n = 0;
    std::vector<Sum> statistics;
    std::vector<std::size_t> counts;
    std::vector<Sum> missing;
    std::size_t n_missing = 0;
};

struct Subset {
    std::vector<char> is_left;  // by group
    bool missing_left = false;
    double weight_left = 0;
};

/// Corrects the best subset of a column for chance; false where the column then has none. A subset that is no
/// better than chance is a last resort, for nodes that no other column divides: what two columns tell only
/// together, chance alone lets one begin with. Of several, the one of which chance makes least.
inline bool less_chance(Best& best, const Chance& chance, double by_chance) {
    const bool is_worth_it = best.score > worth_over_chance * by_chance;
    if (!is_worth_it && !chance.repeats()) return false;
    best.set(is_worth_it ? best.score - by_chance : -by_chance);
    return true;
}

/// The rank of a subset of this score among splits: below 0 if it is a last resort.
inline double rank_of(const Limits& limits, double score) {
    return limits.correction == Correction::none ? 0.0 : std::min(0.0, score);
}

class SubsetSearch {
  public:
    /// What does not score more than `standing` is of no interest.
    SubsetSearch(GroupScorer& scorer, const Limits& limits, const Groups& groups, std::size_t n_rows,
                 double noise, double standing = unreachable);

    /// Whether there is a subset that is of interest; it is then in `found`, and what it scores in `score()`.
    /// Which one it is does not depend on what stands.
    bool run();
    /// One random subset, for randomised trees. It was not chosen, so chance gives it nothing.
    bool run_random(Random& random);

    double score() const { return best_.score; }

    Subset found;

  private:
    bool beats_chance();
    bool may_be_refused() const;
    bool orient();
    const Sum* statistic(std::size_t g) const { return groups_.statistics.data() + g * width_; }
    void toggle(std::size_t g);
    void clear();
    void attempt(bool missing_left);
    void attempt_both_sides();
    std::vector<double> points(std::size_t dimensions) const;
    std::vector<std::size_t> order_by(const std::vector<double>& keys) const;
    void try_prefixes(const std::vector<std::size_t>& order);
    void try_all();
    void try_orders();
    std::vector<double> principal_axis(const std::vector<double>& cloud, std::size_t dimensions) const;
    void improve();

    GroupScorer& scorer_;
    const Limits& limits_;
    const Groups& groups_;
    std::size_t n_rows_;
    double standing_;
    Best best_;
    std::size_t width_;
    std::vector<Sum> left_, tried_;
    std::vector<char> is_left_;
    std::size_t n_left_ = 0, n_left_groups_ = 0;
};

}  // namespace treewright
