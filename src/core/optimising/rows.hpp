// The rows of a node: numbered anew, with a sorted list for every view.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "optimising/table.hpp"

namespace treewright::optimising {

struct Cell {
    Code code = 0;
    std::uint32_t row = 0;
};

/// Buffers are kept when a node is filled again.
class NodeRows {
  public:
    void load(const Table& table);

    std::size_t size() const { return targets_.size(); }
    std::size_t n_views() const { return n_views_; }
    std::span<const Cell> list(std::size_t view) const { return {cells_.data() + view * size(), size()}; }
    /// The class of a row; of numbers, their place in the table.
    std::int32_t target(std::size_t row) const { return targets_[row]; }
    Loss weight(std::size_t row) const { return weights_.empty() ? 1 : weights_[row]; }
    bool is_weighted() const { return !weights_.empty(); }

    bool is_cut(std::size_t view, std::size_t place) const {
        return list(view)[place - 1].code != list(view)[place].code;
    }
    /// The cut of a view nearest to the middle of two places, both included; 0 if there is none.
    std::size_t middle_cut(std::size_t view, std::size_t low, std::size_t high) const;
    /// How many rows have a code of at most this.
    std::size_t count_to(std::size_t view, Code code) const;

    /// The first rows of a view go to `left`, the others to `right`.
    void divide(std::size_t view, std::size_t n_left, NodeRows& left, NodeRows& right) const;

  private:
    void resize(std::size_t n, std::size_t n_views, bool is_weighted) {
        n_views_ = n_views;
        targets_.resize(n);
        weights_.resize(is_weighted ? n : 0);
        cells_.resize(n * n_views + 1);  // one more than there are: see divide
    }

    std::size_t n_views_ = 0;
    std::vector<std::int32_t> targets_;
    std::vector<Loss> weights_;
    std::vector<Cell> cells_;
    std::vector<std::uint32_t> places_;  // scratch of divide
};

/// What a leaf of all rows loses.
Loss leaf_loss(const Table& table, const NodeRows& rows);

}  // namespace treewright::optimising
