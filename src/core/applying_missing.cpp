// Sending rows with missing values down a finished tree: by stand-ins, or down both sides.
#include <algorithm>

#include "applying.hpp"

namespace treewright {

namespace {

bool is_missing(const Column& column, std::size_t row) {
    return column.is_category() ? column.code(row) == missing_code : std::isnan(column.value(row));
}

/// Whether a row goes left at a node; a missing value goes by missing_left.
bool goes_left(const Routes& routes, std::size_t node, const Column& column, std::size_t row) {
    return routes.subset[node] < 0 ? goes_left(routes, node, column.value(row))
                                   : goes_left(routes, node, column.code(row));
}

/// Whether a row goes left at a node whose own value it misses.
bool goes_left(const Routes& routes, const StandIns& stand_ins, std::size_t node,
               const std::vector<Column>& columns, std::size_t row) {
    const auto end = static_cast<std::size_t>(stand_ins.start[node + 1]);
    for (auto i = static_cast<std::size_t>(stand_ins.start[node]); i < end; ++i) {
        const Column& column = columns[static_cast<std::size_t>(stand_ins.feature[i])];
        bool passes = false;
        if (stand_ins.subset[i] >= 0) {
            const std::int32_t code = column.code(row);
            if (code < 0) continue;
            const auto place = static_cast<std::size_t>(stand_ins.subset[i] + code / 8);
            passes = place < stand_ins.subsets.size() && (stand_ins.subsets[place] >> (code % 8) & 1);
        } else {
            const double value = column.value(row);
            if (std::isnan(value)) continue;
            passes = value <= stand_ins.threshold[i];
        }
        return passes != (stand_ins.reversed[i] != 0);
    }
    return routes.missing_left[node] != 0;
}

std::int32_t leaf_of(const Routes& routes, const StandIns& stand_ins, const std::vector<Column>& columns,
                     std::size_t row) {
    std::size_t node = 0;
    while (routes.feature[node] >= 0) {
        const Column& column = columns[static_cast<std::size_t>(routes.feature[node])];
        const bool left = is_missing(column, row) ? goes_left(routes, stand_ins, node, columns, row)
                                                  : goes_left(routes, node, column, row);
        node = left ? node + 1 : static_cast<std::size_t>(routes.end[node + 1]);
    }
    return static_cast<std::int32_t>(node);
}

/// The columns that some node tests.
std::vector<Column> tested(const Routes& routes, const std::vector<Column>& columns) {
    std::vector<bool> is_tested(columns.size());
    for (const std::int32_t feature : routes.feature)
        if (feature >= 0) is_tested[static_cast<std::size_t>(feature)] = true;
    std::vector<Column> found;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (is_tested[i]) found.push_back(columns[i]);
    return found;
}

}  // namespace

void apply(const Routes& routes, const StandIns& stand_ins, const std::vector<Column>& columns,
           std::size_t n_rows, std::int32_t* leaf, Pool& pool, Interrupt& interrupt) {
    apply(routes, columns, n_rows, leaf, pool, interrupt);  // right for the rows that miss nothing
    const std::vector<Column> asked = tested(routes, columns);
    constexpr std::size_t block = 4096;
    pool.run((n_rows + block - 1) / block, [&](std::size_t task, std::size_t) {
        interrupt.check();
        for (std::size_t row = task * block; row < std::min(n_rows, (task + 1) * block); ++row) {
            const auto misses = [&](const Column& column) { return is_missing(column, row); };
            if (std::any_of(asked.begin(), asked.end(), misses))
                leaf[row] = leaf_of(routes, stand_ins, columns, row);
        }
    });
}

Parts spread(const Routes& routes, std::span<const double> weight, const std::vector<Column>& columns,
             std::size_t first, std::size_t n_rows, std::size_t most, Interrupt& interrupt) {
    struct Place {
        std::size_t node;
        double share;
    };
    Parts parts;
    std::vector<Place> waiting;  // right children that come later
    for (std::size_t row = first; row < n_rows && (row == first || parts.leaf.size() < most); ++row) {
        interrupt.check();
        waiting.push_back({0, 1.0});
        while (!waiting.empty()) {
            auto [node, share] = waiting.back();
            waiting.pop_back();
            while (routes.feature[node] >= 0) {
                const Column& column = columns[static_cast<std::size_t>(routes.feature[node])];
                const std::size_t left = node + 1, right = static_cast<std::size_t>(routes.end[left]);
                if (!is_missing(column, row)) {
                    node = goes_left(routes, node, column, row) ? left : right;
                    continue;
                }
                const double to_right = share * (weight[right] / weight[node]);
                share *= weight[left] / weight[node];
                if (to_right > 0) waiting.push_back({right, to_right});
                if (!(share > 0)) break;
                node = left;
            }
            if (!(share > 0)) continue;
            parts.leaf.push_back(static_cast<std::int32_t>(node));
            parts.share.push_back(share);
        }
        parts.start.push_back(static_cast<std::int64_t>(parts.leaf.size()));
    }
    return parts;
}

}  // namespace treewright
