// The constrained grower: one node at a time, exact, with every option.
//
// Each leaf holds its own list of rows, and how much of each belongs to it: so a row whose value is missing
// may go down several branches. What follows a cut (surrogates, shares, chains of joined nodes, bounds) is
// known here; what a cut is worth is the business of the column searchers.
#pragma once

#include <cstdint>
#include <vector>

#include "growers/constrained/options.hpp"
#include "growers/constrained/surrogates.hpp"
#include "growers/grower.hpp"
#include "growers/nodes.hpp"

namespace treewright::constrained {

/// The nodes in the order of their making, and what the constrained grower knows of them beside.
struct Grown {
    Nodes nodes;
    std::vector<std::int32_t> steps;   // at which a node was split; -1: a leaf
    std::vector<std::uint8_t> joined;  // a node that continues the split of its parent
    std::vector<std::int64_t> n_rows;  // with a positive share in the node
    std::vector<Entries> entries;      // of leaves
    std::vector<std::vector<Surrogate>> surrogates;

    std::int32_t add(std::size_t rows) {
        steps.push_back(-1);
        joined.push_back(0);
        n_rows.push_back(static_cast<std::int64_t>(rows));
        entries.emplace_back();
        surrogates.emplace_back();
        return static_cast<std::int32_t>(steps.size() - 1);
    }
};

struct Tree {
    GrownTree tree;
    std::vector<std::uint8_t> joined;
    std::vector<std::int32_t> surrogate_node, surrogate_feature;
    std::vector<double> surrogate_low, surrogate_high, surrogate_agreement, surrogate_adjusted;
    std::vector<std::int64_t> surrogate_subset;
    std::vector<std::uint8_t> surrogate_subsets, surrogate_reversed;
};

Tree grow(Problem& problem, const Criterion& criterion, const Options& options, Pool& pool);

/// The finished tree, in preorder and with statistics.
Tree finish(Problem& problem, const Criterion& criterion, Grown&& grown);

}  // namespace treewright::constrained
