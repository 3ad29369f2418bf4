// How much each column adds to a tree's answers: exact Shapley values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "predicting/tree_view.hpp"
#include "support/threads.hpp"

namespace treewright {

/// What the leaves answer, one line of `width` numbers for each leaf in preorder. Lines may be made of blocks
/// that add up to the same for every leaf, as the shares of classes do: the last number of such a block then
/// needs no work of its own. Without blocks every number stands for itself.
struct LeafAnswers {
    std::span<const double> values;
    std::size_t width;
    std::vector<std::int32_t> blocks;
};

/// out[row][column][number] of the answers, where a column whose value is not known is averaged out by the
/// weights of the nodes.
void shapley_by_weights(const TreeView& tree, std::span<const double> weight, const LeafAnswers& answers,
                        const std::vector<Column>& columns, std::size_t n_rows, double* out, Pool& pool,
                        Interrupt& interrupt);

/// The same where the values of a column that is not known are those of the rows of another table,
/// whose weights add up to 1.
void shapley_by_background(const TreeView& tree, const LeafAnswers& answers,
                           const std::vector<Column>& columns, std::size_t n_rows,
                           const std::vector<Column>& background, std::span<const double> background_weight,
                           double* out, Pool& pool, Interrupt& interrupt);

}  // namespace treewright
