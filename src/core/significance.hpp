// Whether a split tells the classes apart better than chance: Pearson's χ² test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "problem.hpp"

namespace treewright {

/// The table of the two sides of a split by class, weights taken for counts. Each target has a table of its
/// own; their χ² and their degrees of freedom (classes present − 1) are added up. Rows are offered in
/// canonical order, so that the sums are the same to the bit wherever a node is searched.
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
            cells_.resize(static_cast<std::size_t>(problem_.targets.n_classes[output]));
            for (const Item item : items) {
                const Row row = row_of(item);
                const auto label = problem_.label(row, output);
                auto& cell = cells_[label];
                if (cell.all() == 0) present_.push_back(label);
                (goes_left(item) ? cell.left : cell.right) += problem_.weight(row);
            }
            freedom += present_.size() - 1;
            statistic += clear();
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

    /// χ² of the table, which is left empty.
    double clear() {
        Cell total;
        for (const auto label : present_) {
            total.left += cells_[label].left;
            total.right += cells_[label].right;
        }
        const double share_left = total.left / total.all(), share_right = total.right / total.all();
        double sum = 0;
        for (const auto label : present_) {
            Cell& cell = cells_[label];
            const double excess = cell.left * share_right - cell.right * share_left;
            sum += excess / cell.all() * excess;
            cell = {};
        }
        present_.clear();
        return sum / share_left / share_right;
    }

    const Problem& problem_;
    std::vector<Cell> cells_;
    std::vector<std::int32_t> present_;  // classes in the node, in the order of their first rows
};

}  // namespace treewright
