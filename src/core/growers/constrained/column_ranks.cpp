// Ranks of all columns, made once for a table.
#include "growers/constrained/column_ranks.hpp"

#include <ranges>
#include <utility>

#include "data/column_sorter.hpp"

namespace treewright::constrained {

std::vector<Ranks> rank_columns(const Problem& problem, bool with_values, Pool& pool) {
    static_assert(missing_rank == treewright::missing_rank<Id>);
    std::vector<Ranks> ranks(problem.columns.size());
    pool.run(ranks.size(), [&](std::size_t column, std::size_t) {
        problem.interrupt->check();
        const std::size_t n = problem.rows.size();
        std::vector<Id> list(n), rank(n);
        const auto sorted =
            ColumnSorter<Id>().sort(problem.columns[column], problem.rows,
                                    std::views::iota(std::size_t{0}, n), list.data(), rank.data());
        Ranks& out = ranks[column];
        out.is_constant = sorted.is_constant;
        out.of_row.assign(problem.n_rows, missing_rank);
        for (std::size_t i = 0; i < n; ++i) {
            out.of_row[problem.rows[i]] = rank[i];
            if (rank[i] != missing_rank) out.n_distinct = std::max(out.n_distinct, rank[i] + 1);
        }
        if (!with_values || problem.columns[column].is_category()) return;
        out.values.resize(out.n_distinct);
        for (std::size_t i = 0; i < n; ++i)
            if (rank[i] != missing_rank) out.values[rank[i]] = problem.columns[column].value(problem.rows[i]);
    });
    return ranks;
}

}  // namespace treewright::constrained
