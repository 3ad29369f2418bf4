// Whether a split tells the classes apart better than chance: Pearson's χ² test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/problem.hpp"
#include "support/exact_sum.hpp"

namespace treewright {

/// The table of the two sides of a split by class, weights taken for counts. Each target has a table of its
/// own; their χ² and their degrees of freedom (classes present − 1) are added up. Sums over rows are exact,
/// so that they are the same to the bit wherever a node is searched.
class SignificanceTest {
  public:
    explicit SignificanceTest(const Problem& problem) : problem_(problem) {}

    /// Whether the split of some rows reaches the critical value; true where none is asked for.
    /// `row_of(item)` is the row behind an item, `goes_left(item)` its side.
    template <class Item, class RowOf, class Side>
    bool passes(std::span<const Item> items, RowOf row_of, Side goes_left) {
        const auto critical = problem_.limits.critical;
        if (critical.empty()) return true;
        double statistic = 0;
        std::size_t freedom = 0;
        for (std::size_t output = 0; output < problem_.targets.n_outputs; ++output) {
            parts_.clear();
            for (const Item item : items) {
                const Row row = row_of(item);
                parts_.push_back({problem_.label(row, output), goes_left(item) != 0, problem_.weight(row)});
            }
            take_cells();
            freedom += cells_.size() - 1;
            statistic += chi_squared();
        }
        constexpr double rounding = 1e-12;
        return statistic >= critical[freedom] * (1 - rounding);
    }

  private:
    /// The weight of a class on both sides.
    struct Cell {
        double left = 0, right = 0;
        double all() const { return left + right; }
    };
    /// A row: its class, its side and its weight.
    struct Part {
        std::int32_t label;
        bool is_left;
        double weight;
    };

    /// The cells of the classes that there are, in order.
    void take_cells() {
        const auto before = [](const Part& one, const Part& other) { return one.label < other.label; };
        if (!std::is_sorted(parts_.begin(), parts_.end(), before))
            std::sort(parts_.begin(), parts_.end(), before);
        cells_.clear();
        for (auto part = parts_.begin(); part != parts_.end();) {
            left_.clear();
            right_.clear();
            const auto label = part->label;
            for (; part != parts_.end() && part->label == label; ++part)
                (part->is_left ? left_ : right_).add(part->weight);
            cells_.push_back({left_.rounded(), right_.rounded()});
        }
    }
    double chi_squared() const {
        Cell total;
        for (const Cell& cell : cells_) {
            total.left += cell.left;
            total.right += cell.right;
        }
        const double share_left = total.left / total.all(), share_right = total.right / total.all();
        double sum = 0;
        for (const Cell& cell : cells_) {
            const double excess = cell.left * share_right - cell.right * share_left;
            sum += excess / cell.all() * excess;
        }
        return sum / share_left / share_right;
    }

    const Problem& problem_;
    std::vector<Part> parts_;  // of the node
    std::vector<Cell> cells_;  // of the classes in it
    ExactSum left_, right_;
};

}  // namespace treewright
