// Python's entry point to trees that predict.
#include "tree_view.hpp"

namespace treewright {

namespace {

std::vector<Direction> read_directions(const nb::sequence& pairs) {
    std::vector<Direction> directions;
    for (const nb::handle pair : pairs) {
        const auto columns = nb::cast<Vector<std::int32_t>>(pair[0]);
        const auto weights = nb::cast<Vector<double>>(pair[1]);
        directions.push_back({{columns.data(), columns.data() + columns.shape(0)},
                              {weights.data(), weights.data() + weights.shape(0)}});
    }
    return directions;
}

}  // namespace

OwningTreeView::OwningTreeView(std::size_t n_columns, const Vector<std::int32_t>& end,
                               const Vector<std::int32_t>& feature, const Vector<double>& threshold,
                               const Vector<std::int64_t>& subset, const Vector<bool>& missing_left,
                               const Vector<bool>& heavier_left, const Vector<std::uint8_t>& subsets,
                               const nb::sequence& directions, nb::handle surrogates)
    : owners_{AnyArray(end),          AnyArray(feature),      AnyArray(threshold), AnyArray(subset),
              AnyArray(missing_left), AnyArray(heavier_left), AnyArray(subsets)},
      tree_({n_columns, view(end), view(feature), view(threshold), view(subset), bytes(missing_left),
             bytes(heavier_left), view(subsets), read_directions(directions), read_surrogates(surrogates)}) {}

SurrogateTests OwningTreeView::read_surrogates(nb::handle arrays) {
    if (arrays.is_none()) return {};
    const auto all = nb::cast<nb::tuple>(arrays);
    if (all.size() != 6) throw std::invalid_argument("the surrogates are six arrays");
    const auto read = [&]<class T>(std::size_t i, T) {
        auto array = nb::cast<Vector<T>>(all[i]);
        owners_.emplace_back(array);
        return array;
    };
    return {view(read(0, std::int64_t{})), view(read(1, std::int32_t{})), view(read(2, double{})),
            view(read(3, std::int64_t{})), bytes(read(4, bool{})),        view(read(5, std::uint8_t{}))};
}

Table OwningTreeView::read_rows(nb::handle columns) const {
    Table table = read_table(columns);
    tree_.check(table.columns);
    return table;
}

void bind_tree_view(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<OwningTreeView>(module, "TreeView")
        .def(nb::init<std::size_t, const Vector<std::int32_t>&, const Vector<std::int32_t>&,
                      const Vector<double>&, const Vector<std::int64_t>&, const Vector<bool>&,
                      const Vector<bool>&, const Vector<std::uint8_t>&, const nb::sequence&, nb::handle>(),
             "n_columns"_a, "end"_a, "feature"_a, "threshold"_a, "subset"_a, "missing_left"_a,
             "heavier_left"_a, "subsets"_a, "directions"_a = nb::tuple(), "surrogates"_a.none() = nb::none());
}

}  // namespace treewright
