// Directions: weights rounded as the C library prints them, and sums of a row.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "growers/oblique/directions.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;

TEST("directions: a weight of so many digits") {
    Random random{51};
    for (int i = 0; i < 2000; ++i) {
        const double size = std::ldexp(1 - random.uniform(), -static_cast<int>(random.below(40)));
        for (const int digits : {1, 2, 3, 5}) {
            char text[40];
            std::snprintf(text, sizeof text, "%.*e", digits - 1, size);
            CHECK_EQUAL(rounded_weight(size, digits), std::strtod(text, nullptr));
        }
    }
    CHECK_EQUAL(rounded_weight(1, 3), 1.0);
    CHECK_EQUAL(rounded_weight(0.99996, 3), 1.0);
}

TEST("directions: of no digits the nearest of 1, 0.5, 0.2, 0.1 and so on, by ratio") {
    Random random{52};
    for (int i = 0; i < 500; ++i) {
        const double size = std::pow(10.0, -6 * random.uniform());
        double nearest = 1;
        for (const double candidate : {5e-1, 2e-1, 1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4,
                                       5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6})
            if (std::abs(std::log(candidate / size)) < std::abs(std::log(nearest / size)))
                nearest = candidate;
        CHECK_EQUAL(rounded_weight(size, 0), nearest);
    }
}

TEST("directions: scaled to a largest weight of 1, the first one positive") {
    CHECK((readable_direction({{0, 2, 5}, {-2, 1, 8}}, 2) == Direction{{0, 2, 5}, {0.25, -0.13, -1}}));
    CHECK((readable_direction({{1, 3}, {300, -100}}, 1) == Direction{{1, 3}, {1, -0.3}}));
    CHECK((readable_direction({{1, 3}, {1, 1e-16}}, 3) == Direction{}));
    CHECK((readable_direction({{1, 3}, {1, tables::missing}}, 3) == Direction{}));
    CHECK((readable_direction({{1, 3}, {0, 0}}, 3) == Direction{}));
}

TEST("directions: the sum of a row, missing where a part is") {
    const std::vector<double> first{1, 2, tables::missing}, second{0.5, -4, 1};
    const std::vector<float> third{3, 0.25F, 1};
    const std::vector<Column> columns{tables::column_of(first), tables::column_of(second),
                                      tables::column_of(third)};
    const Direction direction{{0, 2}, {1, -0.5}};
    CHECK(direction.is_sum() && !Direction({{1}, {1}}).is_sum());
    CHECK_EQUAL(sum_at(direction, columns, 0), -0.5);
    CHECK_EQUAL(sum_at(direction, columns, 1), 1.875);
    CHECK(std::isnan(sum_at(direction, columns, 2)));
}
