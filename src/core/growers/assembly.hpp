// From grown nodes to the finished tree: choosing the first splits, preorder, statistics.
#pragma once

#include "criteria/criterion.hpp"
#include "growers/grower.hpp"
#include "growers/nodes.hpp"

namespace treewright {

/// The tree of the first splits, best first, as many as the limits allow.
GrownTree assemble(Problem& problem, const Criterion& criterion, const Nodes& grown, Pool& pool);

/// The tree of the nodes that were split at these steps (-1: leaves); `order` becomes its nodes in preorder.
GrownTree assemble(Problem& problem, const Criterion& criterion, const Nodes& grown,
                   const std::vector<std::int32_t>& steps, std::vector<std::int32_t>& order);

}  // namespace treewright
