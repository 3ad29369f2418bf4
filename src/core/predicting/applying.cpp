// Sending rows down a finished tree, a block of rows at a time.
#include "predicting/applying.hpp"

#include <algorithm>

#include "predicting/walking.hpp"

namespace treewright {

namespace {

constexpr std::size_t block = 8192;  // rows of one task

/// Calls work(begin, end) for all rows, in blocks.
template <class Work>
void in_blocks(std::size_t n_rows, Pool& pool, Interrupt& interrupt, Work&& work) {
    pool.run((n_rows + block - 1) / block, [&](std::size_t task, std::size_t) {
        interrupt.check();
        work(task * block, std::min(n_rows, (task + 1) * block));
    });
}

template <class T>
void walk(const NumberRows<T>& rows, const NumberTree& tree, std::size_t begin, std::size_t end,
          std::span<std::int32_t> leaf) {
    typename NumberRows<T>::Places arrived;
    for (std::size_t first = begin; first < end; first += rows.block) {
        const std::size_t n = std::min(rows.block, end - first),
                          n_next = std::min(rows.block, end - first - n);
        rows.walk(tree, first, n, n_next, arrived);
        for (std::size_t i = 0; i < n; ++i) leaf[first + i] = tree.node(arrived[i]);
    }
}

/// By each node's own test; a missing value goes by missing_left.
void apply_tests(const TreeView& tree, const std::vector<Column>& columns, std::span<std::int32_t> leaf,
                 Pool& pool, Interrupt& interrupt) {
    const auto by = [&](auto&& rows) {
        const auto laid_out = rows.fitted(tree);
        in_blocks(leaf.size(), pool, interrupt,
                  [&](std::size_t begin, std::size_t end) { walk(rows, *laid_out, begin, end, leaf); });
    };
    if (tree.directions.empty() && tree.pays_to_lay_out(leaf.size())) {
        if (NumberRows<double>::fit(columns)) return by(NumberRows<double>(columns));
        if (NumberRows<float>::fit(columns)) return by(NumberRows<float>(columns));
    }
    in_blocks(leaf.size(), pool, interrupt, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) leaf[row] = tree.leaf_of(columns, row);
    });
}

/// Whether a row that misses what a branch tests goes left there.
bool surrogates_go_left(const TreeView& tree, std::size_t node, const std::vector<Column>& columns,
                        std::size_t row) {
    const SurrogateTests& tests = tree.surrogates;
    const std::size_t end = tests.start[node + 1];
    for (std::size_t i = tests.start[node]; i < end; ++i) {
        const Column& column = columns[tests.feature[i]];
        bool passes = false;
        if (tests.subset[i] >= 0) {
            const std::int32_t code = column.code(row);
            if (code < 0) continue;
            passes = TreeView::holds(tests.subsets, tests.subset[i], code);
        } else {
            const double value = column.value(row);
            if (std::isnan(value)) continue;
            passes = value <= tests.threshold[i];
        }
        return passes != (tests.reversed[i] != 0);
    }
    return tree.missing_left[node] != 0;
}

std::int32_t leaf_by_surrogates(const TreeView& tree, const std::vector<Column>& columns, std::size_t row) {
    std::size_t node = 0;
    while (!tree.is_leaf(node)) {
        const bool left = tree.misses(tree.feature[node], columns, row)
                              ? surrogates_go_left(tree, node, columns, row)
                              : tree.goes_left(node, columns, row);
        node = left ? tree.left(node) : tree.right(node);
    }
    return static_cast<std::int32_t>(node);
}

}  // namespace

void apply(const TreeView& tree, const std::vector<Column>& columns, std::span<std::int32_t> leaf, Pool& pool,
           Interrupt& interrupt) {
    apply_tests(tree, columns, leaf, pool, interrupt);  // right for the rows that miss nothing
    if (tree.surrogates.feature.empty()) return;
    in_blocks(leaf.size(), pool, interrupt, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            const auto misses = [&](std::int32_t feature) { return tree.misses(feature, columns, row); };
            if (std::ranges::any_of(tree.tested(), misses))
                leaf[row] = leaf_by_surrogates(tree, columns, row);
        }
    });
}

}  // namespace treewright
