// Python's door to applying.
#include "applying.hpp"

#include "arrays.hpp"

namespace treewright {

namespace {

/// Threads for many rows; a few are done before one has started.
std::size_t worth_threads(std::size_t n_rows, std::size_t n_threads) {
    constexpr std::size_t many = 50000;
    return n_rows < many ? 1 : n_threads;
}

nb::object apply_tree(nb::handle columns, const Vector<std::int32_t>& end,
                      const Vector<std::int32_t>& feature, const Vector<double>& threshold,
                      const Vector<std::int64_t>& subset, const Vector<bool>& missing_left,
                      const Vector<bool>& heavier_left, const Vector<std::uint8_t>& subsets,
                      std::size_t n_threads) {
    const Table table = read_table(columns);
    const Routes routes{view(end),           view(feature),       view(threshold), view(subset),
                        bytes(missing_left), bytes(heavier_left), view(subsets)};
    std::vector<std::int32_t> leaf(table.n_rows);
    without_gil([&](Interrupt& interrupt) {
        Pool pool(worth_threads(table.n_rows, n_threads), interrupt);
        apply(routes, table.columns, table.n_rows, leaf.data(), pool, interrupt);
    });
    return to_numpy(std::move(leaf));
}

nb::object apply_by_surrogates(nb::handle columns, const Vector<std::int32_t>& end,
                               const Vector<std::int32_t>& feature, const Vector<double>& threshold,
                               const Vector<std::int64_t>& subset, const Vector<bool>& missing_left,
                               const Vector<bool>& heavier_left, const Vector<std::uint8_t>& subsets,
                               const Vector<std::int64_t>& start, const Vector<std::int32_t>& other_feature,
                               const Vector<double>& other_threshold,
                               const Vector<std::int64_t>& other_subset, const Vector<bool>& reversed,
                               const Vector<std::uint8_t>& other_subsets, std::size_t n_threads) {
    const Table table = read_table(columns);
    const Routes routes{view(end),           view(feature),       view(threshold), view(subset),
                        bytes(missing_left), bytes(heavier_left), view(subsets)};
    const StandIns stand_ins{view(start),        view(other_feature), view(other_threshold),
                             view(other_subset), bytes(reversed),     view(other_subsets)};
    std::vector<std::int32_t> leaf(table.n_rows);
    without_gil([&](Interrupt& interrupt) {
        Pool pool(worth_threads(table.n_rows, n_threads), interrupt);
        apply(routes, stand_ins, table.columns, table.n_rows, leaf.data(), pool, interrupt);
    });
    return to_numpy(std::move(leaf));
}

nb::object spread_rows(nb::handle columns, const Vector<std::int32_t>& end,
                       const Vector<std::int32_t>& feature, const Vector<double>& threshold,
                       const Vector<std::int64_t>& subset, const Vector<bool>& heavier_left,
                       const Vector<std::uint8_t>& subsets, const Vector<double>& weight, std::size_t first,
                       std::size_t most) {
    const Table table = read_table(columns);
    const Routes routes{view(end),           view(feature),       view(threshold), view(subset),
                        bytes(heavier_left), bytes(heavier_left), view(subsets)};
    Parts parts;
    without_gil([&](Interrupt& interrupt) {
        parts = spread(routes, view(weight), table.columns, first, table.n_rows, most, interrupt);
    });
    return nb::make_tuple(to_numpy(std::move(parts.start)), to_numpy(std::move(parts.leaf)),
                          to_numpy(std::move(parts.share)));
}

}  // namespace

void bind_applying(nb::module_& module) {
    using namespace nb::literals;
    module.def("apply", &apply_tree, "columns"_a, "end"_a, "feature"_a, "threshold"_a, "subset"_a,
               "missing_left"_a, "heavier_left"_a, "subsets"_a, "n_threads"_a);
    module.def("apply_by_surrogates", &apply_by_surrogates, "columns"_a, "end"_a, "feature"_a, "threshold"_a,
               "subset"_a, "missing_left"_a, "heavier_left"_a, "subsets"_a, "start"_a, "other_feature"_a,
               "other_threshold"_a, "other_subset"_a, "reversed"_a, "other_subsets"_a, "n_threads"_a);
    module.def("spread", &spread_rows, "columns"_a, "end"_a, "feature"_a, "threshold"_a, "subset"_a,
               "heavier_left"_a, "subsets"_a, "weight"_a, "first"_a, "most"_a);
}

}  // namespace treewright
