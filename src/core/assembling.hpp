// From grown nodes to the finished tree: choosing the first splits, preorder, statistics.
#pragma once

#include "criterion.hpp"
#include "growing.hpp"
#include "nodes.hpp"

namespace treewright {

GrownTree assemble(Problem& problem, const Criterion& criterion, const Nodes& grown);

}  // namespace treewright
