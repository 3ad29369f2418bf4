// Python's door to gradient boosting.
#include "boosting/boosting.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "problems.hpp"

namespace treewright {

namespace {

using namespace boosting;
using WritableMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A table whose codes are below the numbers of categories, checked.
Table read_coded_table(nb::handle columns, nb::handle category_counts) {
    Table table = read_table(columns, category_counts);
    check_codes(table.columns, table.n_rows);
    return table;
}

Aims read_aims(const Vector<double>& target, const std::optional<Vector<double>>& weight, const Loss& loss,
               std::size_t n_outputs) {
    Aims aims{target.shape(0), target.data(), weight ? weight->data() : nullptr};
    if (weight && weight->shape(0) != aims.n_rows)
        throw std::invalid_argument("weight and target differ in length");
    if (n_outputs != loss.n_outputs()) throw std::invalid_argument("raw needs a line for each output");
    loss.check(aims);
    return aims;
}

const Row* read_rows(const std::optional<Vector<Row>>& rows, std::size_t n_rows, std::size_t n_given) {
    if ((rows ? rows->shape(0) : n_rows) != n_given)
        throw std::invalid_argument("target and rows differ in length");
    if (!rows) return nullptr;
    for (std::size_t i = 0; i < n_given; ++i)
        if (rows->data()[i] >= n_rows) throw std::invalid_argument("there is no such row");
    return rows->data();
}

/// Tells Python the losses and the leaves after an iteration; what it raises ends the work.
Listener listener_for(nb::handle after, std::size_t n_outputs) {
    if (after.is_none()) return {};
    return [after, n_outputs](const Boosted& found) {
        nb::gil_scoped_acquire acquire;
        std::size_t n_leaves = 0;
        for (std::size_t i = found.trees.size() - n_outputs; i < found.trees.size(); ++i)
            n_leaves += (found.trees[i].end.size() + 1) / 2;
        const auto last = [](const std::vector<double>& losses) {
            return losses.empty() ? std::numeric_limits<double>::quiet_NaN() : losses.back();
        };
        try {
            return nb::cast<bool>(after(n_leaves, last(found.train_loss), last(found.validation_loss)));
        } catch (nb::python_error& error) {
            error.restore();
            throw Interrupted();
        }
    };
}

nb::dict boost_table(nb::handle columns, nb::handle category_counts, const std::optional<Vector<Row>>& rows,
                     std::size_t n_train, const Vector<double>& target,
                     const std::optional<Vector<double>>& weight, WritableMatrix raw, const std::string& loss,
                     double quantile, std::size_t n_classes, std::size_t max_cells,
                     std::size_t first_iteration, std::size_t n_iterations, std::int64_t max_leaves,
                     std::int64_t max_depth, std::int64_t min_rows_leaf, double l2, double max_step,
                     double learning_rate, std::size_t columns_drawn,
                     const std::optional<Vector<std::int8_t>>& monotone,
                     std::vector<std::vector<std::uint32_t>> groups, std::uint64_t seed, bool scored,
                     std::size_t patience, double tolerance, std::vector<double> train_loss,
                     std::vector<double> validation_loss, std::size_t n_threads, nb::handle after) {
    const Table table = read_coded_table(columns, category_counts);
    Plan plan;
    plan.loss = loss_named(loss, quantile, n_classes);
    const Aims aims = read_aims(target, weight, *plan.loss, raw.shape(0));
    const Row* const chosen = read_rows(rows, table.n_rows, aims.n_rows);
    if (raw.shape(1) != aims.n_rows) throw std::invalid_argument("raw and target differ in length");
    if (n_train == 0 || n_train > aims.n_rows) throw std::invalid_argument("there are no rows to learn from");
    if (max_cells < 2 || max_cells > 255) throw std::invalid_argument("max_cells must be in [2, 255]");
    for (auto& group : groups) {
        std::sort(group.begin(), group.end());
        if (!group.empty() && group.back() >= table.columns.size())
            throw std::invalid_argument("a group has a column that is not there");
    }
    plan.limits = {max_leaves,    max_depth, min_rows_leaf,     1e-3, l2, max_step, learning_rate,
                   columns_drawn, {},        std::move(groups), seed};
    if (monotone) {
        if (monotone->shape(0) != table.columns.size())
            throw std::invalid_argument("monotone needs one number per column");
        plan.limits.monotone.assign(monotone->data(), monotone->data() + monotone->shape(0));
    }
    plan.most_cells = max_cells;
    plan.first_iteration = first_iteration;
    plan.n_iterations = n_iterations;
    plan.n_train = n_train;
    plan.is_scored = scored;
    plan.patience = patience;
    plan.tolerance = tolerance;
    Boosted found{{}, std::move(train_loss), std::move(validation_loss)};
    without_gil([&](Interrupt& interrupt) {
        Pool pool(n_threads, interrupt);
        found = boost(table.columns, chosen, aims, raw.data(), plan, std::move(found),
                      listener_for(after, plan.loss->n_outputs()), pool, interrupt);
    });
    nb::list trees;
    for (auto& tree : found.trees) trees.append(to_dict(std::move(tree)));
    nb::dict out;
    out["trees"] = trees;
    out["train_loss"] = to_numpy(std::move(found.train_loss));
    out["validation_loss"] = to_numpy(std::move(found.validation_loss));
    return out;
}

nb::tuple gradients_of(const Vector<double>& target, const std::optional<Vector<double>>& weight,
                       const Matrix<double>& raw, const std::string& name, double quantile,
                       std::size_t n_classes) {
    const auto loss = loss_named(name, quantile, n_classes);
    const Aims aims = read_aims(target, weight, *loss, raw.shape(0));
    if (raw.shape(1) != aims.n_rows) throw std::invalid_argument("raw and target differ in length");
    std::vector<double> gradient(raw.size()), hessian(raw.size());
    without_gil([&](Interrupt& interrupt) {
        Pool pool(1, interrupt);
        find_gradients(*loss, aims, raw.data(), aims.n_rows, gradient.data(), hessian.data(), pool,
                       interrupt);
    });
    return nb::make_tuple(to_numpy(std::move(gradient), {raw.shape(0), raw.shape(1)}),
                          to_numpy(std::move(hessian), {raw.shape(0), raw.shape(1)}));
}

double loss_of(const Vector<double>& target, const std::optional<Vector<double>>& weight,
               const Matrix<double>& raw, const std::string& name, double quantile, std::size_t n_classes) {
    const auto loss = loss_named(name, quantile, n_classes);
    const Aims aims = read_aims(target, weight, *loss, raw.shape(0));
    if (raw.shape(1) != aims.n_rows) throw std::invalid_argument("raw and target differ in length");
    double mean = 0;
    without_gil([&](Interrupt& interrupt) {
        Pool pool(1, interrupt);
        mean = mean_loss(*loss, aims, raw.data(), aims.n_rows, pool, interrupt);
    });
    return mean;
}

}  // namespace

void bind_boosting(nb::module_& module) {
    using namespace nb::literals;
    module.def("boost", &boost_table, nb::kw_only(), "columns"_a, "n_categories"_a, "rows"_a.none(),
               "n_train"_a, "target"_a, "weight"_a.none(), "raw"_a.noconvert(), "loss"_a, "quantile"_a,
               "n_classes"_a, "max_cells"_a, "first_iteration"_a, "n_iterations"_a, "max_leaves"_a,
               "max_depth"_a, "min_rows_leaf"_a, "l2"_a, "max_step"_a, "learning_rate"_a, "columns_drawn"_a,
               "monotone"_a.none(), "groups"_a, "seed"_a, "scored"_a, "patience"_a, "tolerance"_a,
               "train_loss"_a, "validation_loss"_a, "n_threads"_a, "after"_a.none());
    module.def("loss_gradients", &gradients_of, "target"_a, "weight"_a.none(), "raw"_a, "loss"_a,
               "quantile"_a = 0.5, "n_classes"_a = 2);
    module.def("mean_loss", &loss_of, "target"_a, "weight"_a.none(), "raw"_a, "loss"_a, "quantile"_a = 0.5,
               "n_classes"_a = 2);
}

}  // namespace treewright
