// Trees of two levels: bounds from coarse histograms, and exact scans of what the bounds leave open.
#pragma once

#include <memory>

#include "optimising/search.hpp"

namespace treewright::optimising {

std::unique_ptr<NodeSearch> make_pair_search(const Table& table, Loss leaf_price, Budget& budget);

}  // namespace treewright::optimising
