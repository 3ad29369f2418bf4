// How few leaves a tree can have that answers like the forest in a box, of any depth or of a limited one.
#pragma once

#include <limits>

#include "born_again/depths.hpp"

namespace treewright::born_again {

class Sizes {
  public:
    /// Depths are asked where there is a limit.
    Sizes(Regions& regions, std::size_t max_bytes, std::int32_t max_depth, Depths* depths = nullptr);

    /// The fewest leaves of a tree for a box; `known` is raised as soon as more is known.
    std::int32_t fewest(Box& box, std::int32_t& known);
    /// The first split of a smallest tree of a region that may be so deep, which must have been found.
    Split split_of(std::uint32_t region, std::int32_t depth);

  private:
    static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max() / 4;

    struct Found {
        std::int32_t least = 0, leaves = none;  // no fewer than `least`; a tree of so many leaves is known
        Split split;
    };
    struct Choice {
        Split split;
        std::int32_t left, right;  // bounds on the leaves of both sides
    };

    std::uint32_t entry(std::uint32_t region, std::int32_t depth);
    /// The fewest leaves if they are at most `budget`, else a number above it that they do not fall short of.
    std::int32_t within(Box& box, std::int32_t depth, std::int32_t budget, std::size_t level);
    /// Every cut of a region with what its sides take at least.
    std::vector<Choice> choices(Box& box, std::int32_t depth, std::size_t level);
    std::int32_t bound(std::uint32_t region, std::int32_t depth);
    std::int32_t side(Box& box, Split split, bool is_left, std::int32_t depth, std::int32_t budget,
                      std::size_t level);
    std::int32_t below(std::int32_t depth) const { return has_limit_ ? depth - 1 : depth; }

    Regions& regions_;
    std::int32_t max_depth_;
    bool has_limit_;
    Depths* depths_;
    Memo<Found> found_;
};

}  // namespace treewright::born_again
