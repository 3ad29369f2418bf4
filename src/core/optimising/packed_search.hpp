// Tables of 0/1 views: rows as bits, sixty-four to a word, counted by population counts.
#pragma once

#include <memory>
#include <vector>

#include "optimising/search.hpp"

namespace treewright::optimising {

/// Whether all views have two codes, rows are classes of small weights, and the processor counts bits.
bool is_packable(const Table& table, std::size_t min_rows);

/// The best tree of a depth of at least two that is better than `first`, if there is one; with no limit of
/// leaves. `root_bounds` are what trees that test each view first cannot beat.
class PackedSearch {
  public:
    PackedSearch(const Table& table, int depth, Loss leaf_price, Budget& budget, FoundTree first,
                 std::vector<Loss> root_bounds);
    /// Tries the next view as the first one; whether there is one more.
    bool step();
    Facts facts() const;
    const FoundTree& tree() const { return best_; }

  private:
    struct Engine;
    std::shared_ptr<Engine> engine_;
    FoundTree best_;
    std::vector<Loss> root_bounds_;
    std::vector<std::size_t> order_;
    int depth_;
    std::size_t next_ = 0;
};

}  // namespace treewright::optimising
