// The risk of one side of a cut while rows come and go, without looking at every class each time.
//
// What is kept are integers, so that a side's risk depends on its rows alone, not on the way they came. The
// heaviest class of the node is set apart and weights are shares of the node's: then whatever rounding does
// is small beside the risk of the node, also where that class outweighs all others by far.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <span>
#include <vector>

#include "data/problem.hpp"

namespace treewright {

/// part(share) of each class but the heaviest adds up; risk(heaviest, rest, parts) is that of shares.
template <class C>
concept Partible = requires(double x) {
    { C::part(x) } -> std::same_as<double>;
    { C::risk(x, x, x) } -> std::same_as<double>;
};

/// The risk is what is left without the heaviest class.
template <class C>
concept ByHeaviest = requires { requires C::is_by_heaviest; };

/// One side, for a criterion that adds up parts: O(1) for a row.
template <Partible C>
class RunningParts {
  public:
    /// All rows of a node are on this side.
    void fill(std::span<const Sum> weights) {
        weight_.assign(weights.begin(), weights.end());
        heaviest_ =
            static_cast<std::size_t>(std::max_element(weight_.begin(), weight_.end()) - weight_.begin());
        heavy_ = weight_[heaviest_];
        total_ = 0;
        for (const Sum weight : weight_) total_ += weight;
        node_ = static_cast<double>(total_);
        double sum = 0;
        for (std::size_t k = 0; k < weight_.size(); ++k)
            if (k != heaviest_) sum += C::part(static_cast<double>(weight_[k]) / node_);
        // Parts of smaller weights may add up to a little more, but never to twice as much.
        unit_ = sum > 0 ? std::ldexp(1.0, std::max(-1000, std::ilogb(sum) + 2 - 61)) : 1.0;
        part_.assign(weight_.size(), 0);
        parts_ = 0;
        for (std::size_t k = 0; k < weight_.size(); ++k)
            if (k != heaviest_) update(k);
    }
    /// No row is on this side yet; `other` is the side that has them all.
    void clear(const RunningParts& other) {
        heaviest_ = other.heaviest_;
        node_ = other.node_;
        unit_ = other.unit_;
        weight_.assign(other.weight_.size(), 0);
        part_.assign(other.weight_.size(), 0);
        total_ = heavy_ = parts_ = 0;
    }
    void add(std::size_t k, Sum weight) {
        weight_[k] += weight;
        total_ += weight;
        if (k == heaviest_)
            heavy_ += weight;
        else
            update(k);
    }
    double risk() const {
        return node_ * C::risk(static_cast<double>(heavy_) / node_,
                               static_cast<double>(total_ - heavy_) / node_,
                               static_cast<double>(parts_) * unit_);
    }

  private:
    void update(std::size_t k) {
        const Sum part =
            weight_[k] > 0 ? std::llrint(C::part(static_cast<double>(weight_[k]) / node_) / unit_) : 0;
        parts_ += part - part_[k];
        part_[k] = part;
    }

    std::vector<Sum> weight_, part_;
    std::size_t heaviest_ = 0;
    Sum total_ = 0, heavy_ = 0, parts_ = 0;
    double node_ = 1, unit_ = 1;
};

/// One side, for a criterion that looks at the heaviest class: O(log classes) for a row, by a tournament.
template <ByHeaviest C>
class RunningHeaviest {
  public:
    void fill(std::span<const Sum> weights) {
        n_ = std::bit_ceil(weights.size());
        winner_.assign(2 * n_, 0);
        std::copy(weights.begin(), weights.end(), winner_.begin() + static_cast<std::ptrdiff_t>(n_));
        for (std::size_t i = n_; i-- > 1;) winner_[i] = std::max(winner_[2 * i], winner_[2 * i + 1]);
        total_ = 0;
        for (const Sum weight : weights) total_ += weight;
    }
    void clear(const RunningHeaviest& other) {
        n_ = other.n_;
        winner_.assign(2 * n_, 0);
        total_ = 0;
    }
    void add(std::size_t k, Sum weight) {
        total_ += weight;
        std::size_t i = n_ + k;
        winner_[i] += weight;
        while (i > 1) {
            i /= 2;
            const Sum winner = std::max(winner_[2 * i], winner_[2 * i + 1]);
            if (winner == winner_[i]) break;
            winner_[i] = winner;
        }
    }
    double risk() const { return static_cast<double>(total_ - winner_[1]); }

  private:
    std::vector<Sum> winner_;  // winner_[1] of all; the weights themselves from n_ on
    std::size_t n_ = 1;
    Sum total_ = 0;
};

/// For criteria that have no such form.
struct NotRunning {};

template <class C>
struct RunningOf {
    using Side = NotRunning;
};
template <Partible C>
struct RunningOf<C> {
    using Side = RunningParts<C>;
};
template <ByHeaviest C>
struct RunningOf<C> {
    using Side = RunningHeaviest<C>;
};

}  // namespace treewright
