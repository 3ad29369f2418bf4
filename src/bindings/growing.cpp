// Python's door to growing.
#include "growers/grower.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "criteria/criterion.hpp"
#include "data/binning.hpp"
#include "data/ranks.hpp"
#include "growers/oblique/grower.hpp"
#include "growers/thresholds.hpp"
#include "problems.hpp"

namespace treewright {

namespace {

nb::list list_criteria() {
    nb::list names;
    for (const auto& criterion : criteria())
        names.append(
            nb::make_tuple(std::string(criterion.name), criterion.of_classes() ? "classes" : "numbers"));
    names.attr("sort")();
    return names;
}

nb::object risk(const std::string& name, const Matrix<double>& statistic) {
    const auto& criterion = criterion_named(name);
    if (!criterion.of_classes())
        throw std::invalid_argument("criterion '" + name + "' is not one of classes");
    std::vector<double> out(statistic.shape(0));
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = criterion.risk(Weights(statistic.data() + i * statistic.shape(1), statistic.shape(1)));
    return to_numpy(std::move(out));
}

/// Bins that were made before, for tables too large to be sorted as they are.
void read_bins(Problem& problem, const std::optional<Matrix<FineBin>>& bins,
               const std::optional<Matrix<std::uint8_t>>& is_mixed) {
    if (!bins || !is_mixed) return;
    const std::size_t n_columns = problem.columns.size();
    if (bins->shape(0) != problem.n_rows || bins->shape(1) != n_columns || is_mixed->shape(0) != n_columns ||
        is_mixed->shape(1) != 256)
        throw std::invalid_argument("bins do not fit the columns");
    problem.fine_bins = bins->data();
    for (std::size_t i = 0; i < n_columns; ++i) {
        if (problem.columns[i].n_categories > max_bins) continue;
        problem.columns[i].fine_bins = bins->data() + i;
        problem.columns[i].fine_stride = n_columns;
        problem.columns[i].is_mixed = is_mixed->data() + i * 256;
    }
}

/// The problem of one call: of a table of its own, or of one that is shared and given back.
class CalledProblem {
  public:
    template <class... Targets>
    CalledProblem(nb::handle columns, nb::handle category_counts, const Targets&... targets) {
        if (nb::isinstance<SharedTable>(columns)) {
            lender_ = nb::cast<SharedTable*>(columns);
            problem = read_problem(lender_->lend(), lender_->n_rows(), targets...);
        } else {
            table_ = read_table(columns, category_counts);
            problem = read_problem(table_, targets...);
        }
    }
    CalledProblem(const CalledProblem&) = delete;
    CalledProblem& operator=(const CalledProblem&) = delete;
    ~CalledProblem() {
        if (lender_) lender_->take_back(std::move(problem.columns));
    }

    Problem problem;

  private:
    SharedTable* lender_ = nullptr;
    Table table_;
};

nb::object rank_table(nb::handle columns, nb::handle category_counts, std::size_t n_threads) {
    const Table table = read_table(columns, category_counts);
    if (table.n_rows > max_ranked_rows) throw std::invalid_argument("the table has too many rows for ranks");
    std::vector<Rank> ranks;
    without_gil([&](Interrupt& interrupt) {
        Pool pool(n_threads, interrupt);
        ranks = rank_cells(table.columns, table.n_rows, pool, interrupt);
    });
    return to_numpy(std::move(ranks), {table.columns.size(), table.n_rows});
}

nb::tuple bin_table(nb::handle columns, nb::handle category_counts, std::size_t n_threads) {
    const Table table = read_table(columns, category_counts);
    Bins bins;
    without_gil([&](Interrupt& interrupt) {
        Pool pool(n_threads, interrupt);
        bins = bin_columns(table.columns, table.n_rows, pool, interrupt);
    });
    const std::size_t n_columns = table.columns.size();
    return nb::make_tuple(to_numpy(std::move(bins.fine), {table.n_rows, n_columns}),
                          to_numpy(std::move(bins.is_mixed), {n_columns, 256}));
}

/// The columns that may be added up: in order, of numbers, that there are.
Combining read_combining(nb::handle combined, std::int64_t max_combined, const Problem& problem) {
    Combining combining{read_counts(combined),
                        static_cast<std::size_t>(std::max<std::int64_t>(2, max_combined))};
    std::int32_t last = -1;
    for (const auto column : combining.columns) {
        if (column <= last || column >= std::ssize(problem.columns) || problem.columns[column].is_category())
            throw std::invalid_argument("combined needs the places of columns of numbers, in order");
        last = column;
    }
    return combining;
}

nb::dict grow_tree(nb::handle columns, nb::handle category_counts, const std::optional<Matrix<FineBin>>& bins,
                   const std::optional<Matrix<std::uint8_t>>& is_mixed,
                   const std::optional<Matrix<std::int32_t>>& labels, nb::handle class_counts, bool is_wide,
                   const std::optional<Matrix<double>>& numbers, const std::optional<Vector<double>>& weight,
                   const std::string& criterion_name, std::int64_t max_depth, std::int64_t max_splits,
                   std::int64_t min_rows_split, std::int64_t min_rows_leaf, double min_weight_leaf,
                   double min_gain, std::int64_t max_columns, bool random_splits, std::uint64_t seed,
                   std::int64_t small_rows, const std::optional<Vector<double>>& critical,
                   std::int64_t correction, nb::handle combined, std::int64_t max_combined,
                   std::size_t n_threads, nb::handle progress, const std::optional<Matrix<Rank>>& ranks,
                   std::int64_t word_rows) {
    CalledProblem called(columns, category_counts, labels, class_counts, numbers, weight);
    Problem& problem = called.problem;
    read_bins(problem, bins, is_mixed);
    if (ranks) read_ranks(problem.columns, problem.n_rows, *ranks);
    problem.is_wide = is_wide && problem.targets.are_classes();
    problem.limits = {max_depth,
                      max_splits,
                      min_rows_split,
                      min_rows_leaf,
                      min_weight_leaf,
                      min_gain,
                      max_columns,
                      random_splits,
                      seed,
                      small_rows,
                      word_rows,
                      read_critical(critical, problem.targets),
                      read_correction(correction)};
    const auto& criterion = criterion_for(problem, criterion_name);
    const auto combining = read_combining(combined, max_combined, problem);
    GrownTree tree;
    without_gil(
        [&](Interrupt& interrupt) {
            problem.interrupt = &interrupt;
            if (combining.columns.size() > 1) {
                Pool pool(n_threads, interrupt);
                tree = grow_oblique(problem, criterion, combining, pool);
                return;
            }
            // a table without bins is small: threads would cost more than they bring
            Pool pool(bins ? n_threads : 1, interrupt);
            tree = grow(problem, criterion, pool);
        },
        progress);
    return to_dict(std::move(tree));
}

template <double (*threshold)(double, double)>
nb::object thresholds(const Vector<double>& low, const Vector<double>& high) {
    if (low.shape(0) != high.shape(0)) throw std::invalid_argument("low and high differ in length");
    std::vector<double> out(low.shape(0));
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = std::isnan(low.data()[i]) ? low.data()[i] : threshold(low.data()[i], high.data()[i]);
    return to_numpy(std::move(out));
}

}  // namespace

void bind_growing(nb::module_& module) {
    using namespace nb::literals;
    module.attr("small_rows") = default_small_rows;
    module.attr("word_rows") = default_word_rows;
    module.def("criteria", &list_criteria);
    module.def("risk", &risk, "criterion"_a, "statistic"_a);
    nb::class_<SharedTable>(module, "SharedTable")
        .def(nb::init<nb::handle, nb::handle, const std::optional<Matrix<Rank>>&>(), "columns"_a,
             "n_categories"_a, "ranks"_a.none() = nb::none());
    module.def("grow", &grow_tree, "columns"_a, "n_categories"_a, "bins"_a.none(), "is_mixed"_a.none(),
               "labels"_a.none(), "n_classes"_a, "is_wide"_a, "numbers"_a.none(), "weight"_a.none(),
               "criterion"_a, "max_depth"_a, "max_splits"_a, "min_rows_split"_a, "min_rows_leaf"_a,
               "min_weight_leaf"_a, "min_gain"_a, "max_columns"_a, "random_splits"_a, "seed"_a,
               "small_rows"_a, "critical"_a.none(), "correction"_a, "combined"_a, "max_combined"_a,
               "n_threads"_a, "progress"_a.none(), "ranks"_a = nb::none(), "word_rows"_a = 0);
    module.def("bin_columns", &bin_table, "columns"_a, "n_categories"_a, "n_threads"_a);
    module.attr("max_ranked_rows") = max_ranked_rows;
    module.def("rank_cells", &rank_table, "columns"_a, "n_categories"_a, "n_threads"_a);
    module.def("readable", &thresholds<readable_threshold>, "low"_a, "high"_a);
    module.def("midpoint", &thresholds<middle_threshold>, "low"_a, "high"_a);
}

}  // namespace treewright
