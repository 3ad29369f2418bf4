// The leaves that wait: the order in which they are split.
#include <cstdint>
#include <utility>
#include <vector>

#include "growers/frontier.hpp"
#include "harness.hpp"

using namespace treewright;

namespace {

struct Leaf {
    double gain;
    std::int64_t number;

    double worth() const { return gain; }
    std::int64_t made() const { return number; }
};

std::vector<std::int64_t> order_of(bool is_best_first, const std::vector<Leaf>& leaves) {
    Frontier<Leaf> frontier(is_best_first);
    for (Leaf leaf : leaves) frontier.push(std::move(leaf));
    std::vector<std::int64_t> order;
    while (!frontier.is_empty()) {
        const auto next = frontier.next().number;
        order.push_back(frontier.take().number);
        CHECK_EQUAL(next, order.back());
    }
    return order;
}

}  // namespace

TEST("frontier: the best leaf goes first, of equals the one made first") {
    CHECK(order_of(true, {{1, 0}, {3, 1}, {2, 2}, {3, 3}}) == std::vector<std::int64_t>({1, 3, 2, 0}));
    CHECK(order_of(true, {{3, 7}, {3, 4}, {3, 5}}) == std::vector<std::int64_t>({4, 5, 7}));
}

TEST("frontier: gains that differ by rounding alone are equal") {
    CHECK(order_of(true, {{0.3, 0}, {0.1 + 0.2, 1}}) == std::vector<std::int64_t>({0, 1}));
    CHECK(order_of(true, {{0.3, 0}, {0.3 + 1e-9, 1}}) == std::vector<std::int64_t>({1, 0}));
}

TEST("frontier: without a budget the last leaf goes first") {
    CHECK(order_of(false, {{1, 0}, {3, 1}, {2, 2}}) == std::vector<std::int64_t>({2, 1, 0}));
}

TEST("frontier: taking all leaves empties it") {
    Frontier<Leaf> frontier;
    frontier.push({1, 0});
    frontier.push({2, 1});
    const auto all = frontier.take_all();
    CHECK_EQUAL(all.size(), std::size_t{2});
    CHECK_EQUAL(all[0].number, std::int64_t{0});
    CHECK(frontier.is_empty());
}
