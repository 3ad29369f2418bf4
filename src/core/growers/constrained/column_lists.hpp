// The rows of a node in the order of each column: lists that are divided with the rows, or sorted when they
// are asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "growers/constrained/cut.hpp"
#include "scanners/list_scanner.hpp"

namespace treewright::constrained {

/// One column's list: those without a value last, equal ones in canonical order.
struct ColumnList {
    std::unique_ptr<Id[]> ids;
    std::size_t n = 0, n_known = 0;

    ColumnList() = default;
    /// Room for so many, and for one more, which a division without branches may write.
    explicit ColumnList(std::size_t size) : ids(std::make_unique_for_overwrite<Id[]>(size + 1)), n(size) {}

    SortedList<Id> sorted() const { return {ids.get(), n, n_known}; }
};

/// The lists of a node's columns. A column has none where its rows are to be sorted when it is searched.
class NodeLists {
  public:
    NodeLists() = default;
    explicit NodeLists(std::size_t n_columns) : of_column_(n_columns) {}

    bool has(std::int32_t column) const {
        return static_cast<std::size_t>(column) < of_column_.size() && of_column_[column].ids;
    }
    bool are_kept() const { return !of_column_.empty(); }
    const ColumnList& of(std::int32_t column) const { return of_column_[column]; }
    void put(std::int32_t column, ColumnList&& list) { of_column_[column] = std::move(list); }

  private:
    std::vector<ColumnList> of_column_;
};

/// Into which child each id goes, for the division at hand.
using Branches = std::vector<std::uint8_t>;
constexpr std::uint8_t all_branches = 255;          // each child takes a part of the row
constexpr std::size_t most_divided = all_branches;  // children; with more of them lists are not kept

/// Divides a list among children: `to` has room for the rows of those that need one, and null for the others.
void divide_list(const ColumnList& list, const Branches& branch, std::span<ColumnList* const> to);

/// Ranks of all columns, with the values behind them if they are wanted; and the lists of the root.
std::vector<Ranks> rank_columns(const Problem& problem, bool with_values, NodeLists* lists, Pool& pool);

/// Finds a column's list, or makes it.
class Sorter {
  public:
    SortedList<Id> list_of(const Task& task, const View& node, std::int32_t column) {
        if (node.lists->has(column)) return node.lists->of(column).sorted();
        const std::size_t n_known = sort(task.ranks[column], node.ids);
        return {list_.data(), list_.size(), n_known};
    }

  private:
    std::size_t sort(const Ranks& ranks, std::span<const Id> ids);

    std::vector<Id> list_;
    std::vector<std::uint64_t> keys_, spare_;
};

}  // namespace treewright::constrained
