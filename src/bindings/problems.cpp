// What the two growers are given and hand back, across the border.
#include "problems.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace treewright {

namespace {

void read_targets(Problem& problem, const std::optional<Matrix<std::int32_t>>& labels,
                  const std::vector<std::int32_t>& n_classes, const std::optional<Matrix<double>>& numbers,
                  const std::optional<Vector<double>>& weight) {
    if (labels.has_value() == numbers.has_value())
        throw std::invalid_argument("targets are either labels or numbers");
    const auto check = [&](std::size_t n) {
        if (n != problem.n_rows) throw std::invalid_argument("targets and columns differ in length");
    };
    auto& targets = problem.targets;
    if (labels) {
        check(labels->shape(1));
        targets.n_outputs = labels->shape(0);
        targets.labels = labels->data();
        targets.n_classes = n_classes;
        if (n_classes.size() != targets.n_outputs)
            throw std::invalid_argument("n_classes needs one number per target");
        for (std::size_t output = 0; output < targets.n_outputs; ++output)
            for (std::size_t row = 0; row < problem.n_rows; ++row) {
                const auto label = targets.labels[output * problem.n_rows + row];
                if (label < 0 || label >= n_classes[output])
                    throw std::invalid_argument("a label is not below the number of classes");
            }
    } else {
        check(numbers->shape(1));
        targets.n_outputs = numbers->shape(0);
        targets.numbers = numbers->data();
    }
    if (targets.n_outputs == 0) throw std::invalid_argument("there is no target");
    if (weight) {
        check(weight->shape(0));
        targets.weight = weight->data();
    }
}

}  // namespace

Problem read_problem(std::vector<Column>&& columns, std::size_t n_rows,
                     const std::optional<Matrix<std::int32_t>>& labels, nb::handle class_counts,
                     const std::optional<Matrix<double>>& numbers,
                     const std::optional<Vector<double>>& weight) {
    Problem problem;
    problem.n_rows = n_rows;
    problem.columns = std::move(columns);
    if (problem.n_rows == 0 || problem.columns.empty()) throw std::invalid_argument("the table is empty");
    if (problem.n_rows > std::numeric_limits<Row>::max() / 2)
        throw std::invalid_argument("the table has more than 2^31 rows");
    read_targets(problem, labels, read_counts(class_counts), numbers, weight);
    return problem;
}

Problem read_problem(Table& table, const std::optional<Matrix<std::int32_t>>& labels, nb::handle class_counts,
                     const std::optional<Matrix<double>>& numbers,
                     const std::optional<Vector<double>>& weight) {
    check_codes(table.columns, table.n_rows);
    return read_problem(std::move(table.columns), table.n_rows, labels, class_counts, numbers, weight);
}

SharedTable::SharedTable(nb::handle columns, nb::handle category_counts,
                         const std::optional<Matrix<Rank>>& ranks)
    : table_(read_table(columns, category_counts)), ranks_(ranks) {
    check_codes(table_.columns, table_.n_rows);
    if (ranks_) read_ranks(table_.columns, table_.n_rows, *ranks_);
}

std::vector<Column> SharedTable::lend() {
    if (spare_.empty()) return table_.columns;
    auto columns = std::move(spare_.back());
    spare_.pop_back();
    return columns;
}

void read_ranks(std::vector<Column>& columns, std::size_t n_rows, const Matrix<Rank>& ranks) {
    if (ranks.shape(0) != columns.size() || ranks.shape(1) != n_rows)
        throw std::invalid_argument("ranks do not fit the columns");
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].ranks = ranks.data() + i * n_rows;
}

Correction read_correction(std::int64_t correction) {
    if (correction < 0 || correction > 2) throw std::invalid_argument("correction is 0, 1 or 2");
    return static_cast<Correction>(correction);
}

std::span<const double> read_critical(const std::optional<Vector<double>>& critical, const Targets& targets) {
    if (!critical) return {};
    std::size_t most = 0;
    for (const auto n : targets.n_classes) most += std::max(n - 1, 0);
    if (!targets.are_classes() || critical->shape(0) <= most)
        throw std::invalid_argument("critical needs a number for each degree of freedom of the classes");
    return {critical->data(), critical->shape(0)};
}

const Criterion& criterion_for(const Problem& problem, const std::string& name) {
    const auto& criterion = criterion_named(name);
    if (criterion.of_classes() != problem.targets.are_classes())
        throw std::invalid_argument("criterion '" + name + "' does not fit the target");
    return criterion;
}

nb::dict to_dict(GrownTree&& tree) {
    nb::dict out;
    const std::size_t n = tree.end.size();
    out["end"] = to_numpy(std::move(tree.end));
    out["feature"] = to_numpy(std::move(tree.feature));
    out["step"] = to_numpy(std::move(tree.step));
    out["low"] = to_numpy(std::move(tree.low));
    out["high"] = to_numpy(std::move(tree.high));
    out["subset"] = to_numpy(std::move(tree.subset));
    out["rows"] = to_numpy(std::move(tree.rows));
    out["missing_left"] = to_numpy(std::move(tree.missing_left));
    out["subsets"] = to_numpy(std::move(tree.subsets));
    nb::list directions;
    for (auto& direction : tree.directions)
        directions.append(
            nb::make_tuple(to_numpy(std::move(direction.columns)), to_numpy(std::move(direction.weights))));
    out["directions"] = directions;
    if (tree.leaves.start.size() == 1) {
        out["statistic"] = to_numpy(std::move(tree.statistic), {n, tree.width});
    } else {
        out["start"] = to_numpy(std::move(tree.leaves.start));
        out["column"] = to_numpy(std::move(tree.leaves.column));
        out["value"] = to_numpy(std::move(tree.leaves.value));
    }
    return out;
}

}  // namespace treewright
