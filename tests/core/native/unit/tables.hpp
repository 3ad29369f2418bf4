// Columns and problems for the tests, with the memory behind them.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "data/problem.hpp"

namespace tables {

using namespace treewright;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

inline Column column_of(const std::vector<double>& values) {
    Column column;
    column.data = reinterpret_cast<const std::byte*>(values.data());
    column.stride = sizeof(double);
    return column;
}
inline Column column_of(const std::vector<float>& values) {
    Column column;
    column.data = reinterpret_cast<const std::byte*>(values.data());
    column.stride = sizeof(float);
    column.type = Column::Type::float32;
    return column;
}
inline Column column_of(const std::vector<std::int32_t>& codes, std::int32_t n_categories) {
    Column column;
    column.data = reinterpret_cast<const std::byte*>(codes.data());
    column.stride = sizeof(std::int32_t);
    column.type = Column::Type::code;
    column.n_categories = n_categories;
    return column;
}

/// An interrupt that never comes.
inline Interrupt undisturbed() {
    return Interrupt([] { return false; });
}

/// Some numbers: few distinct ones, many, with ties, missing values, zeros of both signs and infinities.
inline std::vector<double> mixed_numbers(std::size_t n, std::uint64_t seed) {
    Random random{seed};
    std::vector<double> values(n);
    constexpr double special[] = {missing, 0.0, -0.0, std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity()};
    for (auto& value : values) {
        const std::size_t kind = random.below(10);
        value = kind == 0  ? special[random.below(std::size(special))]
                : kind < 5 ? static_cast<double>(random.below(8)) - 4
                           : std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(60)) - 30);
    }
    return values;
}

}  // namespace tables
