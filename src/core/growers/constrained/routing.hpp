// Where the rows of a node go: branches of a cut, rows whose value is missing, and the rows of each child.
#pragma once

#include <vector>

#include "growers/constrained/cut.hpp"

namespace treewright::constrained {

/// The branch of every row; -1 where the value is missing and the cut does not say where it goes.
std::vector<int> branches_of(const Task& task, std::span<const Id> ids, const Cut& cut);

/// Of how many branches a cut consists, one without rows included.
std::size_t count_branches(const Problem& problem, const Cut& cut);

/// The branch that is heaviest among the rows that were scored.
std::size_t heaviest_branch(const Cut& cut);

/// The rows of each branch. A row without one goes to all that have rows, each time with a part of its share.
std::vector<Entries> divide(const Problem& problem, const Entries& entries, const std::vector<int>& branch,
                            const Cut& cut);

}  // namespace treewright::constrained
