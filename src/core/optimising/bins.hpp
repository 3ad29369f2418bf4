// The rows of a node in coarse bins of about equal mass. Every class has as much of it as any other; of
// numbers, half of it are the rows and half the squares.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimising/rows.hpp"

namespace treewright::optimising {

class Bins {
  public:
    static constexpr std::size_t lanes = 8;  // views are padded to a multiple

    void make(const Table& table, const NodeRows& rows);

    std::size_t stride() const { return stride_; }
    std::size_t n_bins() const { return n_bins_; }  // the most of any view
    /// The bins of a row, one byte a view.
    const std::uint8_t* of_row(std::size_t row) const { return bytes_.data() + row * stride_; }
    /// How many rows of a view's list lie before each of its bins, and in the end all of them.
    std::span<const std::uint32_t> starts(std::size_t view) const { return starts_[view]; }
    /// Whether a bin holds several codes and so can hide a cut.
    bool is_mixed(std::size_t view, std::size_t bin) const { return is_mixed_[bin * stride_ + view] != 0; }

  private:
    void weigh(const Table& table, const NodeRows& rows);

    std::size_t stride_ = 0, n_bins_ = 0;
    std::vector<std::uint8_t> bytes_, is_mixed_;
    std::vector<std::vector<std::uint32_t>> starts_;
    std::vector<double> mass_, class_mass_;  // by row, by class
};

}  // namespace treewright::optimising
