// Sending rows down a finished tree that tests sums of columns.
#pragma once

#include "applying.hpp"
#include "directions.hpp"

namespace treewright {

/// The leaf of each row; a feature beyond the columns tests a direction.
void apply_sums(const Routes& routes, std::span<const Direction> directions, std::span<const Column> columns,
                std::span<std::int32_t> leaf, Pool& pool, Interrupt& interrupt);

}  // namespace treewright
