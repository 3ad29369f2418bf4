// Python's entry point to Shapley values.
#include "shapley/shapley.hpp"

#include <cmath>

#include "tree_view.hpp"

namespace treewright {

namespace {

LeafAnswers read_answers(const Matrix<double>& answers, nb::handle blocks, std::size_t n_nodes) {
    if (answers.shape(0) != (n_nodes + 1) / 2)
        throw std::invalid_argument("answers must have a line per leaf");
    LeafAnswers read{
        {answers.data(), answers.shape(0) * answers.shape(1)}, answers.shape(1), read_counts(blocks)};
    std::size_t sum = 0;
    for (const std::int32_t block : read.blocks) {
        if (block < 1) throw std::invalid_argument("a block has at least one number");
        sum += block;
    }
    if (!read.blocks.empty() && sum != read.width)
        throw std::invalid_argument("the blocks do not fit the answers");
    return read;
}

/// A branch divides its rows by their weights, so only a leaf may have none.
void check_weights(const TreeView& tree, std::span<const double> weight) {
    if (weight.size() != tree.size()) throw std::invalid_argument("weight and the tree differ in length");
    for (std::size_t node = 0; node < tree.size(); ++node)
        if (!(std::isfinite(weight[node]) && (weight[node] > 0 || (tree.is_leaf(node) && weight[node] == 0))))
            throw std::invalid_argument("the weight of a node is not positive");
}

nb::object find_shapley_values(const OwningTreeView& tree, nb::handle columns, const Vector<double>& weight,
                               const Matrix<double>& answers, nb::handle blocks, nb::handle background,
                               std::size_t n_threads) {
    const Table table = tree.read_rows(columns);
    if (!(*tree).directions.empty()) throw std::invalid_argument("the tree tests sums of columns");
    const LeafAnswers read = read_answers(answers, blocks, (*tree).size());
    Table others;
    if (background.is_none()) {
        check_weights(*tree, view(weight));
    } else {
        others = tree.read_rows(background);
        if (weight.shape(0) != others.n_rows)
            throw std::invalid_argument("weight and the rows of the background differ in length");
    }
    std::vector<double> out(table.n_rows * table.columns.size() * read.width);
    without_gil([&](Interrupt& interrupt) {
        Pool pool(n_threads, interrupt);
        if (background.is_none())
            shapley_by_weights(*tree, view(weight), read, table.columns, table.n_rows, out.data(), pool,
                               interrupt);
        else
            shapley_by_background(*tree, read, table.columns, table.n_rows, others.columns, view(weight),
                                  out.data(), pool, interrupt);
    });
    return to_numpy(std::move(out), {table.n_rows, table.columns.size(), read.width});
}

}  // namespace

void bind_shapley(nb::module_& module) {
    using namespace nb::literals;
    module.def("shapley_values", &find_shapley_values, "tree"_a, "columns"_a, nb::kw_only(), "weight"_a,
               "answers"_a, "blocks"_a, "background"_a.none(), "n_threads"_a);
}

}  // namespace treewright
