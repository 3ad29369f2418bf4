// The smallest tree that answers like a forest (after Vidal and Schiffer 2020, "Born-again tree ensembles").
//
// A dynamic program over boxes of cells, known by what the forest looks like in them. Whether a region has a
// tree of depth d is asked for d = 1, 2, …: of the cuts of a column, those further left leave less on the
// left and more on the right, so that one of them is found by halving. The fewest leaves are found by branch
// and bound over all cuts, with the same order for bounds.
#pragma once

#include <string>

#include "born_again/regions.hpp"

namespace treewright::born_again {

enum class Objective { depth, leaves, depth_leaves };

struct Limits {
    Objective objective = Objective::depth;
    double seconds = 60;
    std::size_t max_bytes = std::size_t{1} << 30;
};

/// A tree in preorder: column and cut of each branch; leaves have column -1 and their class in `cut`.
struct Made {
    std::vector<Split> nodes;
    std::int32_t depth = 0, leaves = 0;
};

struct Outcome {
    Made tree;                 // none where not even a large one was found
    bool is_found = false;     // whether there is a tree; it answers like the forest everywhere
    bool is_smallest = false;  // whether no smaller one does
    std::int32_t least_depth = 0, least_leaves = 1;
    bool ran_out_of_memory = false;  // rather than of time
    std::size_t n_regions = 0;
};

Outcome search(const Forest& forest, const Limits& limits, Interrupt& interrupt);

}  // namespace treewright::born_again
