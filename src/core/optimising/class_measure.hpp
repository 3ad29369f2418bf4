// Classes: what each answer saves, and the scans of two sides at once.
//
// A total is what each answer saves on some rows and, behind that, what all of them could save: a leaf loses
// the difference between the last and the largest of the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "optimising/lanes.hpp"
#include "optimising/rows.hpp"
#include "optimising/table.hpp"
#include "support/simd.hpp"

namespace treewright::optimising {

/// What the best stumps of the left and of the right side lose.
struct TwoStumps {
    Loss loss[2] = {0, 0};
};

template <class C>
class ClassMeasure {
  public:
    using Count = C;

    explicit ClassMeasure(const Table& table) : table_(table), k_(table.n_answers) {}

    /// Parts of a histogram's cell; a total has one more.
    std::size_t width() const { return k_; }
    Loss leaf_loss(const Count* total) const {
        return Loss{total[k_]} - *std::max_element(total, total + k_);
    }
    /// Calls `work(part, count)` for what a row adds to a cell.
    template <class Work>
    void for_each_part(const NodeRows& rows, std::size_t row, Work work) const {
        const auto label = static_cast<std::size_t>(rows.target(row));
        const auto weight = static_cast<Count>(rows.weight(row));
        if (!table_.has_gains()) return work(label, weight);
        for (std::size_t answer = 0; answer < k_; ++answer)
            work(answer, static_cast<Count>(weight * static_cast<Count>(table_.gains[label * k_ + answer])));
    }
    /// What the stumps of one side save at the most and at the least.
    template <bool of_right>
    void save(const SideCounts<Count>& side, Count* most, Count* least) const {
        switch (k_) {
            case 2:
                return two_answers<Count, of_right>(side, most, least);
            case 3:
                return many_answers<Count, of_right, 3>(side, most, least);
            case 4:
                return many_answers<Count, of_right, 4>(side, most, least);
            case 5:
                return many_answers<Count, of_right, 5>(side, most, least);
            case 6:
                return many_answers<Count, of_right, 6>(side, most, least);
            case 7:
                return many_answers<Count, of_right, 7>(side, most, least);
            default:
                return many_answers<Count, of_right, 0>(side, most, least);
        }
    }

    void enter(const NodeRows& rows) {
        rows_ = &rows;
        if (k_ != 2) return;
        difference_.assign(rows.size(), 0);
        for (std::size_t row = 0; row < rows.size(); ++row)
            for_each_part(rows, row, [&](std::size_t answer, Count gain) {
                difference_[row] = static_cast<Count>(difference_[row] + (answer == 1 ? gain : -gain));
            });
    }
    /// The first `place` rows of a list are the left side. Both totals are known.
    void mark(std::span<const Cell> list, std::size_t place, const Count* left_total,
              const Count* right_total) {
        totals_[0] = left_total;
        totals_[1] = right_total;
        if (k_ == 2) {
            changes_.resize(list.size());
            for (std::size_t i = 0; i < place; ++i) {
                const Count change = difference_[list[i].row];
                changes_[list[i].row] = {{change, static_cast<Count>(-change), 0, 0}};
            }
            for (std::size_t i = place; i < list.size(); ++i) {
                const Count change = difference_[list[i].row];
                changes_[list[i].row] = {{0, 0, change, static_cast<Count>(-change)}};
            }
            return;
        }
        slots_.resize(list.size());
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::uint32_t row = list[i].row;
            slots_[row] = static_cast<std::uint32_t>(rows_->target(row)) << 1 | (i >= place ? 1U : 0U);
        }
    }
    TwoStumps scan(std::span<const Cell> list) {
        if (k_ == 2) return scan_differences(list);
        return table_.has_gains() || rows_->is_weighted() ? scan_counts<false>(list)
                                                          : scan_counts<true>(list);
    }

  private:
    // Vectors of 32 bytes are passed differently by compilers for newer processors.
    using Four = std::conditional_t<sizeof(Count) == 8, PlainVector<Count, 4>, SimdVector<Count, 4>>;
    /// What a row adds to the differences (one − zero) and (zero − one) of the left and of the right side.
    struct alignas(4 * sizeof(Count)) Changes {
        Count by_side[4];
    };

    TwoStumps scan_differences(std::span<const Cell> list) const {
        const std::size_t last = list.size() - 1;
        Four now{}, most{};
        for (std::size_t i = 0; i < last; ++i) {
            now = now + *reinterpret_cast<const Four*>(changes_[list[i].row].by_side);
            if (list[i].code != list[i + 1].code) most = larger(most, now);
        }
        TwoStumps out;
        for (std::size_t s = 0; s < 2; ++s) {
            // before the cut the ones are saved and behind it the zeros, or the other way round
            const Loss zeros = totals_[s][0], ones = totals_[s][1];
            out.loss[s] = totals_[s][2] - std::max(zeros + most[2 * s], ones + most[2 * s + 1]);
        }
        return out;
    }
    /// Adds a row to the counts of its side, and keeps the largest count of each side.
    template <bool are_ones>
    void count_row(std::uint32_t row, Count* count, Count* largest) const {
        const std::uint32_t slot = slots_[row], s = slot & 1U;
        const auto add = [&](std::size_t place, Count gain) {
            count[place] = static_cast<Count>(count[place] + gain);
            largest[s] = std::max(largest[s], count[place]);
        };
        if constexpr (are_ones)
            add(slot, 1);
        else
            for_each_part(*rows_, row, [&](std::size_t answer, Count gain) { add(answer << 1 | s, gain); });
    }
    template <bool are_ones>
    TwoStumps scan_counts(std::span<const Cell> list) {
        const std::size_t n = list.size();
        behind_.resize(2 * n);
        counts_.assign(2 * k_, 0);
        Count* const counts = counts_.data();
        Count* const behind = behind_.data();
        Count largest[2] = {0, 0};
        for (std::size_t i = n; i-- > 0;) {
            count_row<are_ones>(list[i].row, counts, largest);
            behind[2 * i] = largest[0];
            behind[2 * i + 1] = largest[1];
        }
        Loss most[2] = {behind[0], behind[1]};
        std::fill(counts_.begin(), counts_.end(), Count{0});
        largest[0] = largest[1] = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            count_row<are_ones>(list[i].row, counts, largest);
            if (list[i].code == list[i + 1].code) continue;
            for (std::size_t s = 0; s < 2; ++s)
                most[s] = std::max(most[s], Loss{largest[s]} + behind[2 * i + 2 + s]);
        }
        TwoStumps out;
        for (std::size_t s = 0; s < 2; ++s) out.loss[s] = totals_[s][k_] - most[s];
        return out;
    }

    const Table& table_;
    const std::size_t k_;
    const NodeRows* rows_ = nullptr;
    const Count* totals_[2] = {nullptr, nullptr};
    std::vector<Count> difference_, counts_, behind_;
    std::vector<Changes> changes_;
    std::vector<std::uint32_t> slots_;
};

}  // namespace treewright::optimising
