// Dividing groups of rows between two medians: every pair of values at once.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "data/problem.hpp"
#include "support/portable.hpp"

namespace treewright {

/// The weight of a row at its number, both on integer grids.
struct WeightAt {
    Sum number = 0, weight = 0;
};

/// What all groups deviate from the nearer one of two values, for every pair of values.
///
/// The deviation of a group is convex in the value. So for the lower value a of a pair there is a place t
/// from which on a is nearer than the upper value b; before it b is, and the deviation from b is made of
/// straight pieces, which change at the rows of the group. A group thus adds a few changes of slope and
/// offset to the line of pairs of each a, and their running sums are the deviations of all groups: values ×
/// (rows + values²) instead of groups × values². All sums are whole numbers.
class MedianPairs {
  public:
    using Wide = Int128;
    /// The positions of two values, the lower one first.
    struct Pair {
        std::size_t low = 0, high = 0;
    };
    /// What each side of a division must have.
    struct Least {
        std::int64_t rows = 0;
        Sum weight = 0;
    };

    /// `values` ascend, and none of the groups has a number beyond the last one.
    explicit MedianPairs(std::vector<Sum> values)
        : values_(std::move(values)), changes_(values_.size() * values_.size()) {}

    void add(std::span<const WeightAt> group) {
        add_pieces(group);
        if (groups_.size() == block) add_block();
    }
    /// After all groups: pairs that leave a side less than it must have are dropped.
    void finish(const Least& least) {
        add_block();
        const std::size_t n = values_.size();
        costs_.assign(n * n, std::numeric_limits<double>::infinity());
        for (std::size_t low = 0; low + 1 < n; ++low) {
            Change sum;
            for (std::size_t high = low + 1; high < n; ++high) {
                sum.add(changes_[low * n + high]);
                if (std::min(sum.rows, all_rows_ - sum.rows) >= std::max<std::int64_t>(1, least.rows) &&
                    std::min(sum.weight, all_weight_ - sum.weight) >= least.weight)
                    costs_[low * n + high] =
                        static_cast<double>(static_cast<Wide>(sum.slope) * values_[high] + sum.offset);
            }
        }
    }
    /// The pair of the least deviation, the first one among equals; nothing where none is left.
    std::optional<Pair> best() const {
        constexpr double tie = 1e-12;
        double least = std::numeric_limits<double>::infinity();
        std::optional<Pair> found;
        const std::size_t n = values_.size();
        for (std::size_t low = 0; low < n; ++low)
            for (std::size_t high = low + 1; high < n; ++high) {
                const double cost = costs_[low * n + high];
                if (!(cost < least * (1 - tie)) && (found || !(cost < least))) continue;
                least = cost;
                found = {low, high};
            }
        return found;
    }
    void drop(const Pair& pair) {
        costs_[pair.low * values_.size() + pair.high] = std::numeric_limits<double>::infinity();
    }
    /// Whether a group deviates less from the lower value than from the upper one.
    bool goes_left(std::span<const WeightAt> group, const Pair& pair) const {
        Wide difference = 0;
        for (const auto& [number, weight] : group)
            difference +=
                static_cast<Wide>(weight) * (distance(number, pair.low) - distance(number, pair.high));
        return difference < 0;
    }

  private:
    /// Groups whose pieces stay in cache while the lines of all lower values pass by.
    static constexpr std::size_t block = 512;

    /// The deviation of a group from the values from `begin` on, up to its next piece.
    struct Piece {
        std::size_t begin = 0;
        Sum slope = 0;
        Wide offset = 0;
    };
    /// A group while the lower value goes up: the piece that it lies in, the first upper value that is
    /// farther than it, and the piece of the one before that.
    struct Group {
        std::size_t piece = 0, last = 0;
        std::size_t farther = 0, piece_before = 0;
        Sum weight = 0;
        std::int64_t rows = 0;
    };
    /// How the line of pairs changes at an upper value; rows and weight are those that go to the lower one.
    struct Change {
        Wide offset = 0;
        Sum slope = 0, weight = 0;
        std::int64_t rows = 0;

        void add(const Change& other) {
            offset += other.offset;
            slope += other.slope;
            weight += other.weight;
            rows += other.rows;
        }
    };
    /// The rows between a value and the one before it.
    struct Step {
        std::size_t begin = 0;
        Sum weight = 0;
        Wide moment = 0;
    };

    Sum distance(Sum number, std::size_t place) const {
        return number < values_[place] ? values_[place] - number : number - values_[place];
    }
    Wide deviation(const Piece& piece, std::size_t place) const {
        return static_cast<Wide>(piece.slope) * values_[place] + piece.offset;
    }
    /// Σ w·|y − v| of a group is v·(2·W(v) − W) + M − 2·M(v), where W(v) and M(v) are the weight and the
    /// moment of its rows up to v, and W and M those of all.
    void add_pieces(std::span<const WeightAt> group) {
        steps_.clear();
        Group added;
        Wide moment = 0;
        for (const auto& [number, weight] : group) {
            const auto place = std::lower_bound(values_.begin(), values_.end(), number) - values_.begin();
            const Wide own = static_cast<Wide>(weight) * number;
            steps_.push_back({static_cast<std::size_t>(place), weight, own});
            added.weight += weight;
            moment += own;
        }
        std::sort(steps_.begin(), steps_.end(),
                  [](const Step& one, const Step& other) { return one.begin < other.begin; });
        added.piece = pieces_.size();
        pieces_.push_back({0, -added.weight, moment});
        for (const auto& step : steps_) {
            if (step.begin > pieces_.back().begin)
                pieces_.push_back({step.begin, pieces_.back().slope, pieces_.back().offset});
            pieces_.back().slope += 2 * step.weight;
            pieces_.back().offset -= 2 * step.moment;
        }
        added.last = added.piece_before = pieces_.size() - 1;
        added.farther = values_.size();
        added.rows = static_cast<std::int64_t>(group.size());
        groups_.push_back(added);
        all_rows_ += added.rows;
        all_weight_ += added.weight;
    }
    void add_block() {
        for (std::size_t low = 0; low + 1 < values_.size(); ++low)
            for (auto& group : groups_) add_pairs(group, low, changes_.data() + low * values_.size());
        groups_.clear();
        pieces_.clear();
    }
    /// What a group adds to the pairs of one lower value.
    void add_pairs(Group& group, std::size_t low, Change* line) const {
        const auto begin_after = [&](std::size_t piece) {
            return piece < group.last ? pieces_[piece + 1].begin : values_.size();
        };
        while (begin_after(group.piece) <= low) ++group.piece;
        const Wide from_low = deviation(pieces_[group.piece], low);
        for (; group.farther > low + 1; --group.farther) {
            while (pieces_[group.piece_before].begin >= group.farther) --group.piece_before;
            if (deviation(pieces_[group.piece_before], group.farther - 1) <= from_low) break;
        }
        group.farther = std::max(group.farther, low + 1);
        Piece before;
        std::size_t piece = group.piece;
        for (std::size_t at = low + 1; at < group.farther; at = std::min(begin_after(piece), group.farther)) {
            while (begin_after(piece) <= at) ++piece;
            line[at].slope += pieces_[piece].slope - before.slope;
            line[at].offset += pieces_[piece].offset - before.offset;
            before = pieces_[piece];
        }
        if (group.farther == values_.size()) return;
        Change& change = line[group.farther];
        change.slope -= before.slope;
        change.offset += from_low - before.offset;
        change.rows += group.rows;
        change.weight += group.weight;
    }

    std::vector<Sum> values_;
    std::vector<Change> changes_;  // for each lower value a line of upper ones
    std::vector<double> costs_;    // the same
    std::vector<Step> steps_;      // of the group at hand
    std::vector<Piece> pieces_;    // of the groups of this block
    std::vector<Group> groups_;
    Sum all_weight_ = 0;
    std::int64_t all_rows_ = 0;
};

}  // namespace treewright
