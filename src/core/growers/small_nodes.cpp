// Growing small nodes: in sorted lists, or by drawn cuts, with ids as short as the number of rows allows.
#include "growers/small_nodes.hpp"

#include <optional>

#include "growers/random_cut_finder.hpp"
#include "growers/sorted_list_finder.hpp"
#include "growers/subtree.hpp"

namespace treewright {

namespace {

/// Local ids of 16 bits keep twice as many lists in cache.
constexpr std::size_t max_short_rows = 65535;

}  // namespace

/// The growers of one width of ids, made when they are first needed.
template <class Id>
struct SmallNodeGrower::Growers {
    const Problem& problem;
    const bool by_ratio;
    const MakeScanner<Id> make_scanner;
    std::optional<SubtreeGrower<Id, SortedListFinder<Id>>> lists{};
    std::optional<SubtreeGrower<Id, RandomCutFinder<Id>>> random_cuts{};

    void grow(Row* rows, const Job& job, Nodes& out) {
        if (random_cuts) return random_cuts->grow(rows, job, out);
        if (lists) return lists->grow(rows, job, out);
        auto scanner = make_scanner(problem, true);
        // To compare columns by ratio, or groups by medians, lists know how.
        if (problem.limits.random_splits && !by_ratio && scanner->groups())
            random_cuts.emplace(problem, std::move(scanner), by_ratio);
        else
            lists.emplace(problem, std::move(scanner), by_ratio);
        grow(rows, job, out);
    }
};

SmallNodeGrower::SmallNodeGrower(const Problem& problem, const Criterion& criterion)
    : short_(new Growers<std::uint16_t>{problem, criterion.by_ratio, criterion.make_short_scanner}),
      long_(new Growers<std::uint32_t>{problem, criterion.by_ratio, criterion.make_long_scanner}) {}

SmallNodeGrower::~SmallNodeGrower() = default;

void SmallNodeGrower::grow(Row* rows, const Job& job, Nodes& out) {
    if (out.nodes[job.node].size() <= max_short_rows)
        short_->grow(rows, job, out);
    else
        long_->grow(rows, job, out);
}

}  // namespace treewright
