// Sums over a tree in preorder, from the leaves to the root: a branch's statistic is that of its two children
// taken together.
//
// Where classes are many, rows are compressed: the columns that are not zero, ascending, and their values.
// Only the leaves of a tree hold such rows, so that they take no more room than the training rows; a branch's
// row is made on the way and forgotten. Sums are taken in the order of the tree: the bits are those of a
// table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "criteria/criterion.hpp"
#include "support/threads.hpp"
#include "tree/shape.hpp"

namespace treewright {

/// One compressed row.
struct SparseRow {
    std::span<const std::int32_t> column;
    std::span<const double> value;

    /// The part within the columns [begin, end).
    SparseRow between(std::int32_t begin, std::int32_t end) const {
        const auto first = std::lower_bound(column.begin(), column.end(), begin) - column.begin();
        const auto last = std::lower_bound(column.begin() + first, column.end(), end) - column.begin();
        const std::size_t from = first, n = last - first;
        return {column.subspan(from, n), value.subspan(from, n)};
    }
    double at(std::int32_t wanted) const {
        const auto place = std::lower_bound(column.begin(), column.end(), wanted);
        return place != column.end() && *place == wanted ? value[place - column.begin()] : 0.0;
    }
};

/// Compressed rows, one after the other: row i is [start[i], start[i + 1]).
struct SparseRows {
    std::span<const std::int64_t> start;
    std::span<const std::int32_t> column;
    std::span<const double> value;

    SparseRow operator[](std::size_t i) const {
        const std::size_t from = start[i], n = start[i + 1] - from;
        return {column.subspan(from, n), value.subspan(from, n)};
    }
};

/// The same with an owner.
struct OwnedRows {
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> column;
    std::vector<double> value;

    void add(const SparseRow& row) {
        column.insert(column.end(), row.column.begin(), row.column.end());
        value.insert(value.end(), row.value.begin(), row.value.end());
        start.push_back(std::ssize(column));
    }
    SparseRows view() const { return {start, column, value}; }
};

/// Rows that wait for their sibling while a tree is walked backwards.
class RowStack {
  public:
    void push(const SparseRow& row) { rows_.add(row); }
    /// Replaces the two rows on top by their sum. The smaller one is set aside and its cells are put among
    /// those of the larger: of a long chain of nodes most cells only move.
    void join() {
        const std::size_t n = rows_.start.size() - 1;
        if (n < 2) throw std::invalid_argument("`end` is not the shape of a tree");
        const std::int64_t first = rows_.start[n - 2], second = rows_.start[n - 1], last = rows_.start[n];
        const bool second_is_small = last - second <= second - first;
        set_aside(second_is_small ? second : first, second_is_small ? last : second);
        if (!second_is_small) shift(second, last, first - second);
        std::int64_t end = std::max(second - first, last - second) + first;  // of the larger row
        std::int64_t n_new = 0;
        for (const auto column : column_) n_new += !std::binary_search(at(first), at(end), column);
        rows_.start.resize(n);
        rows_.start.back() = end + n_new;
        rows_.column.resize(end + n_new);
        rows_.value.resize(end + n_new);
        for (std::size_t i = column_.size(); i-- > 0;) {
            const std::int64_t place = std::lower_bound(at(first), at(end), column_[i]) - at(0);
            const bool is_known = place < end && *at(place) == column_[i];
            shift(place, end, n_new);
            if (is_known) {
                rows_.value[place + n_new] += value_[i];
            } else {
                --n_new;
                rows_.column[place + n_new] = column_[i];
                rows_.value[place + n_new] = value_[i];
            }
            end = place;
        }
    }
    SparseRow top() const { return rows_.view()[rows_.start.size() - 2]; }

  private:
    std::vector<std::int32_t>::iterator at(std::int64_t cell) { return rows_.column.begin() + cell; }
    void set_aside(std::int64_t begin, std::int64_t end) {
        column_.assign(at(begin), at(end));
        value_.assign(rows_.value.begin() + begin, rows_.value.begin() + end);
    }
    /// Moves cells to the right or, by a negative distance, to the left.
    void shift(std::int64_t begin, std::int64_t end, std::int64_t distance) {
        if (distance == 0 || begin == end) return;
        const auto move = [&](auto cells) {
            const std::size_t n = (end - begin) * sizeof(*cells);
            std::memmove(cells + begin + distance, cells + begin, n);
        };
        move(rows_.column.data());
        move(rows_.value.data());
    }

    OwnedRows rows_;
    std::vector<std::int32_t> column_;  // of the row set aside
    std::vector<double> value_;
};

/// Calls visit(node, row) for every node, children before their parents.
template <class Visit>
void visit_sums(std::span<const std::int32_t> end, const SparseRows& leaves, Interrupt& interrupt,
                Visit visit) {
    RowStack stack;
    for (std::size_t node = end.size(); node-- > 0;) {
        if (is_leaf(end, node))
            stack.push(leaves[node]);
        else
            stack.join();
        visit(node, stack.top());
        if (node % 256 == 0) interrupt.check();
    }
}

/// What the rows of all nodes tell, for each block of columns (one block per target): node by node.
struct Summary {
    std::vector<double> weight, heaviest, risk;
    std::vector<std::int64_t> label;  // the heaviest column, counted within its block; the first among equals
};
Summary summarise(const Criterion& criterion, std::span<const std::int32_t> end, const SparseRows& leaves,
                  std::span<const std::int32_t> borders, Interrupt& interrupt);

/// The rows of the wanted nodes, in their order.
OwnedRows wanted_sums(std::span<const std::int32_t> end, const SparseRows& leaves,
                      std::span<const std::uint8_t> wanted, Interrupt& interrupt);

/// For each node the value in some of the columns: `n_columns` of them, node by node.
std::vector<double> sums_at(std::span<const std::int32_t> end, const SparseRows& leaves,
                            std::span<const std::int32_t> columns, std::size_t n_columns,
                            Interrupt& interrupt);

/// The sum of value, or of weight times value, of each group, rounded once, so that the order does not
/// matter: `group` has the group of each value, below `n_groups`; empty: all are one. No weights: all are 1.
std::vector<double> exact_sums(std::span<const double> value, std::span<const double> weight,
                               std::span<const std::int64_t> group, std::size_t n_groups);

/// Fills in the statistics of the branches, of which `width` numbers stand for each node. Weights of classes
/// add up; (weight, mean, squared deviation) join as the moments of two samples do.
void join_classes(std::span<const std::int32_t> end, std::size_t width, double* statistic);
void join_moments(std::span<const std::int32_t> end, std::size_t width, double* statistic);

}  // namespace treewright
