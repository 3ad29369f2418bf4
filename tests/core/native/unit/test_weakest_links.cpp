// Weakest-link pruning: whole numbers are compared exactly, reals up to their rounding.
#include <vector>

#include "harness.hpp"
#include "pruning/weakest_links.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

/// A root whose left child is a branch: nodes 0, 1 (2, 3), 4.
const std::vector<std::int32_t> chain{5, 4, 3, 4, 5};
/// A root of two branches: nodes 0, 1 (2, 3), 4 (5, 6).
const std::vector<std::int32_t> pair{7, 4, 3, 4, 7, 6, 7};

WeakestLinks links_of(const std::vector<std::int32_t>& end, const std::vector<double>& loss,
                      const std::vector<double>& cost = {}) {
    Interrupt interrupt = tables::undisturbed();
    return weakest_links(end, loss, cost, interrupt);
}

}  // namespace

TEST("weakest links: two steps, the weaker one first") {
    const auto found = links_of(chain, {10, 4, 1, 1, 2});
    CHECK((found.alpha == std::vector<double>{0, 2, 4}));
    CHECK((found.loss == std::vector<double>{4, 6, 10}));
    CHECK((found.leaves == std::vector<std::int64_t>{3, 2, 1}));
    CHECK_EQUAL(found.level[0], 4.0);
    CHECK_EQUAL(found.level[1], 2.0);
}

TEST("weakest links: a stronger link below a weaker one goes with it") {
    // The left branch saves 8 by itself, the root only 1: together they lose 9 for two leaves.
    const auto found = links_of(chain, {10, 9, 0, 1, 0});
    CHECK((found.alpha == std::vector<double>{0, 4.5}));
    CHECK((found.leaves == std::vector<std::int64_t>{3, 1}));
}

TEST("weakest links: products beyond 64 bits are compared exactly") {
    const auto found = links_of(chain, {0x1.8p51, 0x1p50, 0, 0, 0}, {0x1p20, 0x1p20, 0, 0, 0});
    CHECK((found.alpha == std::vector<double>{0, 0x1p30, 0x1p31}));
    const auto alike = links_of(chain, {0x1p51, 0x1p50, 0, 0, 0}, {0x1p20, 0x1p20, 0, 0, 0});
    CHECK((alike.alpha == std::vector<double>{0, 0x1p30}));
}

TEST("weakest links: reals that differ by rounding alone are one step") {
    const double tenth = 0.1 + 0.2;  // not 0.3
    const auto found = links_of(pair, {1.5, tenth, 0, 0, 0.3, 0, 0});
    CHECK_EQUAL(found.alpha.size(), std::size_t{3});
    CHECK_EQUAL(found.level[1], found.level[4]);
}

TEST("weakest links: what is whole") {
    CHECK(are_whole(std::vector<double>{0, 1, -5, 0x1p52}));
    CHECK(!are_whole(std::vector<double>{0.5}));
    CHECK(!are_whole(std::vector<double>{0x1p52, 0x1p52}));
    CHECK(!are_whole(std::vector<double>{tables::missing}));
}

TEST("weakest links: what is not the shape of a tree is refused") {
    const std::vector<std::int32_t> broken{5, 9, 3, 4, 5};
    CHECK_THROWS(std::invalid_argument, links_of(broken, {1, 1, 1, 1, 1}));
}
