// Integer grids: sums on them are exact, in range, and as fine as promised.
#include <algorithm>
#include <vector>

#include "data/grids.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

Problem problem_of(const std::vector<double>& numbers, const double* weight) {
    Problem problem;
    problem.n_rows = numbers.size();
    problem.targets.numbers = numbers.data();
    problem.targets.weight = weight;
    for (std::size_t row = 0; row < numbers.size(); ++row) problem.rows.push_back(static_cast<Row>(row));
    return problem;
}

}  // namespace

TEST("grids: the unit is a power of two that leaves room for the sum of n values") {
    for (const double largest : {1e-300, 1e-5, 1.0, 3.0, 1e18, 1e300})
        for (const double n : {1.0, 2.0, 1000.0, 1e9}) {
            const Grid grid = Grid::covering(largest, n);
            int exponent = 0;
            CHECK_EQUAL(std::frexp(grid.unit, &exponent), 0.5);
            const double most = static_cast<double>(grid.place(largest)) * n;
            CHECK(most < 0x1p62);
            const int bits = std::min(58, 59 - static_cast<int>(std::ceil(std::log2(n))));
            CHECK(grid.unit <= std::ldexp(largest, 1 - bits) || grid.unit == 0x1p-1074);
        }
}

TEST("grids: nothing but zeros has a grid, too") {
    CHECK_EQUAL(Grid::covering(0, 5).unit, 1.0);
    CHECK_EQUAL(Grid::covering(0, 5, 2.5).place(2.5), 0);
}

TEST("grids: whole weights keep all their digits, and no weight vanishes") {
    const std::vector<double> numbers(4, 0.0), weight{1, 3, 1e9, 1e-30};
    const Problem problem = problem_of(numbers, weight.data());
    const Grid grid = weight_grid(problem, problem.rows);
    for (const Row row : {0, 1, 2})
        CHECK_EQUAL(static_cast<double>(weight_on(grid, problem, row)) * grid.unit, weight[row]);
    CHECK_EQUAL(weight_on(grid, problem, 3), 1);
}

TEST("grids: an offset of the numbers costs no digits") {
    std::vector<double> near{-1, 0, 1, 2}, far = near;
    for (auto& number : far) number += 0x1p40;
    const Problem a = problem_of(near, nullptr), b = problem_of(far, nullptr);
    const Grid grid_a = number_grid(a, a.rows, 0, true), grid_b = number_grid(b, b.rows, 0, true);
    CHECK_EQUAL(grid_a.unit, grid_b.unit);
    for (Row row = 0; row < 4; ++row) CHECK_EQUAL(number_on(grid_a, a, row, 0), number_on(grid_b, b, row, 0));
}

TEST("grids: the median, also where half of the weight lies on each side") {
    const std::vector<double> numbers{5, 1, 3, 9}, weight{1, 1, 1, 3};
    const Problem plain = problem_of(numbers, nullptr), weighed = problem_of(numbers, weight.data());
    CHECK_EQUAL(median_number(plain, weight_grid(plain, plain.rows), plain.rows, 0), 4.0);
    CHECK_EQUAL(median_number(weighed, weight_grid(weighed, weighed.rows), weighed.rows, 0), 7.0);
    const std::vector<Row> three{0, 1, 2};
    CHECK_EQUAL(median_number(plain, Grid{}, three, 0), 3.0);
}
