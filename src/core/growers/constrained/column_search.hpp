// Searching a node's columns one at a time: every cut of a sorted list, or the best subset of categories.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "growers/constrained/branches.hpp"
#include "growers/constrained/column_lists.hpp"
#include "growers/constrained/cut.hpp"
#include "growers/constrained/gate.hpp"
#include "growers/subsets.hpp"
#include "scanners/list_scanner.hpp"

namespace treewright::constrained {

/// Every thread has its own.
class ColumnSearcher {
  public:
    explicit ColumnSearcher(const Task& task);

    void enter(const View& node);
    /// The best cut of a column; one without a column if there is none.
    Cut search(std::int32_t column);
    /// No cut of the node gains more than this; infinite where nothing can be said.
    double most() const { return most_; }
    double weight() const { return weight_; }

  private:
    class Judge;

    Id rank(std::size_t i) const { return task_.ranks[column_].of_id[list_.entries[i]]; }
    double value(std::size_t i) const {
        return task_.problem.columns[column_].value(task_.row(list_.entries[i]));
    }
    bool has_missing() const { return list_.n_known < list_.n; }
    /// The rows that compete, in order.
    SortedList<Id> sorted() const { return {list_.entries, n_competing_, list_.n_known}; }
    Cut cut_of(double gain, std::vector<double> weights) const;
    void compete(bool only_known);
    Cut search_number();
    Cut search_three_way();
    Records<ListPlace>& scan();
    CutRange range_of(bool missing_left) const;
    std::size_t count_cuts();
    void set_gap(Cut& cut, std::size_t n_first) const;
    Cut search_category();
    std::optional<Division> best_division(const std::vector<std::size_t>& begin);
    Groups gather_groups(const std::vector<std::size_t>& begin, std::size_t n_scored);

    const Task& task_;
    Limits limits_;
    std::unique_ptr<ListScanner<Id>> scanner_;
    Gate gate_;
    Branching branching_;
    View node_;
    Sorter sorter_;
    std::int32_t column_ = -1;
    SortedList<Id> list_{};
    std::vector<Id> known_;
    std::vector<std::uint8_t> is_missing_;  // by id
    ListPlaces places_;
    std::size_t n_competing_ = 0;
    bool is_whole_ = false;
    std::vector<double> n_left_;  // by how many rows are left of a cut, how many that is, parts as parts
    std::vector<char> counts_;    // and whether the cut counts; where the policy counts cuts
    double weight_ = 0, most_ = 0;
};

}  // namespace treewright::constrained
