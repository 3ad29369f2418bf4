// Blocks of rows that walk through a tree laid out anew, beside one row after the other.
#include <limits>
#include <vector>

#include "harness.hpp"
#include "predicting/walking.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

constexpr std::size_t n_columns = 5;

/// A random tree of numbers in preorder, with the arrays behind it.
struct Arrays {
    std::vector<std::int32_t> end, feature;
    std::vector<double> threshold;
    std::vector<std::uint8_t> missing_left;

    Arrays(std::size_t n_leaves, Random& random) { add(n_leaves, random); }

    void add(std::size_t n_leaves, Random& random) {
        constexpr double thresholds[] = {-2,
                                         -0.0,
                                         0,
                                         1,
                                         0.1,
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity()};
        const std::size_t node = end.size();
        const bool is_branch = n_leaves > 1;
        end.push_back(0);
        feature.push_back(is_branch ? static_cast<std::int32_t>(random.below(n_columns)) : -1);
        threshold.push_back(random.below(3) == 0 ? random.uniform() * 4 - 2
                                                 : thresholds[random.below(std::size(thresholds))]);
        missing_left.push_back(is_branch && random.below(2) == 0);
        if (is_branch) {
            const std::size_t n_left = 1 + random.below(n_leaves - 1);
            add(n_left, random);
            add(n_leaves - n_left, random);
        }
        end[node] = static_cast<std::int32_t>(end.size());
    }
};

TreeTests tests_of(const Arrays& arrays, const std::vector<std::int64_t>& subset,
                   const std::vector<std::uint8_t>& heavier_left) {
    TreeTests tests;
    tests.n_columns = n_columns;
    tests.end = arrays.end;
    tests.feature = arrays.feature;
    tests.threshold = arrays.threshold;
    tests.subset = subset;
    tests.missing_left = arrays.missing_left;
    tests.heavier_left = heavier_left;
    return tests;
}

template <class T>
void compare(const TreeView& tree, const std::vector<Column>& columns, std::size_t n_rows) {
    CHECK(NumberRows<T>::fit(columns));
    const NumberRows<T> rows(columns);
    const auto laid_out = rows.fitted(tree);
    typename NumberRows<T>::Places places;
    for (std::size_t first = 0; first < n_rows; first += places.size()) {
        const std::size_t n = std::min(places.size(), n_rows - first),
                          n_next = std::min(places.size(), n_rows - first - n);
        rows.walk(*laid_out, first, n, n_next, places);
        for (std::size_t i = 0; i < n; ++i)
            CHECK_EQUAL(laid_out->node(places[i]), tree.leaf_of(columns, first + i));
    }
}

/// The columns of one vector: side by side in each row, or one after the other.
template <class T>
std::vector<Column> columns_of(const std::vector<T>& cells, std::size_t n_rows, bool by_row) {
    std::vector<Column> columns;
    for (std::size_t i = 0; i < n_columns; ++i) {
        Column column = tables::column_of(cells);
        column.data += (by_row ? i : i * n_rows) * sizeof(T);
        if (by_row) column.stride *= n_columns;
        columns.push_back(column);
    }
    return columns;
}

}  // namespace

TEST("walking: every row comes to its leaf, from a matrix and from columns, in both types") {
    Random random{71};
    for (const std::size_t n_leaves : {1, 2, 3, 40, 700})
        for (const std::size_t n_rows : {1, 17, 512, 1300}) {
            const Arrays arrays(n_leaves, random);
            const std::vector<std::int64_t> subset(arrays.end.size(), -1);
            const std::vector<std::uint8_t> heavier_left(arrays.end.size(), 0);
            const TreeView tree(tests_of(arrays, subset, heavier_left));
            const auto cells = tables::mixed_numbers(n_rows * n_columns, random.next());
            const std::vector<float> singles(cells.begin(), cells.end());
            for (const bool by_row : {true, false}) {
                compare<double>(tree, columns_of(cells, n_rows, by_row), n_rows);
                compare<float>(tree, columns_of(singles, n_rows, by_row), n_rows);
            }
        }
}

TEST("walking: only numbers of one type, equally far apart, fit") {
    const std::vector<double> doubles(20);
    const std::vector<float> singles(20);
    const auto one = tables::column_of(doubles), other = tables::column_of(singles);
    CHECK(NumberRows<double>::fit({one, one}) && !NumberRows<float>::fit({one}));
    CHECK(!NumberRows<double>::fit({one, other}) && !NumberRows<double>::fit({}));
    Column sparse = one;
    sparse.stride *= 2;
    CHECK(!NumberRows<double>::fit({one, sparse}));
}
