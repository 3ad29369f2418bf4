// What the constrained grower can do beyond the fast one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace treewright::constrained {

/// How rows are routed whose value in the tested column is missing.
enum class Missing : std::uint8_t { learn, surrogate, fractional, category };

struct Options {
    Missing missing = Missing::learn;
    std::size_t n_surrogates = 0;
    std::span<const double> case_weight;    // by row, to judge surrogates by; empty: as splits are chosen
    std::span<const std::int8_t> monotone;  // by column: +1, −1 or 0; empty: none
    bool has_groups = false;
    std::vector<std::vector<std::int32_t>> groups;  // columns that may be tested on one path
    std::int64_t max_columns_used = -1;             // in the whole tree; -1: no limit
    std::span<const double> prices;                 // by column; empty: none
    std::span<const double> costs;                  // classes × classes; empty: none
    bool multiway = false;                          // a branch for each category
    bool once = false;                              // no column twice on a path
    bool release8 = false;                          // the rules of C4.5 Release 8

    /// Candidates are scored on the rows whose value is known.
    bool scores_known() const { return missing == Missing::surrogate || missing == Missing::fractional; }
};

}  // namespace treewright::constrained
