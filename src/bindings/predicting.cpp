// Python's entry point to sending rows down trees.
#include "predicting/applying.hpp"
#include "predicting/totals.hpp"
#include "tree_view.hpp"

namespace treewright {

namespace {

/// Threads for so many steps, rows by trees; a few are done before one has started.
std::size_t worth_threads(std::size_t n_steps, std::size_t n_threads) {
    constexpr std::size_t many = 50000;
    return n_steps < many ? 1 : n_threads;
}

nb::object apply_tree(const OwningTreeView& tree, nb::handle columns, std::size_t n_threads) {
    const Table table = tree.read_rows(columns);
    std::vector<std::int32_t> leaf(table.n_rows);
    without_gil([&](Interrupt& interrupt) {
        Pool pool(worth_threads(table.n_rows, n_threads), interrupt);
        apply(*tree, table.columns, leaf, pool, interrupt);
    });
    return to_numpy(std::move(leaf));
}

nb::tuple spread_rows(const OwningTreeView& tree, nb::handle columns, const Vector<double>& weight,
                      std::size_t first, std::size_t most) {
    const Table table = tree.read_rows(columns);
    if (weight.shape(0) != (*tree).size())
        throw std::invalid_argument("weight and the tree differ in length");
    Parts parts;
    without_gil([&](Interrupt& interrupt) {
        parts = spread(*tree, view(weight), table.columns, first, table.n_rows, most, interrupt);
    });
    return nb::make_tuple(to_numpy(std::move(parts.start)), to_numpy(std::move(parts.leaf)),
                          to_numpy(std::move(parts.share)));
}

nb::object total_values(const nb::sequence& trees, const nb::sequence& values, nb::handle columns,
                        std::size_t n_threads) {
    const Table table = read_table(columns);
    std::vector<Matrix<double>> lines;
    for (const nb::handle each : values) lines.push_back(nb::cast<Matrix<double>>(each));
    std::vector<Addend> addends;
    for (const nb::handle each : trees) {
        const auto& tree = nb::cast<const OwningTreeView&>(each);
        (*tree).check(table.columns);
        if (!(*tree).directions.empty() || !(*tree).surrogates.feature.empty())
            throw std::invalid_argument("the trees of a sum test columns, without surrogates");
        addends.push_back({&*tree, nullptr});
    }
    if (addends.empty() || lines.size() != addends.size())
        throw std::invalid_argument("a sum needs trees, and values for each of them");
    const std::size_t width = lines[0].shape(1);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].shape(0) != addends[i].tree->size() || lines[i].shape(1) != width)
            throw std::invalid_argument("a tree needs a line of the same width for each node");
        addends[i].lines = lines[i].data();
    }
    std::vector<double> total(table.n_rows * width, 0.0);
    without_gil([&](Interrupt& interrupt) {
        Pool pool(worth_threads(table.n_rows * addends.size(), n_threads), interrupt);
        add_up(addends, width, table.columns, table.n_rows, total.data(), pool, interrupt);
    });
    return to_numpy(std::move(total), {table.n_rows, width});
}

}  // namespace

void bind_predicting(nb::module_& module) {
    using namespace nb::literals;
    module.def("apply", &apply_tree, "tree"_a, "columns"_a, "n_threads"_a);
    module.def("spread", &spread_rows, "tree"_a, "columns"_a, "weight"_a, "first"_a, "most"_a);
    module.def("totals", &total_values, "trees"_a, "values"_a, "columns"_a, "n_threads"_a);
}

}  // namespace treewright
