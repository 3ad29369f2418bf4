// Python's door to summing.
#include "tree/statistics.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "arrays.hpp"

namespace treewright {

namespace {

template <class T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

/// Compressed rows of the leaves of a tree; what lies outside the arrays is refused.
SparseRows read_rows(const Vector<std::int32_t>& end, const Vector<std::int64_t>& start,
                     const Vector<std::int32_t>& column, const Vector<double>& value) {
    const SparseRows rows{view(start), view(column), view(value)};
    if (end.shape(0) == 0 || start.shape(0) != end.shape(0) + 1 || rows.start.front() != 0 ||
        rows.start.back() != static_cast<std::int64_t>(column.shape(0)) ||
        column.shape(0) != value.shape(0) || !std::is_sorted(rows.start.begin(), rows.start.end()))
        throw std::invalid_argument("start, column and value are not the rows of a tree");
    return rows;
}

nb::tuple summarise_tree(const std::string& name, const Vector<std::int32_t>& end,
                         const Vector<std::int64_t>& start, const Vector<std::int32_t>& column,
                         const Vector<double>& value, const Vector<std::int32_t>& borders) {
    const auto& criterion = criterion_named(name);
    if (!criterion.of_classes())
        throw std::invalid_argument("criterion '" + name + "' is not one of classes");
    if (borders.shape(0) < 2) throw std::invalid_argument("there is no target");
    const SparseRows rows = read_rows(end, start, column, value);
    Summary summary;
    without_gil([&](Interrupt& interrupt) {
        summary = summarise(criterion, view(end), rows, view(borders), interrupt);
    });
    const std::initializer_list<std::size_t> shape = {end.shape(0), borders.shape(0) - 1};
    return nb::make_tuple(
        to_numpy(std::move(summary.weight), shape), to_numpy(std::move(summary.label), shape),
        to_numpy(std::move(summary.heaviest), shape), to_numpy(std::move(summary.risk), shape));
}

nb::tuple find_wanted(const Vector<std::int32_t>& end, const Vector<std::int64_t>& start,
                      const Vector<std::int32_t>& column, const Vector<double>& value,
                      const Vector<bool>& wanted) {
    const SparseRows rows = read_rows(end, start, column, value);
    if (wanted.shape(0) != end.shape(0)) throw std::invalid_argument("wanted and end differ in length");
    OwnedRows out;
    without_gil([&](Interrupt& interrupt) {
        out = wanted_sums(view(end), rows,
                          {reinterpret_cast<const std::uint8_t*>(wanted.data()), wanted.shape(0)}, interrupt);
    });
    return nb::make_tuple(to_numpy(std::move(out.start)), to_numpy(std::move(out.column)),
                          to_numpy(std::move(out.value)));
}

nb::object find_at(const Vector<std::int32_t>& end, const Vector<std::int64_t>& start,
                   const Vector<std::int32_t>& column, const Vector<double>& value,
                   const Matrix<std::int32_t>& columns) {
    const SparseRows rows = read_rows(end, start, column, value);
    if (columns.shape(0) != end.shape(0)) throw std::invalid_argument("columns and end differ in length");
    std::vector<double> out;
    without_gil([&](Interrupt& interrupt) {
        out = sums_at(view(end), rows, {columns.data(), columns.size()}, columns.shape(1), interrupt);
    });
    return to_numpy(std::move(out), {columns.shape(0), columns.shape(1)});
}

nb::object sum_exactly(const Vector<double>& value, const std::optional<Vector<double>>& weight,
                       const std::optional<Vector<std::int64_t>>& group, std::size_t n_groups) {
    const auto weights = weight ? view(*weight) : std::span<const double>();
    if (weight && weights.size() != value.shape(0))
        throw std::invalid_argument("value and weight differ in length");
    const auto groups = group ? view(*group) : std::span<const std::int64_t>();
    const std::int64_t limit = n_groups;
    if (group ? groups.size() != value.shape(0) : n_groups != 1)
        throw std::invalid_argument("group needs a number for each value");
    if (std::any_of(groups.begin(), groups.end(), [&](auto each) { return each < 0 || each >= limit; }))
        throw std::invalid_argument("a group is not below n_groups");
    return to_numpy(exact_sums(view(value), weights, groups, n_groups));
}

template <void (*join)(std::span<const std::int32_t>, std::size_t, double*)>
nb::object joined(const Vector<std::int32_t>& end, const Matrix<double>& statistic) {
    if (statistic.shape(0) != end.shape(0)) throw std::invalid_argument("statistic and end differ in length");
    std::vector<double> out(statistic.data(), statistic.data() + statistic.size());
    join(view(end), statistic.shape(1), out.data());
    return to_numpy(std::move(out), {statistic.shape(0), statistic.shape(1)});
}

}  // namespace

void bind_summing(nb::module_& module) {
    using namespace nb::literals;
    module.def("summarise", &summarise_tree, "criterion"_a, "end"_a, "start"_a, "column"_a, "value"_a,
               "borders"_a);
    module.def("wanted_sums", &find_wanted, "end"_a, "start"_a, "column"_a, "value"_a, "wanted"_a);
    module.def("sums_at", &find_at, "end"_a, "start"_a, "column"_a, "value"_a, "columns"_a);
    module.def("exact_sums", &sum_exactly, "value"_a, "weight"_a = nb::none(), "group"_a = nb::none(),
               "n_groups"_a = 1);
    module.def("join_classes", &joined<join_classes>, "end"_a, "statistic"_a);
    module.def("join_moments", &joined<join_moments>, "end"_a, "statistic"_a);
}

}  // namespace treewright
