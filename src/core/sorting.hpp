// Sorting the rows of a small table by one column: local ids in order, and each id's rank.
//
// A row's key is a prefix that orders as the values do, above the row's id: its fine bin where the column has
// bins, its category's code, or the first bits of its value. Sorting whole numbers is fast; where a prefix is
// not the whole truth, the few rows that share it are put in order by their values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "columns.hpp"

namespace treewright {

template <class Id>
constexpr Id missing_rank = std::numeric_limits<Id>::max();

struct SortedColumn {
    bool is_constant = false;
    bool has_missing = false;
};

template <class Id>
class ColumnSorter {
  public:
    /// `list` becomes the ids in the order of their values, missing ones last; `rank` the place of each id's
    /// value among the distinct ones.
    SortedColumn sort(const Column& column, std::span<const Row> rows, Id* list, Id* rank) {
        if (column.fine_bins)
            return by_fine_bin(column, rows, list, rank);
        else
            return by_value(column, rows, list, rank);
    }

  private:
    static constexpr unsigned id_bits = 8 * sizeof(Id);
    using FineKey = std::conditional_t<id_bits == 16, std::uint32_t, std::uint64_t>;
    template <class Key>
    static Id id_of(Key key) {
        return static_cast<Id>(key);
    }

    SortedColumn by_fine_bin(const Column& column, std::span<const Row> rows, Id* list, Id* rank) {
        const std::size_t n = rows.size();
        fine_.resize(n);
        std::array<std::uint32_t, 256> n_bin{}, n_place{};
        for (std::size_t id = 0; id < n; ++id) {
            const FineBin fine = column.fine_bin(rows[id]);
            fine_[id] = static_cast<FineKey>(fine) << id_bits | static_cast<FineKey>(id);
            ++n_bin[static_cast<std::size_t>(bin_of(fine))];
            ++n_place[static_cast<std::size_t>(place_of(fine))];
        }
        constexpr std::size_t worth_counting = 48;
        if (n < worth_counting) {
            std::sort(fine_.begin(), fine_.end());
        } else {
            fine_spare_.resize(n);
            distribute(fine_, fine_spare_, n_place, id_bits);
            distribute(fine_spare_, fine_, n_bin, id_bits + 8);
        }
        const std::size_t n_known = n - n_bin[missing_bin];
        for (std::size_t i = n_known; i < n; ++i) list[i] = id_of(fine_[i]);
        return finish(column, rows, fine_, n_known, list, rank,
                      [&](FineKey prefix) { return column.is_category() || !column.is_mixed[prefix >> 8]; });
    }
    /// One stable pass of a counting sort.
    static void distribute(const std::vector<FineKey>& from, std::vector<FineKey>& to,
                           const std::array<std::uint32_t, 256>& counts, unsigned shift) {
        std::array<std::uint32_t, 256> start;
        std::exclusive_scan(counts.begin(), counts.end(), start.begin(), std::uint32_t{0});
        for (const FineKey key : from) to[start[static_cast<std::uint8_t>(key >> shift)]++] = key;
    }

    SortedColumn by_value(const Column& column, std::span<const Row> rows, Id* list, Id* rank) {
        whole_.clear();
        missing_.clear();
        const auto note = [&](std::size_t id, bool is_known, std::uint64_t prefix) {
            if (is_known)
                whole_.push_back(prefix << id_bits | id);
            else
                missing_.push_back(static_cast<Id>(id));
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
                    note(id, !std::isnan(v), order_key(v) >> id_bits);
                }
            });
        const std::size_t n_known = whole_.size();
        std::sort(whole_.begin(), whole_.end());
        std::copy(missing_.begin(), missing_.end(), list + n_known);
        return finish(column, rows, whole_, n_known, list, rank,
                      [&](std::uint64_t) { return column.is_category(); });
    }

    /// Lists and ranks of the known rows, from their sorted keys. `is_exact(prefix)`: rows that share it have
    /// the same value.
    template <class Key, class IsExact>
    SortedColumn finish(const Column& column, std::span<const Row> rows, const std::vector<Key>& keys,
                        std::size_t n_known, Id* list, Id* rank, IsExact is_exact) {
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
        const std::size_t n = rows.size();
        for (std::size_t i = n_known; i < n; ++i) rank[list[i]] = missing_rank<Id>;
        return {n_known == 0 || (n_distinct == 1 && n_known == n), n_known < n};
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
    std::vector<std::uint64_t> whole_;
    std::vector<Id> missing_;
    std::vector<std::pair<std::uint64_t, Id>>
        entries_;  // (value, id) of rows that only their values can order
};

}  // namespace treewright
