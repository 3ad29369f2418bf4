// Directions that are worth a look at a node: by ridge regression on the target, and at random.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/problem.hpp"
#include "growers/oblique/directions.hpp"

namespace treewright {

/// Readable sums of 2 to `most` of the given columns, no two alike, the same for the same rows and key.
std::vector<Direction> propose_directions(const Problem& problem, std::span<const std::int32_t> columns,
                                          std::size_t most, std::span<const Row> rows, std::uint64_t key);

}  // namespace treewright
