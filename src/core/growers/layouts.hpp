// What the sums of a statistic are: those of a cell of a histogram, of a place or of a value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/problem.hpp"

namespace treewright {

/// The weight of each class[, rows].
struct ClassLayout {
    std::size_t n_classes;
    bool is_weighted;

    std::size_t width() const { return n_classes + (is_weighted ? 1 : 0); }
    std::int64_t rows_of(const Sum* statistic) const {
        return is_weighted ? statistic[n_classes] : weight_of_all(statistic);
    }
    Sum weight_of_all(const Sum* statistic) const {
        Sum sum = 0;
        for (std::size_t k = 0; k < n_classes; ++k) sum += statistic[k];
        return sum;
    }
};

/// One number: the weight, the sum, an upper bound of the squares[, rows].
struct SquareLayout {
    bool is_weighted;

    std::size_t width() const { return is_weighted ? 4 : 3; }
    std::int64_t rows_of(const Sum* statistic) const { return is_weighted ? statistic[3] : statistic[0]; }
};

}  // namespace treewright
