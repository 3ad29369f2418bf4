// Lists of columns: made for the root, divided with the rows, or sorted by ranks.
#include "growers/constrained/column_lists.hpp"

#include <ranges>

namespace treewright::constrained {

namespace {

/// Each id is written to both children, and those that take it move on: no branches.
void divide_in_two(std::span<const Id> ids, const std::uint8_t* branch, Id*& left, Id*& right) {
    Id *to_left = left, *to_right = right;
    for (const Id id : ids) {
        *to_left = id;
        *to_right = id;
        to_left += branch[id] != 1;
        to_right += branch[id] != 0;
    }
    left = to_left;
    right = to_right;
}

/// The same where only one of two children needs the list.
void take_all_but(std::uint8_t other, std::span<const Id> ids, const std::uint8_t* branch, Id*& end) {
    Id* to = end;
    for (const Id id : ids) {
        *to = id;
        to += branch[id] != other;
    }
    end = to;
}

void divide_among_many(std::span<const Id> ids, const std::uint8_t* branch, std::span<Id*> ends) {
    for (const Id id : ids) {
        const std::uint8_t child = branch[id];
        if (child != all_branches) {
            if (ends[child]) *ends[child]++ = id;
            continue;
        }
        for (auto& end : ends)
            if (end) *end++ = id;
    }
}

}  // namespace

void divide_list(const ColumnList& list, const Branches& branch, std::span<ColumnList* const> to) {
    std::vector<Id*> ends;
    for (ColumnList* const child : to) ends.push_back(child ? child->ids.get() : nullptr);
    const auto divide = [&](std::span<const Id> ids) {
        if (to.size() != 2)
            divide_among_many(ids, branch.data(), ends);
        else if (to[0] && to[1])
            divide_in_two(ids, branch.data(), ends[0], ends[1]);
        else if (to[0] || to[1])
            take_all_but(to[0] ? 1 : 0, ids, branch.data(), to[0] ? ends[0] : ends[1]);
    };
    const std::span<const Id> ids(list.ids.get(), list.n);
    divide(ids.first(list.n_known));
    for (std::size_t child = 0; child < to.size(); ++child)
        if (to[child]) to[child]->n_known = static_cast<std::size_t>(ends[child] - to[child]->ids.get());
    divide(ids.subspan(list.n_known));
}

std::vector<Ranks> rank_columns(const Problem& problem, bool with_values, NodeLists* lists, Pool& pool) {
    std::vector<Ranks> ranks(problem.columns.size());
    pool.run(ranks.size(), [&](std::size_t column, std::size_t) {
        problem.interrupt->check();
        const std::size_t n = problem.rows.size();
        ColumnList list(n);
        Ranks& out = ranks[column];
        out.of_id.resize(n);
        const auto sorted =
            ColumnSorter<Id>().sort(problem.columns[column], problem.rows,
                                    std::views::iota(std::size_t{0}, n), list.ids.get(), out.of_id.data());
        out.is_constant = sorted.is_constant;
        const auto end = std::partition_point(list.ids.get(), list.ids.get() + n,
                                              [&](Id id) { return out.of_id[id] != missing_rank<Id>; });
        list.n_known = static_cast<std::size_t>(end - list.ids.get());
        if (list.n_known > 0) out.n_distinct = out.of_id[list.ids[list.n_known - 1]] + 1;
        if (with_values && !problem.columns[column].is_category()) {
            out.values.resize(out.n_distinct);
            for (std::size_t i = 0; i < list.n_known; ++i)
                out.values[out.of_id[list.ids[i]]] = problem.columns[column].value(problem.rows[list.ids[i]]);
        }
        if (lists) lists->put(static_cast<std::int32_t>(column), std::move(list));
    });
    return ranks;
}

std::size_t Sorter::sort(const Ranks& ranks, std::span<const Id> ids) {
    keys_.clear();
    list_.resize(ids.size());
    std::size_t n_missing = 0;
    for (const Id id : ids) {
        const Id rank = ranks.of_id[id];
        if (rank == missing_rank<Id>)
            list_[n_missing++] = id;  // moved to the end below
        else
            keys_.push_back(static_cast<std::uint64_t>(rank) << 32 | id);
    }
    const std::size_t n_known = keys_.size();
    std::copy_backward(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(n_missing), list_.end());
    if (n_known < worth_counting_bits)
        std::sort(keys_.begin(), keys_.end());
    else
        sort_by_bits(keys_, spare_, 32);  // equal ones keep the order of the node
    for (std::size_t i = 0; i < n_known; ++i) list_[i] = static_cast<Id>(keys_[i]);
    return n_known;
}

}  // namespace treewright::constrained
