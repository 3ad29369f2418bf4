// A boosted tree in the arrays in which trees are handed out.
#pragma once

#include <cstdint>
#include <vector>

#include "boosting/cells.hpp"
#include "boosting/nodes.hpp"
#include "data/columns.hpp"
#include "growers/grower.hpp"

namespace treewright::boosting {

/// Numbers the splits as if the largest gain had always come first.
void number_steps(std::vector<BoostedNode>& nodes);

/// The nodes of a tree, each before those below it and the left child before the right one.
std::vector<std::int32_t> depth_first(const std::vector<BoostedNode>& nodes);

/// All of a tree but its statistics, its nodes in this order.
GrownTree shape(const std::vector<BoostedNode>& nodes, const std::vector<std::int32_t>& order,
                const std::vector<Column>& columns, const Cells& cells);

}  // namespace treewright::boosting
