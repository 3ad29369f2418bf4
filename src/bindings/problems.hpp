// What the two growers are given and hand back, across the border.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "arrays.hpp"
#include "criteria/criterion.hpp"
#include "growers/grower.hpp"

namespace treewright {

/// A table with targets and weights, checked. It takes the columns of the table, which keeps their memory and
/// must outlive it.
Problem read_problem(Table& table, const std::optional<Matrix<std::int32_t>>& labels, nb::handle class_counts,
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
