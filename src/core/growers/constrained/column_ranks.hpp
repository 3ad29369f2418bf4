// The rows of a node in the order of a column, by ranks that are made once for the table.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "growers/constrained/cut.hpp"

namespace treewright::constrained {

constexpr std::uint32_t missing_rank = std::numeric_limits<std::uint32_t>::max();

/// Ranks of all columns, with the values behind them if they are wanted.
std::vector<Ranks> rank_columns(const Problem& problem, bool with_values, Pool& pool);

class Sorter {
  public:
    /// `list` becomes the ids of the rows in the order of their values, equal ones as they come, and those
    /// without a value last. Returns how many have one.
    std::size_t sort(const Ranks& ranks, std::span<const Row> rows, std::vector<Id>& list) {
        keys_.clear();
        list.resize(rows.size());
        std::size_t n_missing = 0;
        for (std::size_t id = 0; id < rows.size(); ++id) {
            const std::uint32_t rank = ranks.of_row[rows[id]];
            if (rank == missing_rank)
                list[n_missing++] = static_cast<Id>(id);  // moved to the end below
            else
                keys_.push_back(static_cast<std::uint64_t>(rank) << 32 | id);
        }
        const std::size_t n_known = keys_.size();
        std::copy_backward(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(n_missing), list.end());
        sort_keys(ranks.n_distinct);
        for (std::size_t i = 0; i < n_known; ++i) list[i] = static_cast<Id>(keys_[i]);
        return n_known;
    }

  private:
    /// Ids ascend already: counting by rank alone keeps them in order.
    void sort_keys(std::uint32_t n_distinct) {
        constexpr std::size_t worth_counting = 2048;
        if (keys_.size() < worth_counting) return std::sort(keys_.begin(), keys_.end());
        constexpr unsigned digit = 11;
        const auto bits = static_cast<unsigned>(std::bit_width(n_distinct));
        for (unsigned shift = 32; shift < 32 + bits; shift += digit) {
            std::array<std::uint32_t, std::size_t{1} << digit> start{};
            const auto place = [&](std::uint64_t key) { return (key >> shift) & (start.size() - 1); };
            for (const auto key : keys_) ++start[place(key)];
            std::uint32_t before = 0;
            for (auto& each : start) before += std::exchange(each, before);
            spare_.resize(keys_.size());
            for (const auto key : keys_) spare_[start[place(key)]++] = key;
            keys_.swap(spare_);
        }
    }

    std::vector<std::uint64_t> keys_, spare_;
};

}  // namespace treewright::constrained
