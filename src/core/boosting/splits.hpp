// The best split of a node from its histograms.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "boosting/cells.hpp"
#include "boosting/sums.hpp"

namespace treewright::boosting {

/// What a boosted tree must keep to.
struct Limits {
    std::int64_t max_leaves = -1;  // -1: none
    std::int64_t max_depth = -1;
    std::int64_t min_rows_leaf = 20;
    double min_hessian = 1e-3;
    double l2 = 0.0;
    double max_step = std::numeric_limits<double>::infinity();  // the longest, before the learning rate
    double learning_rate = 0.1;
    std::size_t columns_drawn = 0;                   // at each node; 0: all
    std::vector<std::int8_t> monotone;               // for each column −1, 0 or 1; empty: none
    std::vector<std::vector<std::uint32_t>> groups;  // columns, sorted; a path keeps to one; empty: no groups
    std::uint64_t seed = 0;
};

/// What a node may answer, where columns are monotone.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};

struct BoostedSplit {
    double gain = 0;  // 0: there is none
    std::size_t column = 0;
    Sums left;
    bool missing_left = false;
    double low = 0, high = 0;                   // of numbers: any threshold between them parts the cells
    std::array<std::uint8_t, 256> goes_left{};  // for each cell; until it is known, `unseen`

    static constexpr std::uint8_t unseen = 2;

    bool is_set() const { return gain > 0; }
};

/// The sums of a node, and what it may answer.
struct NodeSums {
    Sums all;
    double weight = 0;  // how many rows it has, each as often as its weight says where that is a whole number
    Bounds bounds;
};

/// The best split so far; what is needed to write it down is kept small while columns are compared.
struct BestSplit {
    double own = 0;    // the worth of the node as it is
    double worth = 0;  // of both sides
    bool is_set = false;
    std::size_t column = 0, cell = 0, next_cell = 0;
    bool missing_left = false;
    Sums left;
    std::vector<std::size_t> categories;  // cells that go left

    /// Whether it comes before another one: of equals the first column does.
    bool beats(const BestSplit& other) const {
        if (!is_set || !other.is_set) return is_set;
        return worth != other.worth ? worth > other.worth : column < other.column;
    }
};

/// Searches columns, in any order and by any threads; of equal splits the one of the first column wins.
template <class Form>
class SplitSearch {
  public:
    using Entry = typename Form::Entry;

    SplitSearch(const Cells& cells, const Limits& limits, const Units& units)
        : cells_(cells),
          limits_(limits),
          units_(units),
          scale_(units.gradient * units.gradient / units.hessian) {}

    /// What a split of a node has to beat.
    BestSplit begin(const NodeSums& node) const;
    /// Looks for a better split in a column; columns come in ascending order. `histogram` is that of all.
    void search(std::size_t column, const Entry* histogram, const NodeSums& node, BestSplit& best) const;
    /// Cells without rows of the node go to no side yet.
    BoostedSplit written(const BestSplit& best, const Entry* histogram) const;

  private:
    struct Borders;
    void search_numbers(std::size_t column, const Entry* histogram, const NodeSums& node,
                        BestSplit& best) const;
    void search_categories(std::size_t column, const Entry* histogram, const NodeSums& node,
                           BestSplit& best) const;
    double most_worth(const Borders& borders, const Sums& all) const
        requires Form::has_pairs;
    void scan(std::size_t column, const Entry* histogram, const NodeSums& node, bool missing_left,
              BestSplit& best) const;
    bool fits(const Sums& side) const {
        return side.count >= limits_.min_rows_leaf && hessian(side) >= limits_.min_hessian;
    }
    double gradient(const Sums& sums) const { return static_cast<double>(sums.gradient) * units_.gradient; }
    double hessian(const Sums& sums) const { return static_cast<double>(sums.hessian) * units_.hessian; }
    /// What a side lowers the loss by, twice: G² / (H + λ), or less where its answer is bounded.
    double worth(const Sums& side) const {
        const double g = gradient(side);
        return g * g / (hessian(side) + limits_.l2);
    }
    double bounded_worth(const Sums& left, const Sums& right, std::size_t column, const Bounds& bounds) const;

    const Cells& cells_;
    const Limits& limits_;
    const Units& units_;
    double scale_;  // the worth of a side whose sums are counted in units
};

/// Sends cells in which the node has no rows with the heavier side, or at numbers with the nearer one.
void send_unseen(BoostedSplit& split, const CellColumn& cells, bool heavier_left);

/// The Newton step of a node: −G / (H + λ) within its bounds. Where predictions are certain to the last bit
/// the hessians vanish; the smallest one that counts keeps the step finite.
inline double newton_step(double gradient, double hessian, double l2, const Bounds& bounds) {
    constexpr double least_hessian = 1e-15;
    const double step = -gradient / std::max(hessian + l2, least_hessian);
    return step < bounds.low ? bounds.low : step > bounds.high ? bounds.high : step;
}

extern template class SplitSearch<NarrowSums>;
extern template class SplitSearch<WideSums>;
extern template class SplitSearch<LooseSums>;

}  // namespace treewright::boosting
