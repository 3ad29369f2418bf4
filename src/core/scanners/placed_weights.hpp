// What scanners with weights share: the weights of a subtree's rows, on the grid of the node that is entered.
#pragma once

#include <span>
#include <vector>

#include "data/grids.hpp"
#include "data/problem.hpp"

namespace treewright {

template <class Id>
class PlacedWeights {
  protected:
    explicit PlacedWeights(const Problem& problem) : problem_(problem) {}

    void load(std::span<const Row> rows) {
        rows_ = rows;
        weight_.assign(rows.size(), 1);
        are_placed_ = false;
    }
    void enter(std::span<const Id> ids, Grids& grids) {
        place_weights(
            problem_, ids, [&](Id id) { return rows_[id]; }, grids.weight, are_placed_,
            [&](Id id) -> Sum& { return weight_[id]; });
        are_placed_ = true;
        grid_ = grids.weight;
    }

    const Problem& problem_;
    std::span<const Row> rows_;
    Grid grid_;
    std::vector<Sum> weight_;  // by id, on the grid

  private:
    bool are_placed_ = false;
};

}  // namespace treewright
