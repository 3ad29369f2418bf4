// How deep a tree must be that answers like the forest in a box.
#pragma once

#include <deque>

#include "born_again/regions.hpp"

namespace treewright::born_again {

/// The regions on both sides of a cut of a box.
std::pair<std::uint32_t, std::uint32_t> halves(Regions& regions, Box& box, Split split, std::size_t level);

class Depths {
  public:
    explicit Depths(Regions& regions) : regions_(regions) {}

    /// The least depth of a tree for a box; `known` is raised as soon as more is known, also if the time
    /// ends.
    std::int32_t least(Box& box, std::int32_t& known);
    /// Whether a tree of at most this depth answers like the forest in the box.
    bool is_within(Box& box, std::int32_t depth, std::size_t level);

  private:
    bool cut_within(Box& box, std::size_t column, std::span<const std::int32_t> cuts, std::int32_t depth,
                    std::size_t level, Split& split);

    struct Place {
        std::vector<std::vector<std::int32_t>> cuts;  // of each column
        std::vector<std::size_t> order;
    };
    Regions& regions_;
    std::deque<Place> places_;
};

}  // namespace treewright::born_again
