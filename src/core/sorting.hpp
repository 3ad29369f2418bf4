// Sorting the rows of a small table by one column: local ids in order, and each id's rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "columns.hpp"

namespace treewright {

template <class Id>
constexpr Id missing_rank = std::numeric_limits<Id>::max();

struct SortingSpace {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> buckets;
};

struct SortedColumn {
    bool is_constant = false;
    bool has_missing = false;
};

/// Fills `space.keys` with (key, id) of the known rows, and the end of `list` with the missing ones.
template <class Id>
std::size_t gather_keys(const Column& column, std::span<const Row> rows, Id* list, SortingSpace& space) {
    space.keys.clear();
    std::size_t n_missing = 0;
    const auto note = [&](std::size_t id, bool is_known, std::uint64_t key) {
        if (is_known)
            space.keys.emplace_back(key, static_cast<std::uint32_t>(id));
        else
            list[rows.size() - ++n_missing] = static_cast<Id>(id);
    };
    if (column.is_category())
        for (std::size_t id = 0; id < rows.size(); ++id) {
            const auto code = column.code(rows[id]);
            note(id, code >= 0, static_cast<std::uint64_t>(code));
        }
    else
        with_values(column, [&](auto value) {
            for (std::size_t id = 0; id < rows.size(); ++id) {
                const double v = value(rows[id]);
                note(id, !std::isnan(v), order_key(v));
            }
        });
    std::reverse(list + rows.size() - n_missing, list + rows.size());
    return n_missing;
}

/// Sorts by bin first (a counting sort), then inside each bin: the bins of the encoding make the
/// buckets small and even.
inline void sort_keys(const Column& column, std::span<const Row> rows, SortingSpace& space) {
    constexpr std::size_t worth_bins = 256;
    auto& keys = space.keys;
    if (!column.bins || keys.size() < worth_bins) {
        std::sort(keys.begin(), keys.end());
        return;
    }
    std::uint32_t start[257] = {};
    for (const auto& [key, id] : keys) ++start[column.bins[rows[id]] + 1];
    std::partial_sum(start, start + 257, start);
    space.buckets.resize(keys.size());
    for (const auto& entry : keys) space.buckets[start[column.bins[rows[entry.second]]]++] = entry;
    std::size_t begin = 0;
    for (int bin = 0; bin < 256; ++bin) {
        const std::size_t end = start[bin];
        if (end - begin > 1 && column.is_mixed[bin])
            std::sort(space.buckets.begin() + static_cast<std::ptrdiff_t>(begin),
                      space.buckets.begin() + static_cast<std::ptrdiff_t>(end));
        begin = end;
    }
    keys.swap(space.buckets);
}

template <class Id>
SortedColumn sort_rows_by(const Column& column, std::span<const Row> rows, Id* list, Id* rank,
                          SortingSpace& space) {
    const std::size_t n_missing = gather_keys(column, rows, list, space);
    sort_keys(column, rows, space);
    Id current = 0;
    for (std::size_t i = 0; i < space.keys.size(); ++i) {
        if (i > 0 && space.keys[i].first != space.keys[i - 1].first) ++current;
        list[i] = static_cast<Id>(space.keys[i].second);
        rank[list[i]] = current;
    }
    for (std::size_t i = space.keys.size(); i < rows.size(); ++i) rank[list[i]] = missing_rank<Id>;
    return {current == 0 && (n_missing == 0 || space.keys.empty()), n_missing > 0};
}

}  // namespace treewright
