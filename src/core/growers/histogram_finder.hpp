// Searching a large node whose rows are all here: answers what a SplitSearch asks for.
#pragma once

#include <memory>

#include "criteria/criterion.hpp"
#include "data/agreement.hpp"
#include "data/problem.hpp"
#include "growers/nodes.hpp"
#include "support/threads.hpp"

namespace treewright {

/// Whether large nodes are searched by histograms. Where the criterion, or this problem, has none, lists of
/// any length serve instead.
bool has_histograms(const Problem& problem, const Agreement& agreement, const Criterion& criterion);

/// Null where there are none.
std::unique_ptr<LargeSearcher> make_histogram_finder(const Problem& problem, const Agreement& agreement,
                                                     const Criterion& criterion, Pool& pool);

}  // namespace treewright
