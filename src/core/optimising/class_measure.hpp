// Classes: what each answer saves.
//
// A total is what each answer saves on some rows and, behind that, what all of them could save: a leaf loses
// the difference between the last and the largest of the others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "optimising/lanes.hpp"
#include "optimising/rows.hpp"
#include "optimising/table.hpp"

namespace treewright::optimising {

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

    /// What the best answers before and behind a cut save.
    Loss saved(const Count* before, const Count* total) const {
        Count ahead = 0, behind = 0;
        for (std::size_t a = 0; a < k_; ++a) {
            ahead = std::max(ahead, before[a]);
            behind = std::max(behind, static_cast<Count>(total[a] - before[a]));
        }
        return Loss{ahead} + behind;
    }
    /// What a cut inside a bin can save: its rows may be right on either side, as long as the two differ.
    Loss most_inside(const Count* before, const Count* bin, const Count* total) const {
        Loss ahead[2] = {0, 0}, behind[2] = {0, 0}, same = 0;
        const auto take = [](Loss* largest, Loss x) {
            largest[1] = std::max(largest[1], std::min(largest[0], x));
            largest[0] = std::max(largest[0], x);
        };
        for (std::size_t a = 0; a < k_; ++a) {
            take(ahead, Loss{before[a]} + bin[a]);
            take(behind, Loss{total[a]} - before[a]);
            same = std::max(same, Loss{total[a]} + bin[a]);
        }
        if (ahead[0] + behind[0] > same) return ahead[0] + behind[0];
        return std::max(ahead[0] + behind[1], ahead[1] + behind[0]);
    }

  private:
    // Vectors of 32 bytes are passed differently by compilers for newer processors.
    const Table& table_;
    const std::size_t k_;
};

}  // namespace treewright::optimising
