// The rows of a bin that is opened, and their order within it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "data/columns.hpp"

namespace treewright {

/// A row of an open bin: its fine bin, its tag, the row itself.
struct PickedRow {
    std::uint64_t key;
    FineBin fine_bin() const { return static_cast<FineBin>(key >> 48); }
    std::uint32_t tag() const { return static_cast<std::uint32_t>(key >> 32) & 0xffff; }
    Row row() const { return static_cast<Row>(key); }
};

/// Puts rows of one bin in the order of their places in it.
inline void sort_by_place(std::span<PickedRow> inside, std::vector<PickedRow>& spare) {
    constexpr std::size_t worth_counting = 128;
    if (inside.size() < worth_counting) {
        std::sort(inside.begin(), inside.end(),
                  [](const PickedRow& a, const PickedRow& b) { return a.key < b.key; });
        return;
    }
    std::array<std::uint32_t, 257> start{};
    for (const auto& each : inside) ++start[static_cast<std::size_t>(place_of(each.fine_bin())) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    spare.assign(inside.begin(), inside.end());
    for (const auto& each : spare)
        inside[start[static_cast<std::size_t>(place_of(each.fine_bin()))]++] = each;
}

}  // namespace treewright
