// What the two growers are given and hand back, across the border.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "arrays.hpp"
#include "criteria/criterion.hpp"
#include "growers/grower.hpp"

namespace treewright {

/// Ranks that were made before, for small tables on which many trees are grown.
void read_ranks(std::vector<Column>& columns, std::size_t n_rows, const Matrix<Rank>& ranks);

/// A table of few rows on which many trees are grown: read and checked once, with its ranks. Of 100,000
/// columns that takes longer than a tree, and a copy of their places some megabytes, so each tree borrows one
/// and gives it back as it was. Whoever calls holds the GIL.
class SharedTable {
  public:
    SharedTable(nb::handle columns, nb::handle category_counts, const std::optional<Matrix<Rank>>& ranks);

    std::size_t n_rows() const { return table_.n_rows; }
    std::vector<Column> lend();
    void take_back(std::vector<Column>&& columns) { spare_.push_back(std::move(columns)); }

  private:
    Table table_;
    std::optional<Matrix<Rank>> ranks_;
    std::vector<std::vector<Column>> spare_;  // at most as many as there were trees at a time
};

/// A table with targets and weights, checked. It takes the columns of the table, which keeps their memory and
/// must outlive it.
Problem read_problem(Table& table, const std::optional<Matrix<std::int32_t>>& labels, nb::handle class_counts,
                     const std::optional<Matrix<double>>& numbers,
                     const std::optional<Vector<double>>& weight);
/// The same from columns that were checked before.
Problem read_problem(std::vector<Column>&& columns, std::size_t n_rows,
                     const std::optional<Matrix<std::int32_t>>& labels, nb::handle class_counts,
                     const std::optional<Matrix<double>>& numbers,
                     const std::optional<Vector<double>>& weight);

/// How gains of categories are corrected: 0 not at all, 1 by weight, 2 by rows.
Correction read_correction(std::int64_t correction);
/// Critical values by degrees of freedom, as many as the classes can have.
std::span<const double> read_critical(const std::optional<Vector<double>>& critical, const Targets& targets);

/// The criterion of a name, if it is one for the targets.
const Criterion& criterion_for(const Problem& problem, const std::string& name);

nb::dict to_dict(GrownTree&& tree);

}  // namespace treewright
