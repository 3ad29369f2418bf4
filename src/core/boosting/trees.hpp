// One tree of gradient boosting: leaf by leaf, the one with the largest gain first.
#pragma once

#include <memory>
#include <vector>

#include "boosting/losses.hpp"
#include "boosting/splits.hpp"
#include "data/problem.hpp"
#include "growers/grower.hpp"

namespace treewright::boosting {

/// What a tree is fitted to: (first n_train rows) gradients and hessians, and for losses whose leaves answer
/// quantiles the residuals follow from targets and raw predictions.
struct Task {
    const Loss& loss;
    const Aims& aims;  // of the rows to learn from; rows to validate by follow them in cells and in `raw`
    const double* gradient;  // where weights are whole numbers, of a row that weighs 1
    const double* hessian;
    Extremes largest;  // of these
    double* raw;       // of all rows; the tree's answers are added
    std::uint64_t key;
};

/// Grows trees on the same cells, one after the other; what it needs for that it keeps.
class TreeGrower {
  public:
    virtual ~TreeGrower() = default;
    virtual GrownTree grow(const Task& task, Pool& pool, Interrupt& interrupt) = 0;
};

std::unique_ptr<TreeGrower> make_grower(const Cells& cells, const std::vector<Column>& columns,
                                        const Limits& limits, const Aims& train, const Repeats& repeats,
                                        const Loss& loss);

}  // namespace treewright::boosting
