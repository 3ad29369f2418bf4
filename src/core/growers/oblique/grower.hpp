// Growing a tree that may test sums of columns.
#pragma once

#include "growers/grower.hpp"
#include "growers/oblique/directions.hpp"

namespace treewright {

struct Combining {
    std::vector<std::int32_t> columns;  // that may be added up
    std::size_t most = 2;               // columns of a sum
};

/// A tree whose tests may be sums: feature n_columns + i tests tree.directions[i].
GrownTree grow_oblique(Problem& problem, const Criterion& criterion, const Combining& combining, Pool& pool);

}  // namespace treewright
