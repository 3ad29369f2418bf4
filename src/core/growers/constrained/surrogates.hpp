// Surrogates (Breiman et al. 1984): cuts of other columns that send rows where the chosen cut sends them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "growers/constrained/column_lists.hpp"
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
    SurrogateSearch(const Task& task, Pool& pool) : task_(task), pool_(pool), threads_(pool.size()) {
        cases_.targets = task.problem.targets;
        if (!task.options.case_weight.empty()) cases_.targets.weight = task.options.case_weight.data();
    }

    /// The surrogates of a cut, the best one first. `branch` says of each row of the node whether it goes
    /// left (0) or right (1), or that its value is missing (-1).
    std::vector<Surrogate> find(std::int32_t column, const View& node, std::span<const int> branch);

    /// What the rows weigh that go left and right by the cut whose surrogates were found last.
    std::vector<double> sides() const {
        return {static_cast<double>(side_[0]), static_cast<double>(side_[1])};
    }

  private:
    /// The rows of a column's list for which both columns have a value.
    struct Known {
        std::vector<Id> ids;
        std::vector<Sum> weight;  // of those that go left; of the others less than 0
        std::size_t n = 0;
    };
    struct Thread {
        Sorter sorter;
        Known known;
    };

    void weigh(const View& node, std::span<const int> branch);
    std::vector<Surrogate> ranked(std::vector<Surrogate>&& found) const;
    Surrogate search(std::int32_t column, const View& node, Thread& thread) const;
    void gather(const SortedList<Id>& list, Known& known) const;
    Surrogate search_number(std::int32_t column, const Known& known) const;
    Surrogate search_category(std::int32_t column, const Known& known) const;
    void rate(Surrogate& found, double agreeing) const;

    const Task& task_;
    Problem cases_;  // the weights of the rows, and nothing else
    Pool& pool_;
    std::vector<Thread> threads_;
    std::vector<Sum>
        weight_;  // by id, on a grid; less than 0 for rows that go right, 0 for those without a value
    Sum total_ = 0, side_[2] = {0, 0};
};

}  // namespace treewright::constrained
