// Sending rows down a finished tree that tests sums: row by row, each sum where it is asked for.
#include "applying_sums.hpp"

#include <algorithm>

namespace treewright {

namespace {

std::int32_t leaf_of(const Routes& routes, std::span<const Direction> directions,
                     std::span<const Column> columns, std::size_t row) {
    std::size_t node = 0;
    while (routes.feature[node] >= 0) {
        const auto feature = static_cast<std::size_t>(routes.feature[node]);
        bool left = false;
        if (feature >= columns.size())
            left = goes_left(routes, node,
                             sum_at(directions[feature - columns.size()], columns, static_cast<Row>(row)));
        else if (routes.subset[node] < 0)
            left = goes_left(routes, node, columns[feature].value(row));
        else
            left = goes_left(routes, node, columns[feature].code(row));
        node = left ? node + 1 : static_cast<std::size_t>(routes.end[node + 1]);
    }
    return static_cast<std::int32_t>(node);
}

}  // namespace

void apply_sums(const Routes& routes, std::span<const Direction> directions, std::span<const Column> columns,
                std::span<std::int32_t> leaf, Pool& pool, Interrupt& interrupt) {
    constexpr std::size_t block = 8192;
    pool.run((leaf.size() + block - 1) / block, [&](std::size_t task, std::size_t) {
        interrupt.check();
        for (std::size_t row = task * block; row < std::min(leaf.size(), (task + 1) * block); ++row)
            leaf[row] = leaf_of(routes, directions, columns, row);
    });
}

}  // namespace treewright
