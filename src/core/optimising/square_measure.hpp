// Numbers: weights, sums and squares of some rows, and the scans of two sides at once.
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

    void enter(const NodeRows& rows) { rows_ = &rows; }
    void mark(std::span<const Cell> list, std::size_t place, const Count* left_total,
              const Count* right_total) {
        totals_[0] = left_total;
        totals_[1] = right_total;
        is_right_.resize(list.size());
        for (std::size_t i = 0; i < list.size(); ++i) is_right_[list[i].row] = i >= place;
    }
    TwoStumps scan(std::span<const Cell> list) const {
        Count weight[2] = {0, 0}, sum[2] = {0, 0};
        Loss most[2] = {saved(totals_[0][0], totals_[0][1]), saved(totals_[1][0], totals_[1][1])};
        for (std::size_t i = 0; i + 1 < list.size(); ++i) {
            const std::size_t s = is_right_[list[i].row];
            const Number& number = table_.numbers[static_cast<std::size_t>(rows_->target(list[i].row))];
            weight[s] += number.weight;
            sum[s] += number.sum;
            if (list[i].code == list[i + 1].code) {
                is_open_[s] = true;
                continue;
            }
            is_open_[s] = true;
            for (std::size_t t = 0; t < 2; ++t) {
                if (!is_open_[t]) continue;
                is_open_[t] = false;
                most[t] = std::max(most[t], saved(weight[t], sum[t]) +
                                                saved(totals_[t][0] - weight[t], totals_[t][1] - sum[t]));
            }
        }
        TwoStumps out;
        for (std::size_t s = 0; s < 2; ++s) out.loss[s] = totals_[s][2] - most[s];
        return out;
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
    const NodeRows* rows_ = nullptr;
    const Count* totals_[2] = {nullptr, nullptr};
    std::vector<std::uint8_t> is_right_;
    mutable bool is_open_[2] = {false, false};  // rows have passed since the last cut
};

}  // namespace treewright::optimising
