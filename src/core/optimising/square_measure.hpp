// Numbers: weights, sums and squares of some rows.
//
// All of them are whole numbers on grids, so that sums do not depend on the order of the rows; only the
// square of a sum over the weight is rounded, to a unit that is 2^-52 of all squares.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "optimising/class_measure.hpp"

namespace treewright::optimising {

class SquareMeasure {
  public:
    using Count = std::int64_t;

    explicit SquareMeasure(const Table& table) : table_(table) {}

    /// Weight, sum and square; the square once more as what could be saved.
    std::size_t width() const { return 3; }
    Loss leaf_loss(const Count* total) const { return total[2] - saved(total[0], total[1]); }
    template <class Work>
    void for_each_part(const NodeRows& rows, std::size_t row, Work work) const {
        const Number& number = table_.numbers[static_cast<std::size_t>(rows.target(row))];
        work(std::size_t{0}, number.weight);
        work(std::size_t{1}, number.sum);
        work(std::size_t{2}, number.square);
    }
    /// A cut inside a bin saves no more than the rows before and behind the bin do, each with a mean of its
    /// own, and all that the rows of the bin could lose.
    template <bool of_right>
    void save(const SideCounts<Count>& side, Count* most, Count* least) const {
        const Loss leaf = saved(side.total[0], side.total[1]);
        std::fill_n(most, side.stride, leaf);
        std::fill_n(least, side.stride, leaf);
        for (std::size_t view = 0; view < side.stride; ++view) {
            Count weight = 0, sum = 0;
            for (std::size_t bin = 0; bin < side.n_bins; ++bin) {
                Count own[3];
                for (std::size_t part = 0; part < 3; ++part) {
                    const std::size_t at = (bin * 3 + part) * side.stride + view;
                    own[part] = of_right ? side.all[at] - side.left[at] : side.left[at];
                }
                if (own[0] == 0) continue;
                if (side.is_mixed[bin * side.stride + view])
                    most[view] = std::max(
                        most[view], own[2] + rounding + saved(weight, sum) +
                                        saved(side.total[0] - weight - own[0], side.total[1] - sum - own[1]));
                weight += own[0];
                sum += own[1];
                const Loss here = saved(weight, sum) + saved(side.total[0] - weight, side.total[1] - sum);
                least[view] = std::max(least[view], here);
                most[view] = std::max(most[view], here + rounding);
            }
        }
    }

    Loss saved(const Count* before, const Count* total) const {
        return saved(before[0], before[1]) + saved(total[0] - before[0], total[1] - before[1]);
    }
    Loss most_inside(const Count* before, const Count* bin, const Count* total) const {
        return bin[2] + rounding + saved(before[0], before[1]) +
               saved(total[0] - before[0] - bin[0], total[1] - before[1] - bin[1]);
    }

  private:
    /// By so much two roundings of a side can differ.
    static constexpr Loss rounding = 2;

    /// What a mean saves: S²/W, in units of squares.
    Loss saved(Count weight, Count sum) const {
        if (weight == 0) return 0;
        const auto s = static_cast<double>(sum);
        return std::llrint(s / static_cast<double>(weight) * s * table_.square_scale);
    }

    const Table& table_;
};

}  // namespace treewright::optimising
