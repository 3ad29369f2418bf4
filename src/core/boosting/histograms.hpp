// Histograms of a node: the sums of its rows in each cell of each column.
#pragma once

#include <algorithm>
#include <cstring>

#include "boosting/cells.hpp"
#include "boosting/sums.hpp"
#include "support/portable.hpp"

namespace treewright::boosting {

constexpr std::size_t group_size =
    8;  // columns that are added up together: their sums stay in the nearest cache

constexpr std::size_t block_size = 1024;  // rows that are still in cache when the next group of columns comes

/// Adds some rows to the histograms of N neighbouring columns; the entries are in the order of the rows.
template <std::size_t N, class Entry>
void add_rows(const std::uint8_t* cells, std::size_t stride, const Entry* entries, const Row* rows,
              std::size_t n_rows, Entry* const* histograms) {
    Entry* of[N];
    for (std::size_t k = 0; k < N; ++k) of[k] = histograms[k];
    for (std::size_t i = 0; i < n_rows; ++i) {
        prefetch(cells + rows[std::min(i + 24, n_rows - 1)] * stride);
        const Entry entry = entries[i];
        std::uint8_t cell[N];
        std::memcpy(cell, cells + rows[i] * stride, N);
        for (std::size_t k = 0; k < N; ++k) of[k][cell[k]] += entry;
    }
}

/// Adds some rows to the histograms of the columns [first, first + n), n <= group_size.
template <class Entry>
void add_group(const Cells& cells, std::size_t first, std::size_t n, const Entry* entries, const Row* rows,
               std::size_t n_rows, Entry* histogram) {
    Entry* of[group_size];
    for (std::size_t k = 0; k < n; ++k) of[k] = histogram + cells.start[first + k];
    const std::uint8_t* const base = cells.by_row.data() + first;
    const std::size_t stride = cells.columns.size();
    switch (n) {
        case 1:
            return add_rows<1>(base, stride, entries, rows, n_rows, of);
        case 2:
            return add_rows<2>(base, stride, entries, rows, n_rows, of);
        case 3:
            return add_rows<3>(base, stride, entries, rows, n_rows, of);
        case 4:
            return add_rows<4>(base, stride, entries, rows, n_rows, of);
        case 5:
            return add_rows<5>(base, stride, entries, rows, n_rows, of);
        case 6:
            return add_rows<6>(base, stride, entries, rows, n_rows, of);
        case 7:
            return add_rows<7>(base, stride, entries, rows, n_rows, of);
        default:
            return add_rows<8>(base, stride, entries, rows, n_rows, of);
    }
}

/// Adds rows to the histograms of the columns [first, last), block by block; `entries` are in their order.
template <class Entry>
void add_columns(const Cells& cells, std::size_t first, std::size_t last, const Entry* entries,
                 const Row* rows, std::size_t n_rows, Entry* histogram) {
    for (std::size_t begin = 0; begin < n_rows; begin += block_size) {
        const std::size_t n = std::min(block_size, n_rows - begin);
        for (std::size_t column = first; column < last; column += group_size)
            add_group(cells, column, std::min(group_size, last - column), entries + begin, rows + begin, n,
                      histogram);
    }
}

}  // namespace treewright::boosting
