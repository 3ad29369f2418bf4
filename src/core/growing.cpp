// The best-first grower.
#include "growing.hpp"

#include <stdexcept>

#include "assembling.hpp"
#include "nodes.hpp"

namespace treewright {

GrownTree grow(Problem& problem, const Criterion& criterion, std::size_t n_threads) {
    (void)n_threads;
    sort_rows(problem);
    Nodes grown;
    grown.add(0, static_cast<std::uint32_t>(problem.rows.size()));
    Job job;
    job.key = Random{problem.limits.seed}.next();
    job.max_splits = problem.limits.max_splits;
    auto searcher = criterion.make_searcher(problem);
    searcher->grow_small(problem.rows.data(), job, grown);
    return assemble(problem, criterion, grown);
}

}  // namespace treewright
