// The best tree of a depth, or how far the best one found may be from it.
#pragma once

#include <cstdint>
#include <vector>

#include "optimising/search.hpp"
#include "optimising/table.hpp"
#include "support/threads.hpp"

namespace treewright::optimising {

/// One moment of a search.
struct Moment {
    double seconds = 0;
    std::int64_t work = 0;
    Loss loss = 0, bound = 0;
};

struct Options {
    int max_depth = 3;
    std::int64_t max_leaves = 0;  // 0: as many as the depth allows
    std::size_t min_rows = 1;     // of a leaf
    Loss leaf_price = 0;
    double seconds = 1e300;
    std::int64_t max_work = -1, max_bytes = -1;  // −1: no limit
    Loss gap = 0;                                // near enough to the bound
    std::vector<std::uint8_t> root_views;        // which views the root may test; empty: all
    Moment* now = nullptr;                       // kept up to date by the calling thread
};

enum class Stopped { proved, gap, time, work, memory, interrupt };

struct Optimum {
    FoundTree tree;
    Loss bound = 0;
    Stopped stopped = Stopped::proved;
    std::vector<Moment> history;
    std::int64_t work = 0;
};

/// `first` is a tree to start from, if it has nodes. The tree is the same for any number of threads, unless
/// time runs out.
Optimum optimise(const Table& table, const Options& options, const FoundTree& first, std::size_t n_threads,
                 Interrupt& interrupt);

}  // namespace treewright::optimising
