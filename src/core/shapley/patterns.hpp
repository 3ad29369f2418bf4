// How rows answer all tests of a tree at once; rows that answer alike are one pattern.
//
// Whatever depends on a row through the tests alone is computed once for a pattern. A small tree asks little,
// so that a large table has far fewer patterns than rows.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "predicting/tree_view.hpp"
#include "support/threads.hpp"

namespace treewright {

/// One bit for each branch in preorder: whether the row goes left there.
using Pattern = const std::uint64_t*;

inline bool goes_left(Pattern pattern, std::size_t branch) {
    return pattern[branch / 64] >> (branch % 64) & 1;
}

class Patterns {
  public:
    /// Those of the rows from `first` on; `branches` lists the nodes that test something.
    Patterns(const TreeView& tree, std::span<const std::int32_t> branches, const std::vector<Column>& columns,
             std::size_t first, std::size_t n_rows, Pool& pool, Interrupt& interrupt)
        : n_words_((branches.size() + 63) / 64), bits_(n_rows * n_words_), of_row_(n_rows) {
        pool.run((n_rows + 63) / 64, [&](std::size_t task, std::size_t) {
            interrupt.check();
            const std::size_t begin = task * 64;
            ask(tree, branches, columns, first + begin, std::min<std::size_t>(64, n_rows - begin), begin);
        });
        find_equal(interrupt);
    }

    static std::size_t bytes_per_row(std::size_t n_branches) { return 8 * (n_branches / 64 + 1) + 16; }

    /// The number of different patterns.
    std::size_t size() const { return first_row_.size(); }
    Pattern operator[](std::size_t pattern) const { return bits_.data() + first_row_[pattern] * n_words_; }
    /// The pattern of each row.
    std::span<const std::uint32_t> of_row() const { return of_row_; }

  private:
    /// The answers of up to 64 rows to all tests.
    void ask(const TreeView& tree, std::span<const std::int32_t> branches, const std::vector<Column>& columns,
             std::size_t row, std::size_t n, std::size_t place) {
        std::uint64_t square[64];  // at first a word for each of 64 tests, then one for each row
        for (std::size_t word = 0; word < n_words_; ++word) {
            std::memset(square, 0, sizeof square);
            const std::size_t begin = word * 64, end = std::min(branches.size(), begin + 64);
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t node = branches[i];
                const Column& column = columns[tree.feature[node]];
                const auto gather = [&](auto&& value) {
                    std::uint64_t all = 0;
                    for (std::size_t r = 0; r < n; ++r)
                        all |= static_cast<std::uint64_t>(tree.goes_left(node, value(row + r))) << r;
                    return all;
                };
                square[i - begin] = tree.subset[node] < 0
                                        ? with_values(column, gather)
                                        : gather([&](std::size_t at) { return column.code(at); });
            }
            transpose(square);
            for (std::size_t r = 0; r < n; ++r) bits_[(place + r) * n_words_ + word] = square[r];
        }
    }

    /// Mirrors 64 words of 64 bits: ever smaller blocks beside the diagonal change places.
    static void transpose(std::uint64_t* square) {
        std::uint64_t mask = 0x00000000ffffffff;
        for (unsigned width = 32; width > 0; width /= 2, mask ^= mask << width)
            for (unsigned i = 0; i < 64; i = ((i | width) + 1) & ~width) {
                const std::uint64_t change = ((square[i] >> width) ^ square[i | width]) & mask;
                square[i] ^= change << width;
                square[i | width] ^= change;
            }
    }

    /// A table of hashes with open places; patterns are numbered in the order of their first rows.
    void find_equal(Interrupt& interrupt) {
        const std::size_t n_rows = of_row_.size(), bytes = n_words_ * sizeof(std::uint64_t);
        const std::size_t mask = std::bit_ceil(2 * n_rows + 1) - 1;
        constexpr std::uint32_t empty = 0xffffffff;
        std::vector<std::uint32_t> table(mask + 1, empty);
        for (std::size_t row = 0; row < n_rows; ++row) {
            if (row % 4096 == 0) interrupt.check();
            Pattern own = bits_.data() + row * n_words_;
            std::uint64_t hash = 0;
            for (std::size_t word = 0; word < n_words_; ++word) {
                hash = (hash ^ own[word]) * 0x9e3779b97f4a7c15;
                hash ^= hash >> 29;
            }
            std::size_t place = hash & mask;
            while (table[place] != empty && std::memcmp(own, (*this)[table[place]], bytes) != 0)
                place = (place + 1) & mask;
            if (table[place] == empty) {
                table[place] = static_cast<std::uint32_t>(first_row_.size());
                first_row_.push_back(static_cast<std::uint32_t>(row));
            }
            of_row_[row] = table[place];
        }
    }

    std::size_t n_words_;
    std::vector<std::uint64_t> bits_;
    std::vector<std::uint32_t> of_row_, first_row_;
};

}  // namespace treewright
