// The best division of a column's categories by absolute error. The missing rows are one more group.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/problem.hpp"
#include "growers/split.hpp"
#include "growers/subsets.hpp"
#include "scanners/chance.hpp"
#include "support/exact_sum.hpp"

namespace treewright {

/// Tries the division that the scanner finds, and each group alone, so that there is a cut even where none
/// gains; where limits, constraints or further outputs spoil the scanner's proof, every subset of a few
/// groups.
template <class Scanner, class Id>
class MedianDivision {
  public:
    /// `groups` are the rows of each of the categories, and those of the missing ones if there are any.
    MedianDivision(Scanner& scanner, const Limits& limits, std::vector<std::span<const Id>>&& groups,
                   std::size_t n_categories, double noise, double standing = unreachable)
        : scanner_(scanner),
          limits_(limits),
          groups_(std::move(groups)),
          n_categories_(n_categories),
          standing_(standing),
          best_{.noise = noise} {
        for (const auto& group : groups_) n_rows_ += group.size();
    }

    /// Whether a division scores more than what stands; it is then in `found`, and what it scores in
    /// `score()`. `admits()` judges what the cursor has sent to one side and the rest; the division is
    /// `limited` if it may refuse.
    template <class WeightOf, class Admits>
    bool run(bool limited, WeightOf weight_of, Admits admits) {
        for (const auto& group : groups_) {
            ExactSum sum;
            for (const Id id : group) sum.add(weight_of(id));
            weights_.push_back(sum.rounded());
        }
        limited = limited || limits_.min_rows_leaf > 1 || limits_.min_weight_leaf > 0;
        search(limited, admits);
        return best_.score > standing_ && beats_chance();
    }

    double score() const { return best_.score; }

    Subset found;

  private:
    using Sides = std::vector<char>;

    template <class Admits>
    void search(bool limited, Admits admits) {
        Sides is_left(groups_.size());
        const auto attempt_mask = [&](std::uint64_t mask) {
            for (std::size_t g = 0; g < groups_.size(); ++g) is_left[g] = g < 64 && (mask >> g & 1);
            if (!is_refused(is_left)) attempt(is_left, admits);
        };
        constexpr std::size_t affordable = std::size_t{1} << 22;
        if (limited && groups_.size() <= exact_groups && n_rows_ << groups_.size() < affordable) {
            for (std::uint64_t mask = 1; mask < std::uint64_t{1} << groups_.size(); ++mask)
                attempt_mask(mask);
            return;
        }
        const auto refused = [&](const Sides& sides) { return is_refused(sides); };
        if (scanner_.divide_groups(groups_, limits_, refused, is_left)) attempt(is_left, admits);
        for (std::size_t g = 0; g < std::min<std::size_t>(groups_.size(), 64); ++g)
            attempt_mask(std::uint64_t{1} << g);
    }
    bool is_refused(const Sides& is_left) const {
        std::size_t n_left = 0;
        double weight = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (!is_left[g]) continue;
            n_left += groups_[g].size();
            weight += weights_[g];
        }
        return std::cmp_less(std::min(n_left, n_rows_ - n_left), limits_.min_rows_leaf) ||
               std::min(weight, scanner_.weight() - weight) < limits_.min_weight_leaf;
    }
    template <class Admits>
    void attempt(Sides is_left, Admits admits) {
        if (!is_left[0])
            for (auto& left : is_left) left = !left;  // the first category goes left, as everywhere
        std::size_t n_left = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g) n_left += is_left[g] ? groups_[g].size() : 0;
        // Both sides score alike, and the smaller one is sent sooner.
        const bool sends_left = 2 * n_left <= n_rows_;
        auto cursor = scanner_.cursor();
        for (std::size_t g = 0; g < groups_.size(); ++g)
            for (const Id id : groups_[g])
                if ((is_left[g] != 0) == sends_left) cursor.add(id);
        const double score = cursor.score(0);
        if (!best_.beaten_by(score) || !admits()) return;
        best_.set(score);
        found = {is_left, groups_.size() > n_categories_ && is_left.back(),
                 sends_left ? cursor.weight(0) : cursor.rest()};
        found.is_left.resize(n_categories_);
    }
    bool beats_chance() {
        if (limits_.correction == Correction::none || limits_.random_splits || groups_.size() <= 2)
            return true;
        Chance chance(limits_.correction, scanner_.weight(), n_rows_);
        for (std::size_t g = 0; g < groups_.size(); ++g) chance.add(weights_[g], groups_[g].size());
        chance.finish();
        return less_chance(best_, chance, scanner_.chance_score(chance)) && best_.score > standing_;
    }

    Scanner& scanner_;
    const Limits& limits_;
    std::vector<std::span<const Id>> groups_;
    std::size_t n_categories_, n_rows_ = 0;
    std::vector<double> weights_;  // by group
    double standing_;
    Best best_;
};

}  // namespace treewright
