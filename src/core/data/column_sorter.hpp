// Sorting the rows of a small table by one column: local ids in order, and each id's rank.
//
// A row's key is a prefix that orders as the values do, above the row's id: its rank where the column has
// ranks, its fine bin where it has bins, its category's code, or the first bits of its value. Sorting whole
// numbers is fast; where a prefix is not the whole truth, the few rows that share it are put in order by
// their values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "data/columns.hpp"
#include "data/radix_sort.hpp"

namespace treewright {

template <class Id>
constexpr Id missing_rank = std::numeric_limits<Id>::max();

struct SortedColumn {
    bool is_constant = false;
    bool has_missing = false;
    std::size_t n_distinct = 0;  // values, where they have been counted; or 0
};

template <class Id>
class ColumnSorter {
  public:
    /// `list` becomes these ids, given in ascending order, in the order of their values, missing ones last;
    /// `rank` orders the ids as their values do. `rows` has the row of each id.
    template <class Ids>
    SortedColumn sort(const Column& column, std::span<const Row> rows, const Ids& ids, Id* list, Id* rank) {
        if constexpr (std::is_same_v<Id, Rank>)
            if (column.ranks) return by_rank(column, rows, ids, list, rank);
        if (column.fine_bins) return by_fine_bin(column, rows, ids, list, rank);
        return by_value(column, rows, ids, list, rank);
    }

  private:
    static constexpr unsigned id_bits = 8 * sizeof(Id);
    using FineKey = std::conditional_t<id_bits == 16, std::uint32_t, std::uint64_t>;
    template <class Key>
    static Id id_of(Key key) {
        return static_cast<Id>(key);
    }

    template <class Ids>
    SortedColumn by_rank(const Column& column, std::span<const Row> rows, const Ids& ids, Id* list,
                         Id* rank) {
        const std::size_t n = ids.size();
        sort_fine(rows, ids, [&](Row row) { return column.ranks[row]; });
        std::size_t n_known = n;
        for (std::size_t i = 0; i < n; ++i) {
            list[i] = id_of(fine_[i]);
            rank[list[i]] = static_cast<Id>(fine_[i] >> id_bits);
        }
        while (n_known > 0 && rank[list[n_known - 1]] == missing_rank<Id>) --n_known;
        return {n_known == 0 || (n_known == n && rank[list[0]] == rank[list[n - 1]]), n_known < n};
    }

    template <class Ids>
    SortedColumn by_fine_bin(const Column& column, std::span<const Row> rows, const Ids& ids, Id* list,
                             Id* rank) {
        const std::size_t n = ids.size();
        const std::size_t n_missing = sort_fine(rows, ids, [&](Row row) { return column.fine_bin(row); });
        for (std::size_t i = n - n_missing; i < n; ++i) list[i] = id_of(fine_[i]);
        return finish(column, rows, fine_, n, n - n_missing, list, rank,
                      [&](FineKey prefix) { return column.is_category() || !column.is_mixed[prefix >> 8]; });
    }

    /// Sorts two bytes per row, above its id; returns how many rows have the highest first byte.
    template <class Ids, class Prefix>
    std::size_t sort_fine(std::span<const Row> rows, const Ids& ids, Prefix prefix) {
        const std::size_t n = ids.size();
        fine_.resize(n);
        constexpr std::size_t worth_counting = 48;
        if (n < worth_counting) {
            std::size_t n_last = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint16_t first = prefix(rows[ids[i]]);
                fine_[i] = static_cast<FineKey>(first) << id_bits | static_cast<FineKey>(ids[i]);
                n_last += first >> 8 == missing_bin;
            }
            std::sort(fine_.begin(), fine_.end());
            return n_last;
        }
        std::array<std::uint32_t, 256> n_high{}, n_low{};
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint16_t first = prefix(rows[ids[i]]);
            fine_[i] = static_cast<FineKey>(first) << id_bits | static_cast<FineKey>(ids[i]);
            ++n_high[first >> 8];
            ++n_low[first & 0xff];
        }
        fine_spare_.resize(n);
        const auto sort_by = [&](const auto& counts, unsigned shift) {
            if (counts[static_cast<std::uint8_t>(fine_[0] >> shift)] == n) return;  // equal in all rows
            distribute(fine_, fine_spare_, counts, shift);
            fine_.swap(fine_spare_);
        };
        sort_by(n_low, id_bits);
        sort_by(n_high, id_bits + 8);
        return n_high[missing_bin];
    }
    /// One stable pass of a counting sort.
    static void distribute(const std::vector<FineKey>& from, std::vector<FineKey>& to,
                           const std::array<std::uint32_t, 256>& counts, unsigned shift) {
        std::array<std::uint32_t, 256> start;
        std::exclusive_scan(counts.begin(), counts.end(), start.begin(), std::uint32_t{0});
        for (const FineKey key : from) to[start[static_cast<std::uint8_t>(key >> shift)]++] = key;
    }

    template <class Ids>
    SortedColumn by_value(const Column& column, std::span<const Row> rows, const Ids& ids, Id* list,
                          Id* rank) {
        whole_.clear();
        missing_.clear();
        const auto note = [&](std::size_t id, bool is_known, std::uint64_t prefix) {
            if (is_known)
                whole_.push_back(prefix << id_bits | id);
            else
                missing_.push_back(static_cast<Id>(id));
        };
        if (column.is_category())
            for (const std::size_t id : ids) {
                const auto code = column.code(rows[id]);
                note(id, code >= 0, static_cast<std::uint64_t>(code));
            }
        else
            with_values(column, [&](auto value) {
                for (const std::size_t id : ids) {
                    const double v = value(rows[id]);
                    note(id, !std::isnan(v), order_key(v) >> id_bits);
                }
            });
        const std::size_t n_known = whole_.size();
        if (n_known < worth_counting_bits)
            std::sort(whole_.begin(), whole_.end());
        else
            sort_by_bits(whole_, whole_spare_, id_bits);  // ids ascend already
        std::copy(missing_.begin(), missing_.end(), list + n_known);
        return finish(column, rows, whole_, ids.size(), n_known, list, rank,
                      [&](std::uint64_t) { return column.is_category(); });
    }

    /// Lists and ranks of the known rows, from their sorted keys. `is_exact(prefix)`: rows that share it have
    /// the same value.
    template <class Key, class IsExact>
    SortedColumn finish(const Column& column, std::span<const Row> rows, const std::vector<Key>& keys,
                        std::size_t n, std::size_t n_known, Id* list, Id* rank, IsExact is_exact) {
        std::size_t n_distinct = 0;
        for (std::size_t begin = 0, end; begin < n_known; begin = end) {
            const Key prefix = keys[begin] >> id_bits;
            for (end = begin + 1; end < n_known && keys[end] >> id_bits == prefix;) ++end;
            if (end - begin > 1 && !is_exact(prefix)) {
                n_distinct = by_value_alone(column, rows, std::span(keys).subspan(begin, end - begin),
                                            list + begin, rank, n_distinct);
                continue;
            }
            for (std::size_t i = begin; i < end; ++i) {
                list[i] = id_of(keys[i]);
                rank[list[i]] = static_cast<Id>(n_distinct);
            }
            ++n_distinct;
        }
        for (std::size_t i = n_known; i < n; ++i) rank[list[i]] = missing_rank<Id>;
        return {n_known == 0 || (n_distinct == 1 && n_known == n), n_known < n, n_distinct};
    }
    template <class Key>
    std::size_t by_value_alone(const Column& column, std::span<const Row> rows, std::span<const Key> keys,
                               Id* list, Id* rank, std::size_t n_distinct) {
        entries_.clear();
        for (const Key key : keys)
            entries_.emplace_back(order_key(column.value(rows[id_of(key)])), id_of(key));
        std::sort(entries_.begin(), entries_.end());
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (i > 0 && entries_[i].first != entries_[i - 1].first) ++n_distinct;
            list[i] = entries_[i].second;
            rank[list[i]] = static_cast<Id>(n_distinct);
        }
        return n_distinct + 1;
    }

    std::vector<FineKey> fine_, fine_spare_;
    std::vector<std::uint64_t> whole_, whole_spare_;
    std::vector<Id> missing_;
    std::vector<std::pair<std::uint64_t, Id>>
        entries_;  // (value, id) of rows that only their values can order
};

}  // namespace treewright
