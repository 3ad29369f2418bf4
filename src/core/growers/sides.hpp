// On which side of a split the rows of a node go, by their values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "data/problem.hpp"
#include "growers/split.hpp"

namespace treewright {

/// Notes by id whether a row goes left, `rows` being the rows by id; returns how many do.
template <class Id>
std::size_t mark_by_value(const Problem& problem, const Split& split, std::span<const Row> rows,
                          std::span<const Id> ids, std::vector<std::uint8_t>& goes_left) {
    const Column& column = problem.columns[static_cast<std::size_t>(split.column)];
    std::size_t n_left = 0;
    const auto mark = [&](auto side) {
        for (const Id id : ids) n_left += goes_left[id] = side(rows[id]);
    };
    if (column.is_category()) {
        const auto& codes = split.left_codes;  // ascending
        mark([&](Row row) {
            const auto code = column.code(row);
            return code < 0 ? split.missing_left : std::binary_search(codes.begin(), codes.end(), code);
        });
    } else {
        with_values(column, [&](auto value) {
            mark([&](Row row) {
                const double v = value(row);
                return v != v ? split.missing_left : v <= split.low;
            });
        });
    }
    return n_left;
}

}  // namespace treewright
