// The best trees beside all trees of small tables.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/problem.hpp"
#include "harness.hpp"
#include "optimising/optimise.hpp"
#include "tables.hpp"

using namespace treewright;
using namespace treewright::optimising;

namespace {

/// A small table at random: few codes, so that rows tie.
struct RandomTable {
    explicit RandomTable(std::uint64_t seed, std::size_t most_codes = 7) : random{seed} {
        table.n_rows = 2 + random.below(12);
        table.n_views = 1 + random.below(3);
        table.n_classes = table.n_answers = 2 + random.below(3);
        const std::size_t n_codes = std::min(2 + random.below(6), most_codes);
        for (std::size_t i = 0; i < table.n_rows * table.n_views; ++i)
            codes.push_back(static_cast<Code>(random.below(n_codes)));
        for (std::size_t row = 0; row < table.n_rows; ++row) {
            labels.push_back(static_cast<std::int32_t>(random.below(table.n_classes)));
            weights.push_back(static_cast<Loss>(1 + random.below(4)));
        }
        table.codes = codes.data();
        table.labels = labels.data();
    }
    RandomTable(const RandomTable&) = delete;

    void add_gains() {
        table.n_answers = 2 + random.below(3);
        for (std::size_t i = 0; i < table.n_classes * table.n_answers; ++i)
            gains.push_back(static_cast<Loss>(random.below(5)));
        table.gains = gains;
    }
    std::vector<std::size_t> rows() const {
        std::vector<std::size_t> all(table.n_rows);
        for (std::size_t row = 0; row < all.size(); ++row) all[row] = row;
        return all;
    }

    Random random;
    Table table;
    std::vector<Code> codes;
    std::vector<std::int32_t> labels;
    std::vector<Loss> weights, gains;
};

using Rows = std::vector<std::size_t>;

/// What a leaf loses by classes.
Loss class_loss(const Table& table, const Rows& rows) {
    std::vector<Loss> saved(table.n_answers, 0);
    Loss all = 0;
    for (const std::size_t row : rows) {
        const auto label = static_cast<std::size_t>(table.labels[row]);
        all += table.most_gain(label, table.weight(row));
        for (std::size_t answer = 0; answer < table.n_answers; ++answer) {
            const Loss gain =
                table.has_gains() ? table.gains[label * table.n_answers + answer] : answer == label;
            saved[answer] += table.weight(row) * gain;
        }
    }
    return all - *std::max_element(saved.begin(), saved.end());
}

/// The least loss of all trees, by trying them.
template <class Loss, class LeafLoss>
Loss least_loss(const Table& table, const Rows& rows, int depth, std::int64_t leaves, std::size_t min_rows,
                LeafLoss leaf_loss) {
    constexpr Loss never = std::numeric_limits<Loss>::max() / 4;
    Loss least = rows.size() >= min_rows ? leaf_loss(rows) : never;
    if (depth == 0 || leaves < 2) return least;
    for (std::size_t view = 0; view < table.n_views; ++view)
        for (Code code = 0; code < 8; ++code) {
            Rows left, right;
            for (const std::size_t row : rows)
                (table.codes_of(view)[row] <= code ? left : right).push_back(row);
            if (left.empty() || right.empty()) continue;
            for (std::int64_t n_left = 1; n_left < leaves; ++n_left)
                least = std::min(
                    least,
                    least_loss<Loss>(table, left, depth - 1, n_left, min_rows, leaf_loss) +
                        least_loss<Loss>(table, right, depth - 1, leaves - n_left, min_rows, leaf_loss));
        }
    return least;
}

/// What a tree loses on some rows; `next` is its first node, and afterwards the one behind it.
template <class Loss, class LeafLoss>
Loss loss_of(const Table& table, const FoundTree& tree, std::size_t& next, const Rows& rows,
             LeafLoss leaf_loss) {
    const TreeNode node = tree.nodes[next++];
    if (node.view < 0) return leaf_loss(rows);
    Rows left, right;
    for (const std::size_t row : rows)
        (table.codes_of(static_cast<std::size_t>(node.view))[row] <= node.code ? left : right).push_back(row);
    const Loss of_left = loss_of<Loss>(table, tree, next, left, leaf_loss);
    return of_left + loss_of<Loss>(table, tree, next, right, leaf_loss);
}

Optimum search(const Table& table, const Options& options, std::size_t n_threads = 1) {
    Interrupt interrupt([] { return false; });
    return optimise(table, options, {}, n_threads, interrupt);
}

void check_classes(RandomTable& given, const Options& options, std::size_t n_threads) {
    const Table& table = given.table;
    const auto leaf_loss = [&](const Rows& rows) { return class_loss(table, rows) + options.leaf_price; };
    const std::int64_t leaves =
        options.max_leaves > 0 ? options.max_leaves : std::int64_t{1} << options.max_depth;
    const Loss least =
        least_loss<Loss>(table, given.rows(), options.max_depth, leaves, options.min_rows, leaf_loss);
    if (table.n_rows < options.min_rows) return;
    const Optimum found = search(table, options, n_threads);
    CHECK(found.stopped == Stopped::proved);
    CHECK_EQUAL(found.tree.loss, least);
    CHECK_EQUAL(found.bound, least);
    std::size_t next = 0;
    CHECK_EQUAL(loss_of<Loss>(table, found.tree, next, given.rows(), leaf_loss), least);
}

}  // namespace

TEST("optimising: classes, weights, gains, prices and limits beside all trees") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomTable given(seed);
        Random& random = given.random;
        if (random.below(2) == 0) given.table.weights = given.weights.data();
        if (random.below(3) == 0) given.add_gains();
        Options options;
        options.max_depth = static_cast<int>(random.below(4));
        options.max_leaves = random.below(2) == 0 ? 0 : static_cast<std::int64_t>(1 + random.below(7));
        options.min_rows = 1 + random.below(3);
        options.leaf_price = static_cast<Loss>(random.below(3));
        check_classes(given, options, 1 + random.below(2));
    }
}

TEST("optimising: rows as bits beside all trees") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        RandomTable given(1000 + seed, 2);
        Options options;
        options.max_depth = static_cast<int>(2 + given.random.below(3));
        options.leaf_price = static_cast<Loss>(given.random.below(2));
        check_classes(given, options, 1);
    }
}

TEST("optimising: numbers beside all trees") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        RandomTable given(2000 + seed);
        Table& table = given.table;
        Random& random = given.random;
        if (random.below(2) == 0) table.weights = given.weights.data();
        std::vector<double> numbers;
        for (std::size_t row = 0; row < table.n_rows; ++row) numbers.push_back(1e3 + 100 * random.uniform());
        table.labels = nullptr;
        const double unit = place_numbers(table, numbers);
        const auto leaf_loss = [&](const Rows& rows) {
            double weight = 0, sum = 0, squares = 0;
            for (const std::size_t row : rows) {
                weight += static_cast<double>(table.weight(row));
                sum += static_cast<double>(table.weight(row)) * numbers[row];
            }
            for (const std::size_t row : rows) {
                const double away = numbers[row] - sum / weight;
                squares += static_cast<double>(table.weight(row)) * away * away;
            }
            return squares;
        };
        Options options;
        options.max_depth = static_cast<int>(1 + random.below(3));
        options.max_leaves = random.below(2) == 0 ? 0 : static_cast<std::int64_t>(1 + random.below(7));
        const std::int64_t leaves =
            options.max_leaves > 0 ? options.max_leaves : std::int64_t{1} << options.max_depth;
        const double least = least_loss<double>(table, given.rows(), options.max_depth, leaves, 1, leaf_loss);
        const Optimum found = search(table, options);
        CHECK(found.stopped == Stopped::proved);
        const double all = leaf_loss(given.rows());
        CHECK(std::abs(static_cast<double>(found.tree.loss) * unit - least) <= 1e-9 * all);
        std::size_t next = 0;
        CHECK(std::abs(loss_of<double>(table, found.tree, next, given.rows(), leaf_loss) - least) <=
              1e-9 * all);
    }
}

TEST("optimising: with little work the bound is below the optimum and the tree above") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        RandomTable given(3000 + seed);
        Options options;
        const Optimum best = search(given.table, options);
        for (const std::int64_t work : {0, 1, 3, 10}) {
            options.max_work = work;
            const Optimum some = search(given.table, options), again = search(given.table, options, 3);
            CHECK(some.bound <= best.tree.loss && best.tree.loss <= some.tree.loss);
            CHECK(some.bound == again.bound && some.tree.loss == again.tree.loss);
        }
    }
}
