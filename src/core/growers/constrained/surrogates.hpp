// Surrogates (Breiman et al. 1984): cuts of other columns that send rows where the chosen cut sends them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "growers/constrained/column_ranks.hpp"
#include "growers/constrained/cut.hpp"

namespace treewright::constrained {

struct Surrogate {
    std::int32_t column = -1;
    double low = 0.0, high = 0.0;       // the gap of its threshold
    double middle = 0.0;                // of the gap that was found
    std::vector<std::uint8_t> is_left;  // of a category column: by code
    bool reversed = false;              // what lies below the threshold goes right
    double agreement = 0.0, adjusted = 0.0;

    /// A row that had no part in the search may lie in the gap: it joins the nearer side, and whatever number
    /// is taken of the gap that is left sends it there.
    void narrow(const Problem& problem, Row row) {
        const Column& source = problem.columns[column];
        if (source.is_category()) return;
        const double value = source.value(row);
        if (low < value && value < high) (value <= middle ? low : high) = value;
    }

    /// The branch of a row, 0 or 1; -1 where its value is missing.
    int branch_of(const Problem& problem, Row row) const {
        const Column& source = problem.columns[column];
        if (source.is_category()) {
            const auto code = source.code(row);
            return code < 0 ? -1 : is_left[code] ? 0 : 1;
        }
        const double value = source.value(row);
        if (std::isnan(value)) return -1;
        return (value <= low) != reversed ? 0 : 1;
    }
};

class SurrogateSearch {
  public:
    SurrogateSearch(const Task& task, Pool& pool) : task_(task), pool_(pool), sorters_(pool.size()) {
        cases_.targets = task.problem.targets;
        if (!task.options.case_weight.empty()) cases_.targets.weight = task.options.case_weight.data();
    }

    /// The surrogates of a cut, the best one first. `rows` are those whose value is known, `branch` says
    /// whether they go left (0) or right (1).
    std::vector<Surrogate> find(std::int32_t column, std::span<const Row> rows, std::span<const int> branch);

    /// What the rows weigh that go left and right by the cut whose surrogates were found last.
    std::vector<double> sides() const {
        return {static_cast<double>(side_[0]), static_cast<double>(side_[1])};
    }

  private:
    Surrogate search(std::int32_t column, Sorter& sorter) const;
    Surrogate search_number(std::int32_t column, const std::vector<Id>& list, std::size_t n_known) const;
    Surrogate search_category(std::int32_t column, const std::vector<Id>& list, std::size_t n_known) const;
    void rate(Surrogate& found, double agreeing) const;

    const Task& task_;
    Problem cases_;  // the weights of the rows, and nothing else
    Pool& pool_;
    std::vector<Sorter> sorters_;  // one per thread
    std::span<const Row> rows_;
    std::span<const int> branch_;
    std::vector<Sum> weight_;  // by id, on a grid
    Sum total_ = 0, side_[2] = {0, 0};
};

}  // namespace treewright::constrained
