// Python's door to sums of columns.
#include "applying_sums.hpp"
#include "arrays.hpp"

namespace treewright {

namespace {

template <class T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

/// Pairs of columns and weights; what the columns of the table cannot add up is refused.
std::vector<Direction> read_directions(nb::handle pairs, const std::vector<Column>& columns) {
    std::vector<Direction> directions;
    for (const nb::handle pair : pairs) {
        const auto of = nb::cast<Vector<std::int32_t>>(pair[0]);
        const auto by = nb::cast<Vector<double>>(pair[1]);
        if (of.shape(0) == 0 || of.shape(0) != by.shape(0))
            throw std::invalid_argument("a direction needs a weight for each of its columns");
        for (const auto column : view(of))
            if (column < 0 || column >= static_cast<std::int32_t>(columns.size()) ||
                columns[column].is_category())
                throw std::invalid_argument("a direction needs columns of numbers");
        directions.push_back({{of.data(), of.data() + of.shape(0)}, {by.data(), by.data() + by.shape(0)}});
    }
    return directions;
}

nb::object apply_tree(nb::handle columns, nb::handle pairs, const Vector<std::int32_t>& end,
                      const Vector<std::int32_t>& feature, const Vector<double>& threshold,
                      const Vector<std::int64_t>& subset, const Vector<bool>& missing_left,
                      const Vector<bool>& heavier_left, const Vector<std::uint8_t>& subsets,
                      std::size_t n_threads) {
    Table table = read_table(columns);
    const auto directions = read_directions(pairs, table.columns);
    for (const auto each : view(feature))
        if (each >= static_cast<std::int32_t>(table.columns.size() + directions.size()))
            throw std::invalid_argument("a test names a column beyond those there are");
    const auto bytes = [](const Vector<bool>& array) {
        return std::span<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(array.data()),
                                             array.shape(0));
    };
    const Routes routes{view(end),           view(feature),       view(threshold), view(subset),
                        bytes(missing_left), bytes(heavier_left), view(subsets)};
    std::vector<std::int32_t> leaf(table.n_rows);
    without_gil([&](Interrupt& interrupt) {
        constexpr std::size_t worth_threads = 20000;
        Pool pool(table.n_rows < worth_threads ? 1 : n_threads, interrupt);
        apply_sums(routes, directions, table.columns, leaf, pool, interrupt);
    });
    return to_numpy(std::move(leaf));
}

}  // namespace

void bind_combining(nb::module_& module) {
    using namespace nb::literals;
    module.def("apply_sums", &apply_tree, "columns"_a, "directions"_a, "end"_a, "feature"_a, "threshold"_a,
               "subset"_a, "missing_left"_a, "heavier_left"_a, "subsets"_a, "n_threads"_a);
}

}  // namespace treewright
