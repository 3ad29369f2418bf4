// Regions: boxes known by what the forest answers in them, with bounds on the trees that answer alike.
#pragma once

#include <chrono>
#include <deque>

#include "born_again/forest.hpp"
#include "born_again/memo.hpp"
#include "support/threads.hpp"

namespace treewright::born_again {

/// The time is over.
struct OutOfTime : std::runtime_error {
    OutOfTime() : std::runtime_error("the search needs more time than it may take") {}
};

struct Split {
    std::int32_t column = -1, cut = -1;
};

/// What is known of a region: the one answer in it, or that there are several; and how deep and how large the
/// smallest tree is that answers alike.
struct Region {
    static constexpr std::int32_t several = -1, unknown = -2;
    static constexpr std::int32_t any_depth = 1 << 20;

    std::int32_t answer = unknown;
    std::int32_t least_depth = 0, depth = any_depth;  // it is at least so deep, and a tree so deep is known
    std::int32_t least_leaves = 1;
    Split split;  // the first of the tree that is known
};

class Regions {
  public:
    Regions(const Forest& forest, std::size_t max_bytes, double seconds, Interrupt& interrupt);

    /// The region of a box, in which it is known whether there are several answers. What the forest looks
    /// like in it is kept for the level until the next call with it or a lower one.
    std::uint32_t enter(const Box& box, std::size_t level);
    Region& operator[](std::uint32_t region) { return memo_[region]; }
    const View& view(std::size_t level) const { return views_[level].view; }
    const Forest& forest() const { return forest_; }
    std::size_t size() const { return memo_.size(); }

    /// Throws where the time is over or the user wants to stop.
    void check();
    /// Lets no search go on for longer than so many seconds from now on.
    void stop_after(double seconds);
    std::size_t max_bytes() const { return max_bytes_; }

  private:
    using Clock = std::chrono::steady_clock;

    struct Place {
        View view;
        Box box;
        std::vector<std::int32_t> cell, cuts;
    };

    Region classified(std::size_t level);
    Region divided(std::size_t level, std::int32_t seen);
    /// Follows the axes through a cell; false where all answers on them are the same.
    bool scan(Place& place, std::int32_t seen, Region& region, std::vector<std::int32_t>& other);

    const Forest& forest_;
    std::size_t max_bytes_;
    Memo<Region> memo_;
    std::deque<Place> views_;
    std::vector<double> sums_;
    Interrupt& interrupt_;
    double seconds_;
    Clock::time_point begin_, deadline_;
    std::size_t asked_ = 0, told_ = 0;
};

}  // namespace treewright::born_again
