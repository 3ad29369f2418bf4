// Searching a node's columns one at a time: every cut of a sorted list, or the best subset of categories.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "growers/constrained/branches.hpp"
#include "growers/constrained/column_ranks.hpp"
#include "growers/constrained/cut.hpp"
#include "growers/constrained/gate.hpp"
#include "growers/subsets.hpp"
#include "scanners/list_scanner.hpp"

namespace treewright::constrained {

/// Every thread has its own. The scanner knows rows by their position in the canonical order of the table.
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

    std::uint32_t rank(std::size_t i) const { return task_.ranks[column_].of_row[node_.rows[list_[i]]]; }
    double value(std::size_t i) const { return task_.problem.columns[column_].value(node_.rows[list_[i]]); }
    SortedList<Id> sorted() const { return {scanned_.data(), n_competing_, n_known_}; }
    Cut cut_of(double gain, std::vector<double> weights) const;
    void compete(bool only_known);
    Cut search_number();
    Cut search_three_way();
    Records<ListPlace>& scan();
    CutRange range_of(bool missing_left) const;
    void count_release8_cuts();
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
    std::vector<Id> all_, known_, list_;         // places among the rows of the node
    std::vector<Id> position_, known_position_;  // of all and of the known ones in the table
    std::vector<Id> scanned_;                    // the positions of the list
    ListPlaces places_;
    std::size_t n_known_ = 0, n_competing_ = 0;
    bool is_whole_ = false;
    std::vector<char> counts_;  // Release 8: by how many rows are left of a cut, whether it counts
    std::size_t n_cuts_ = 0;
    double weight_ = 0, most_ = 0;
};

}  // namespace treewright::constrained
