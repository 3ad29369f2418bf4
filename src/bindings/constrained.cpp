// The constrained grower across the border.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "growers/constrained/grower.hpp"
#include "problems.hpp"

namespace treewright {

namespace {

constrained::Missing missing_named(const std::string& name) {
    using constrained::Missing;
    constexpr std::pair<std::string_view, Missing> known[] = {{"learn", Missing::learn},
                                                              {"surrogate", Missing::surrogate},
                                                              {"fractional", Missing::fractional},
                                                              {"category", Missing::category}};
    for (const auto& [each, missing] : known)
        if (each == name) return missing;
    throw std::invalid_argument("missing is '" + name +
                                "'; it must be learn, surrogate, fractional or category");
}

void demand(bool is_right, const char* message) {
    if (!is_right) throw std::invalid_argument(message);
}

void read_groups(constrained::Options& options, nb::handle groups, std::size_t n_columns) {
    options.has_groups = !groups.is_none();
    if (!options.has_groups) return;
    for (nb::handle group : nb::iter(groups)) {
        options.groups.push_back(read_counts(group));
        for (const auto column : options.groups.back())
            demand(column >= 0 && static_cast<std::size_t>(column) < n_columns,
                   "groups name a column that there is not");
    }
}

void read_monotone(constrained::Options& options, const std::optional<Vector<std::int8_t>>& monotone,
                   const Problem& problem) {
    if (!monotone) return;
    options.monotone = {monotone->data(), monotone->shape(0)};
    demand(options.monotone.size() == problem.columns.size(), "monotone needs one number per column");
    demand(!options.scores_known(), "monotone columns need missing learn or category");
    for (std::size_t i = 0; i < options.monotone.size(); ++i) {
        demand(std::abs(options.monotone[i]) <= 1, "monotone is +1, 0 or -1 for each column");
        demand(options.monotone[i] == 0 || !problem.columns[i].is_category(),
               "a category column has no order, so it cannot be monotone");
    }
}

void read_prices(constrained::Options& options, const std::optional<Vector<double>>& prices,
                 const Problem& problem) {
    if (!prices) return;
    options.prices = {prices->data(), prices->shape(0)};
    demand(options.prices.size() == problem.columns.size(), "prices need one number per column");
    for (const double price : options.prices)
        demand(price >= 0 && std::isfinite(price), "a price is negative");
}

void read_costs(constrained::Options& options, const std::optional<Matrix<double>>& costs,
                const Problem& problem, const Criterion& criterion) {
    if (!costs) return;
    demand(criterion.name == "gini", "costs need criterion gini");
    demand(problem.targets.n_outputs == 1, "costs need one target");
    const std::size_t n = problem.targets.n_classes[0];
    demand(costs->shape(0) == n && costs->shape(1) == n, "costs need a number for each pair of classes");
    options.costs = {costs->data(), n * n};
    for (const double cost : options.costs) demand(cost >= 0 && std::isfinite(cost), "a cost is negative");
}

/// Options that cannot go together.
void check_options(const constrained::Options& options, const Problem& problem, const Criterion& criterion) {
    using constrained::Missing;
    demand(!criterion.by_median || (!options.multiway && options.missing != Missing::fractional),
           "medians know no parts of rows and no branch for each category");
    demand(!options.multiway || options.missing != Missing::surrogate,
           "surrogates are for splits into two: multiway needs another way of missing values");
    const bool has_many = options.multiway || options.missing == Missing::category;
    demand(
        !has_many || problem.limits.critical.empty(),
        "the test of significance is for splits into two: it does not go with multiway or missing category");
    demand(!options.release8 || (criterion.by_ratio && options.missing == Missing::fractional &&
                                 options.multiway && problem.targets.n_outputs == 1),
           "release8 needs criterion gain_ratio, missing fractional, multiway and one target");
}

nb::dict to_dict(constrained::Tree&& grown) {
    nb::dict out = to_dict(std::move(grown.tree));
    out["joined"] = to_numpy(std::move(grown.joined));
    out["surrogate_node"] = to_numpy(std::move(grown.surrogate_node));
    out["surrogate_feature"] = to_numpy(std::move(grown.surrogate_feature));
    out["surrogate_low"] = to_numpy(std::move(grown.surrogate_low));
    out["surrogate_high"] = to_numpy(std::move(grown.surrogate_high));
    out["surrogate_subset"] = to_numpy(std::move(grown.surrogate_subset));
    out["surrogate_subsets"] = to_numpy(std::move(grown.surrogate_subsets));
    out["surrogate_reversed"] = to_numpy(std::move(grown.surrogate_reversed));
    out["surrogate_agreement"] = to_numpy(std::move(grown.surrogate_agreement));
    out["surrogate_adjusted"] = to_numpy(std::move(grown.surrogate_adjusted));
    return out;
}

nb::dict grow_constrained(
    nb::handle columns, nb::handle category_counts, const std::optional<Matrix<std::int32_t>>& labels,
    nb::handle class_counts, const std::optional<Matrix<double>>& numbers,
    const std::optional<Vector<double>>& weight, const std::string& criterion_name, std::int64_t max_depth,
    std::int64_t max_splits, std::int64_t min_rows_split, std::int64_t min_rows_leaf, double min_weight_leaf,
    double min_gain, std::int64_t max_columns, std::uint64_t seed,
    const std::optional<Vector<double>>& critical, std::int64_t correction, std::size_t n_threads,
    nb::handle progress, const std::string& missing, std::size_t n_surrogates,
    const std::optional<Vector<std::int8_t>>& monotone, nb::handle groups, std::int64_t max_columns_used,
    const std::optional<Vector<double>>& prices, const std::optional<Matrix<double>>& costs, bool multiway,
    bool once, bool release8, bool is_wide, const std::optional<Vector<double>>& case_weight,
    bool random_splits) {
    Table table = read_table(columns, category_counts);
    Problem problem = read_problem(table, labels, class_counts, numbers, weight);
    problem.is_wide = is_wide && problem.targets.are_classes();
    problem.limits = {.max_depth = max_depth,
                      .max_splits = max_splits,
                      .min_rows_split = min_rows_split,
                      .min_rows_leaf = min_rows_leaf,
                      .min_weight_leaf = min_weight_leaf,
                      .min_gain = min_gain,
                      .max_columns = max_columns,
                      .random_splits = random_splits,
                      .seed = seed,
                      .critical = read_critical(critical, problem.targets),
                      .correction = read_correction(correction)};
    const auto& criterion = criterion_for(problem, criterion_name);
    constrained::Options options;
    options.missing = missing_named(missing);
    options.n_surrogates = n_surrogates;
    options.max_columns_used = max_columns_used;
    options.multiway = multiway;
    options.once = once;
    options.release8 = release8;
    if (case_weight) {
        demand(case_weight->shape(0) == problem.n_rows, "case_weight needs one number per row");
        options.case_weight = {case_weight->data(), problem.n_rows};
    }
    read_groups(options, groups, problem.columns.size());
    read_monotone(options, monotone, problem);
    read_prices(options, prices, problem);
    read_costs(options, costs, problem, criterion);
    check_options(options, problem, criterion);
    constrained::Tree grown;
    without_gil(
        [&](Interrupt& interrupt) {
            problem.interrupt = &interrupt;
            Pool pool(n_threads, interrupt);
            grown = constrained::grow(problem, criterion, options, pool);
        },
        progress);
    return to_dict(std::move(grown));
}

}  // namespace

void bind_constrained(nb::module_& module) {
    using namespace nb::literals;
    module.def("grow_constrained", &grow_constrained, "columns"_a, "n_categories"_a, "labels"_a.none(),
               "n_classes"_a, "numbers"_a.none(), "weight"_a.none(), "criterion"_a, "max_depth"_a,
               "max_splits"_a, "min_rows_split"_a, "min_rows_leaf"_a, "min_weight_leaf"_a, "min_gain"_a,
               "max_columns"_a, "seed"_a, "critical"_a.none(), "correction"_a, "n_threads"_a,
               "progress"_a.none(), "missing"_a, "n_surrogates"_a, "monotone"_a.none(), "groups"_a.none(),
               "max_columns_used"_a, "prices"_a.none(), "costs"_a.none(), "multiway"_a, "once"_a,
               "release8"_a, "is_wide"_a = false, "case_weight"_a.none() = nb::none(),
               "random_splits"_a = false);
}

}  // namespace treewright
