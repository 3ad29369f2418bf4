// Python's door to applying.
#include "applying.hpp"

#include "arrays.hpp"

namespace treewright {

namespace {

template <class T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

nb::object apply_tree(nb::handle columns, const Vector<std::int32_t>& end,
                      const Vector<std::int32_t>& feature, const Vector<double>& threshold,
                      const Vector<std::int64_t>& subset, const Vector<bool>& missing_left,
                      const Vector<bool>& heavier_left, const Vector<std::uint8_t>& subsets,
                      std::size_t n_threads) {
    Table table = read_table(columns);
    const auto bytes = [](const Vector<bool>& array) {
        return std::span<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(array.data()),
                                             array.shape(0));
    };
    const Routes routes{view(end),           view(feature),       view(threshold), view(subset),
                        bytes(missing_left), bytes(heavier_left), view(subsets)};
    std::vector<std::int32_t> leaf(table.n_rows);
    without_gil([&](Interrupt& interrupt) {
        constexpr std::size_t worth_threads = 50000;
        Pool pool(table.n_rows < worth_threads ? 1 : n_threads, interrupt);
        apply(routes, table.columns, table.n_rows, leaf.data(), pool, interrupt);
    });
    return to_numpy(std::move(leaf));
}

}  // namespace

void bind_applying(nb::module_& module) {
    using namespace nb::literals;
    module.def("apply", &apply_tree, "columns"_a, "end"_a, "feature"_a, "threshold"_a, "subset"_a,
               "missing_left"_a, "heavier_left"_a, "subsets"_a, "n_threads"_a);
}

}  // namespace treewright
