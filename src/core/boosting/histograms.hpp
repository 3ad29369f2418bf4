// Histograms of a node: the sums of its rows in each cell of each column.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "boosting/cells.hpp"
#include "boosting/sums.hpp"

namespace treewright::boosting {

constexpr std::size_t group_size =
    8;  // columns that are added up together: their sums stay in the nearest cache

/// Adds some rows to the histograms of N neighbouring columns.
template <std::size_t N, class Entry>
void add_rows(const std::uint8_t* cells, std::size_t stride, const Entry* entries, const Row* rows,
              std::size_t n_rows, Entry* const* histograms) {
    Entry* of[N];
    for (std::size_t k = 0; k < N; ++k) of[k] = histograms[k];
    constexpr std::size_t ahead = 24;
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (i + ahead < n_rows) {
            __builtin_prefetch(cells + rows[i + ahead] * stride);
            __builtin_prefetch(entries + rows[i + ahead]);
        }
        const Entry entry = entries[rows[i]];
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
    switch (n) {
        case 1:
            return add_rows<1>(base, cells.stride, entries, rows, n_rows, of);
        case 2:
            return add_rows<2>(base, cells.stride, entries, rows, n_rows, of);
        case 3:
            return add_rows<3>(base, cells.stride, entries, rows, n_rows, of);
        case 4:
            return add_rows<4>(base, cells.stride, entries, rows, n_rows, of);
        case 5:
            return add_rows<5>(base, cells.stride, entries, rows, n_rows, of);
        case 6:
            return add_rows<6>(base, cells.stride, entries, rows, n_rows, of);
        case 7:
            return add_rows<7>(base, cells.stride, entries, rows, n_rows, of);
        default:
            return add_rows<8>(base, cells.stride, entries, rows, n_rows, of);
    }
}

/// The histogram of some rows; many of them by all threads, each with columns of its own.
template <class Entry>
void build(const Cells& cells, const Entry* entries, const Row* rows, std::size_t n_rows, Entry* histogram,
           Pool& pool, Interrupt& interrupt) {
    constexpr std::size_t block = 1024;  // rows that are still in cache when the next group of columns comes
    constexpr std::size_t worth_threads = 1 << 17;
    const std::size_t n_columns = cells.columns.size();
    std::fill(histogram, histogram + cells.histogram_size(), Entry{});
    if (pool.size() > 1 && n_rows * n_columns > worth_threads) {
        constexpr std::size_t share = group_size / 2;
        pool.run((n_columns + share - 1) / share, [&](std::size_t task, std::size_t) {
            interrupt.check();
            const std::size_t first = task * share;
            add_group(cells, first, std::min(share, n_columns - first), entries, rows, n_rows, histogram);
        });
        return;
    }
    for (std::size_t begin = 0; begin < n_rows; begin += block) {
        interrupt.check();
        const std::size_t n = std::min(block, n_rows - begin);
        for (std::size_t first = 0; first < n_columns; first += group_size)
            add_group(cells, first, std::min(group_size, n_columns - first), entries, rows + begin, n,
                      histogram);
    }
}

/// What is left of a node without one of its children.
template <class Entry>
void subtract(Entry* node, const Entry* child, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) node[i] -= child[i];
}

}  // namespace treewright::boosting
