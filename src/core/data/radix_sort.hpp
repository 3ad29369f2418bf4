// Sorting whole numbers by some of their bits, without comparing them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace treewright {

/// Sorts keys by their bits from `first` on, up to 64, as many as matter; those that are equal in them keep
/// their order. `spare` is room to work in.
inline void sort_by_bits(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& spare,
                         unsigned first) {
    constexpr unsigned digit = 11;
    constexpr std::size_t n_digits = std::size_t{1} << digit;
    if (keys.empty()) return;
    std::uint64_t differing = 0;
    for (const auto key : keys) differing |= key ^ keys[0];
    spare.resize(keys.size());
    for (unsigned shift = first; shift < 64; shift += digit) {
        if ((differing >> shift & (n_digits - 1)) == 0) continue;
        std::array<std::uint32_t, n_digits> start{};
        const auto place = [&](std::uint64_t key) { return key >> shift & (n_digits - 1); };
        for (const auto key : keys) ++start[place(key)];
        std::uint32_t before = 0;
        for (auto& each : start) before += std::exchange(each, before);
        for (const auto key : keys) spare[start[place(key)]++] = key;
        keys.swap(spare);
    }
}

/// Fewer keys are sorted faster by comparing them.
constexpr std::size_t worth_counting_bits = 512;

}  // namespace treewright
