// Python's door to attributing.
#include "attributing.hpp"

#include <algorithm>
#include <cmath>

#include "arrays.hpp"
#include "shape.hpp"

namespace treewright {

namespace {

template <class T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

std::span<const std::uint8_t> bytes(const Vector<bool>& array) {
    return {reinterpret_cast<const std::uint8_t*>(array.data()), array.shape(0)};
}

/// A tree's arrays are checked where the tree is made; here only what the walk's memory rests on.
void check(const Routes& routes, const Table& table) {
    check_shape(routes.end);
    for (std::size_t node = 0; node < routes.end.size(); ++node) {
        const bool is_branch = !is_leaf(routes.end, static_cast<std::int32_t>(node));
        if (is_branch != (routes.feature[node] >= 0) ||
            routes.feature[node] >= static_cast<std::int32_t>(table.columns.size()))
            throw std::invalid_argument("feature does not fit the tree and the columns");
        if (is_branch && table.columns[static_cast<std::size_t>(routes.feature[node])].is_category() !=
                             (routes.subset[node] >= 0))
            throw std::invalid_argument("node " + std::to_string(node) + " tests another kind of column");
    }
}

LeafAnswers read_answers(const Matrix<double>& answers, nb::handle blocks, std::size_t n_nodes) {
    if (answers.shape(0) != (n_nodes + 1) / 2)
        throw std::invalid_argument("answers must have a line per leaf");
    LeafAnswers read{
        {answers.data(), answers.shape(0) * answers.shape(1)}, answers.shape(1), read_counts(blocks)};
    std::size_t sum = 0;
    for (const std::int32_t block : read.blocks) {
        if (block < 1) throw std::invalid_argument("a block has at least one number");
        sum += static_cast<std::size_t>(block);
    }
    if (!read.blocks.empty() && sum != read.width)
        throw std::invalid_argument("the blocks do not fit the answers");
    return read;
}

nb::object attribute(nb::handle columns, const Vector<std::int32_t>& end, const Vector<std::int32_t>& feature,
                     const Vector<double>& threshold, const Vector<std::int64_t>& subset,
                     const Vector<bool>& missing_left, const Vector<bool>& heavier_left,
                     const Vector<std::uint8_t>& subsets, const Vector<double>& weight,
                     const Matrix<double>& answers, nb::handle blocks, nb::handle background,
                     std::size_t n_threads) {
    const Table table = read_table(columns);
    const Routes routes{view(end),           view(feature),       view(threshold), view(subset),
                        bytes(missing_left), bytes(heavier_left), view(subsets)};
    const std::size_t n_nodes = end.shape(0);
    const auto lengths = {feature.shape(0), threshold.shape(0), subset.shape(0), missing_left.shape(0),
                          heavier_left.shape(0)};
    if (std::any_of(lengths.begin(), lengths.end(), [&](std::size_t length) { return length != n_nodes; }))
        throw std::invalid_argument("the arrays of the tree differ in length");
    check(routes, table);
    const LeafAnswers read = read_answers(answers, blocks, n_nodes);
    Table others;
    if (background.is_none()) {
        if (weight.shape(0) != n_nodes) throw std::invalid_argument("weight and end differ in length");
        const auto weights = view(weight);
        for (std::size_t node = 0; node < n_nodes; ++node) {
            const bool is_leaf = routes.feature[node] < 0;  // only a leaf may have no rows
            if (!(std::isfinite(weights[node]) && (weights[node] > 0 || (is_leaf && weights[node] == 0))))
                throw std::invalid_argument("the weight of a node is not positive");
        }
    } else {
        others = read_table(background);
        if (weight.shape(0) != others.n_rows)
            throw std::invalid_argument("weight and the rows of the background differ in length");
        if (others.columns.size() != table.columns.size())
            throw std::invalid_argument("the background has other columns than the rows");
        check(routes, others);
    }
    std::vector<double> out(table.n_rows * table.columns.size() * read.width);
    without_gil([&](Interrupt& interrupt) {
        Pool pool(n_threads, interrupt);
        if (background.is_none())
            attribute_by_weights(routes, view(weight), read, table.columns, table.n_rows, out.data(), pool,
                                 interrupt);
        else
            attribute_by_background(routes, read, table.columns, table.n_rows, others.columns, view(weight),
                                    out.data(), pool, interrupt);
    });
    return to_numpy(std::move(out), {table.n_rows, table.columns.size(), read.width});
}

}  // namespace

void bind_attributing(nb::module_& module) {
    using namespace nb::literals;
    module.def("attribute", &attribute, nb::kw_only(), "columns"_a, "end"_a, "feature"_a, "threshold"_a,
               "subset"_a, "missing_left"_a, "heavier_left"_a, "subsets"_a, "weight"_a, "answers"_a,
               "blocks"_a, "background"_a.none(), "n_threads"_a);
}

}  // namespace treewright
