// The columns that a node tries: all of them, or some that are drawn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "data/problem.hpp"

namespace treewright {

/// A shuffle that goes only as far as columns are asked for, so that a node that draws 100 of 100,000 columns
/// takes the time of 100. The draws of a node follow from its key alone.
class ColumnDraw {
  public:
    explicit ColumnDraw(const Problem& problem)
        : n_first_(
              problem.limits.max_columns > 0
                  ? std::min(static_cast<std::size_t>(problem.limits.max_columns), problem.columns.size())
                  : problem.columns.size()),
          order_(problem.columns.size()) {
        std::iota(order_.begin(), order_.end(), 0);
    }

    bool draws() const { return n_first_ < order_.size(); }
    std::size_t n_first() const { return n_first_; }

    /// The first columns of a node, in order.
    std::span<const std::int32_t> first(std::uint64_t key) {
        while (!swaps_.empty()) {  // undone, the last one first
            std::swap(order_[swaps_.size() - 1], order_[swaps_.back()]);
            swaps_.pop_back();
        }
        random_ = Random{key};
        return draws() ? draw(n_first_) : std::span<const std::int32_t>(order_);
    }
    /// One more column; none if there is no more.
    std::span<const std::int32_t> next() {
        return draws() && swaps_.size() < order_.size() ? draw(1) : std::span<const std::int32_t>();
    }

  private:
    std::span<const std::int32_t> draw(std::size_t n) {
        batch_.clear();
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t place = swaps_.size();
            swaps_.push_back(place + random_.below(order_.size() - place));
            std::swap(order_[place], order_[swaps_.back()]);
            batch_.push_back(order_[place]);
        }
        std::sort(batch_.begin(), batch_.end());
        return batch_;
    }

    std::size_t n_first_;
    std::vector<std::int32_t> order_, batch_;
    std::vector<std::size_t> swaps_;  // by place: what it was swapped with
    Random random_{0};
};

}  // namespace treewright
