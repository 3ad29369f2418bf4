// The front of size and loss beside all prunings of small trees.
#include <map>
#include <span>
#include <vector>

#include "data/problem.hpp"
#include "harness.hpp"
#include "pruning/front.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

/// Adds a random subtree of so many leaves, in preorder.
void add_subtree(std::vector<std::int32_t>& end, std::size_t n_leaves, Random& random) {
    const std::size_t node = end.size();
    end.push_back(0);
    if (n_leaves > 1) {
        const std::size_t n_left = 1 + random.below(n_leaves - 1);
        add_subtree(end, n_left, random);
        add_subtree(end, n_leaves - n_left, random);
    }
    end[node] = static_cast<std::int32_t>(end.size());
}

using LossBySize = std::map<std::int64_t, double>;

/// The least loss of all prunings of a subtree, by their number of leaves.
LossBySize all_prunings(Shape end, const std::vector<double>& loss, std::int32_t node) {
    const auto place = static_cast<std::size_t>(node);
    LossBySize out{{1, loss[place]}};
    if (is_leaf(end, node)) return out;
    const auto left = all_prunings(end, loss, node + 1), right = all_prunings(end, loss, end[place + 1]);
    for (const auto& [n_left, of_left] : left)
        for (const auto& [n_right, of_right] : right) {
            const auto [entry, is_new] = out.try_emplace(n_left + n_right, of_left + of_right);
            if (!is_new) entry->second = std::min(entry->second, of_left + of_right);
        }
    return out;
}

/// Leaves and loss of the tree whose named branches are leaves.
std::pair<std::int64_t, double> measure(Shape end, const std::vector<double>& loss,
                                        const std::vector<std::int32_t>& pruned) {
    std::int64_t leaves = 0;
    double sum = 0;
    for (std::int32_t node = 0; node < std::ssize(end);) {
        const bool is_cut = std::find(pruned.begin(), pruned.end(), node) != pruned.end();
        if (is_cut || is_leaf(end, node)) {
            ++leaves;
            sum += loss[static_cast<std::size_t>(node)];
        }
        node = is_cut ? end[static_cast<std::size_t>(node)] : node + 1;
    }
    return {leaves, sum};
}

}  // namespace

TEST("front: the least loss of every number of leaves, and the trees behind it") {
    Random random{61};
    Interrupt interrupt = tables::undisturbed();
    for (int i = 0; i < 200; ++i) {
        std::vector<std::int32_t> end;
        add_subtree(end, 1 + random.below(12), random);
        std::vector<double> loss;
        for (std::size_t node = 0; node < end.size(); ++node)
            loss.push_back(static_cast<double>(random.below(20)));
        const auto n_leaves = static_cast<std::int64_t>(end.size() + 1) / 2;
        const std::int64_t max_leaves =
            i % 3 == 0 ? 1 + static_cast<std::int64_t>(random.below(6)) : n_leaves;
        std::vector<std::int64_t> leaves;
        std::vector<double> losses;
        for (const auto& [n, least] : all_prunings(end, loss, 0))
            if (n <= max_leaves && (losses.empty() || least < losses.back())) {
                leaves.push_back(n);
                losses.push_back(least);
            }
        const Front front = find_front(end, loss, {.max_leaves = max_leaves}, interrupt);
        CHECK(front.leaves == leaves);
        CHECK(front.loss == losses);
        for (std::size_t point = 0; point < leaves.size(); ++point) {
            const auto pruned = front_pruning(end, front.length, front.choices, leaves[point]);
            const auto [n, sum] = measure(end, loss, pruned);
            CHECK_EQUAL(n, leaves[point]);
            CHECK_EQUAL(sum, losses[point]);
        }
    }
}

TEST("front: choices that are not of the tree, and too many of them, are refused") {
    const std::vector<std::int32_t> end{7, 4, 3, 4, 7, 6, 7};
    const std::vector<double> loss{9, 4, 1, 1, 4, 1, 1};
    Interrupt interrupt = tables::undisturbed();
    const Front front = find_front(end, loss, {.max_leaves = 4}, interrupt);
    CHECK_THROWS(std::invalid_argument, front_pruning(end, front.length, front.choices, 5));
    CHECK_THROWS(std::invalid_argument, front_pruning(end, front.length, {}, 3));
    CHECK_THROWS(TooManyChoices, find_front(end, loss, {.max_leaves = 4, .max_bytes = 1}, interrupt));
    CHECK(find_front(end, loss, {.max_leaves = 4, .keeps_choices = false}, interrupt).choices.empty());
}
