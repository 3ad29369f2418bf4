// What the constrained grower searches and finds: the rows of a node, and a cut into two or more branches.
#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "criteria/criterion.hpp"
#include "data/column_sorter.hpp"
#include "data/problem.hpp"
#include "growers/constrained/options.hpp"
#include "growers/split.hpp"

namespace treewright::constrained {

class Policy;
class NodeLists;

using Id = std::uint32_t;  // a place in the canonical order of all rows

/// The rows of a node in canonical order, and how much of each belongs to it; without shares, all of it.
struct Entries {
    std::vector<Id> ids;
    std::vector<double> shares;

    std::size_t size() const { return ids.size(); }
    double share(std::size_t i) const { return shares.empty() ? 1.0 : shares[i]; }
};

/// Shares are products of quotients: a sum that should be a whole number may miss it by this.
constexpr double share_rounding = 1e-9;

/// Within what a node's value has to stay, in each component; empty: anything.
struct Bounds {
    std::vector<double> low, high;
};

/// One column of the table as places among its distinct values: comparing and sorting need no more.
struct Ranks {
    std::vector<Id> of_id;
    std::uint32_t n_distinct = 0;
    bool is_constant = false;
    std::vector<double> values;  // by rank, where they are asked for
};

/// The rows behind some ids.
inline auto rows_of(const Problem& problem, std::span<const Id> ids) {
    return ids | std::views::transform([&problem](Id id) { return problem.rows[id]; });
}

/// What all searchers share. `problem` has the weights of the node at hand: times the shares of its rows.
struct Task {
    const Problem& problem;
    const Options& options;
    const Criterion& criterion;
    const Policy& policy;
    const std::vector<Ranks>& ranks;

    Row row(Id id) const { return problem.rows[id]; }
    bool is_known(std::int32_t column, Id id) const { return ranks[column].of_id[id] != missing_rank<Id>; }
};

/// A node to be searched.
struct View {
    std::span<const Id> ids;
    std::span<const double> shares;
    const NodeLists* lists = nullptr;
    const Bounds* bounds = nullptr;
    std::uint64_t key = 0;  // of the node's random stream

    /// How many rows these are, a part of a row counted as a part.
    double count() const {
        if (shares.empty()) return static_cast<double>(ids.size());
        double sum = 0;
        for (const double share : shares) sum += share;
        return sum;
    }
};

/// A cut of one column. Branches from left to right: two sides; or (three-way) low, high, missing; or
/// (multiway) one for each of `left_codes`, then perhaps one of the missing, then perhaps one without rows.
struct Cut {
    enum class Form : std::uint8_t { two_way, three_way, multiway };

    Split split;
    Form form = Form::two_way;
    double score = 0.0;           // what columns and nodes compete by: the gain over 1 + the column's price
    double noise = 0.0;           // what rounding can do to the gain
    std::vector<double> weights;  // of the rows that were scored, by branch
    int missing_branch = -1;      // multiway: where missing values go

    bool found() const { return split.found(); }
};

}  // namespace treewright::constrained
