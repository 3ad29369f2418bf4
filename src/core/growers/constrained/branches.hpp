// Splits of a category column into one branch for each category.
#pragma once

#include <vector>

#include "growers/constrained/column_lists.hpp"
#include "growers/constrained/cut.hpp"
#include "growers/constrained/gate.hpp"

namespace treewright::constrained {

class Branching {
  public:
    explicit Branching(const Task& task);

    /// The one cut of a category column, if the limits allow it; rows with a missing value are a branch of
    /// their own, or join the branch where they do least harm, or are left out.
    Cut search(const View& node, std::int32_t column, Gate& gate);

  private:
    /// A branch: weights of classes, or weight and sums of numbers.
    struct Part {
        double count = 0, weight = 0;
        std::vector<double> sums;
    };

    bool gather(const View& node, std::int32_t column);
    std::size_t part_of(std::int32_t column, Id id) const;
    void add(Part& part, Id id, double share) const;
    void centre(const View& node);
    double gain(const std::vector<Part>& parts) const;
    double risk(const Part& part) const;
    double noise() const;
    bool are_allowed(const std::vector<Part>& parts) const;
    bool lie_within(const View& node, std::int32_t column, Gate& gate, int missing_branch) const;
    Part joined(const Part& a, const Part& b) const;

    const Task& task_;
    Sorter sorter_;
    std::vector<Id> first_;       // row of each category of the node
    std::vector<Id> part_;        // by rank, of those in the node
    std::vector<Part> parts_;     // of each category; the last one is that of the missing
    std::vector<double> centre_;  // of numbers, so that an offset costs no digits
    std::vector<std::size_t> start_{0};
};

}  // namespace treewright::constrained
