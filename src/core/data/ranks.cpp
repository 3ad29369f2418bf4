// Ranks of all cells, column by column.
#include "data/ranks.hpp"

#include <numeric>
#include <ranges>

#include "data/column_sorter.hpp"

namespace treewright {

std::vector<Rank> rank_cells(const std::vector<Column>& columns, std::size_t n_rows, Pool& pool,
                             Interrupt& interrupt) {
    std::vector<Rank> ranks(columns.size() * n_rows);
    std::vector<Row> rows(n_rows);
    std::iota(rows.begin(), rows.end(), Row{0});
    std::vector<ColumnSorter<Rank>> sorters(pool.size());
    std::vector<std::vector<Rank>> orders(pool.size(), std::vector<Rank>(n_rows));
    pool.run(columns.size(), [&](std::size_t column, std::size_t thread) {
        interrupt.check();
        sorters[thread].sort(columns[column], rows, std::views::iota(std::size_t{0}, n_rows),
                             orders[thread].data(), ranks.data() + column * n_rows);
    });
    return ranks;
}

}  // namespace treewright
