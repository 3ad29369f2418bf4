// A tree of Python's as the core predicts with it.
#pragma once

#include "arrays.hpp"
#include "predicting/tree_view.hpp"

namespace treewright {

/// A view of a tree's arrays, which it keeps alive.
class OwningTreeView {
  public:
    OwningTreeView(std::size_t n_columns, const Vector<std::int32_t>& end,
                   const Vector<std::int32_t>& feature, const Vector<double>& threshold,
                   const Vector<std::int64_t>& subset, const Vector<bool>& missing_left,
                   const Vector<bool>& heavier_left, const Vector<std::uint8_t>& subsets,
                   const nb::sequence& directions, nb::handle surrogates);

    const TreeView& operator*() const { return tree_; }

    /// Columns of rows for this tree; others are refused.
    Table read_rows(nb::handle columns) const;

  private:
    SurrogateTests read_surrogates(nb::handle arrays);

    std::vector<AnyArray> owners_;  // filled while `tree_` is made
    TreeView tree_;
};

}  // namespace treewright
