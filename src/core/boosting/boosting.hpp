// Gradient boosting: tree after tree, each a step down the loss.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "boosting/cells.hpp"
#include "boosting/losses.hpp"
#include "boosting/splits.hpp"
#include "growers/grower.hpp"

namespace treewright::boosting {

struct Plan {
    std::shared_ptr<const Loss> loss;
    Limits limits;
    std::size_t most_cells = 255;  // for the values of a column
    std::size_t first_iteration = 0, n_iterations = 100;
    std::size_t n_train = 0;   // the rows after these only judge
    bool is_scored = false;    // whether the loss is told after each iteration
    std::size_t patience = 0;  // iterations without a lower loss after which to stop; 0: never
    double tolerance = 0;
};

/// What was found, and how the mean losses fell: at the start, unless some were given, and after each
/// iteration.
struct Boosted {
    std::vector<GrownTree> trees;  // iteration by iteration, one for each output
    std::vector<double> train_loss, validation_loss;
};

/// What is told after an iteration; an answer of true ends the boosting.
using Listener = std::function<bool(const Boosted&)>;

/// Adds trees. `aims` and `raw` (outputs, rows) are those of all rows, in the order of `rows` (null: as in
/// the table); the trees' answers are added to `raw`. Losses in `so_far` count as those of earlier
/// iterations.
Boosted boost(const std::vector<Column>& columns, const Row* rows, const Aims& aims, double* raw,
              const Plan& plan, Boosted so_far, const Listener& listener, Pool& pool, Interrupt& interrupt);

}  // namespace treewright::boosting
