// Exact sums beside sums of 128-bit integers, and where doubles end.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/problem.hpp"
#include "harness.hpp"
#include "support/exact_sum.hpp"
#include "support/portable.hpp"

using namespace treewright;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double least = std::numeric_limits<double>::denorm_min();

double sum_of(const std::vector<double>& numbers) {
    ExactSum sum;
    for (const double number : numbers) sum.add(number);
    return sum.rounded();
}

}  // namespace

TEST("exact sum: the same as of 128-bit integers, rounded once") {
    Random random{11};
    for (int i = 0; i < 500; ++i) {
        const std::size_t n = 1 + random.below(200);
        std::vector<double> numbers;
        Int128 expected = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const auto size = static_cast<std::int64_t>(random.below(std::size_t{1} << 53));
            const std::int64_t whole = random.below(2) == 0 ? size : -size,
                               power = std::int64_t{1} << random.below(60);
            numbers.push_back(static_cast<double>(whole) * static_cast<double>(power));
            expected = expected + Int128(whole) * Int128(power);
        }
        CHECK_EQUAL(sum_of(numbers), static_cast<double>(expected));
    }
}

TEST("exact sum: in any order, in parts, and after thousands of carries") {
    Random random{12};
    std::vector<double> numbers(5000);
    for (auto& number : numbers)
        number = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(2000)) - 1000);
    const double expected = sum_of(numbers);
    ExactSum parts, part;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        part.add(numbers[i]);
        if (i % 700 != 0) continue;
        parts.add(part);
        part.clear();
    }
    parts.add(part);
    CHECK_EQUAL(parts.rounded(), expected);
    std::sort(numbers.begin(), numbers.end());
    CHECK_EQUAL(sum_of(numbers), expected);
    for (const double number : std::vector<double>(numbers)) numbers.push_back(-number);
    CHECK_EQUAL(sum_of(numbers), 0.0);
}

TEST("exact sum: halves go to the even neighbour, and the least bit decides them") {
    CHECK_EQUAL(sum_of({0x1p53, 1}), 0x1p53);
    CHECK_EQUAL(sum_of({0x1p53, 3}), 0x1p53 + 4);
    CHECK_EQUAL(sum_of({0x1p53, 1, least}), 0x1p53 + 2);
    CHECK_EQUAL(sum_of({-0x1p53, -1, -least}), -0x1p53 - 2);
    CHECK_EQUAL(sum_of({0x1p53, 3, -least}), 0x1p53 + 2);
}

TEST("exact sum: the ends of the doubles") {
    CHECK_EQUAL(sum_of({1e300, 1, -1e300}), 1.0);
    CHECK_EQUAL(sum_of({largest, largest, -largest}), largest);
    CHECK_EQUAL(sum_of({largest, largest}), infinity);
    CHECK_EQUAL(sum_of({least, least, -0.0}), 2 * least);
    CHECK_EQUAL(sum_of({infinity, 1}), infinity);
    CHECK(std::isnan(sum_of({infinity, -infinity})));
    CHECK_EQUAL(sum_of({}), 0.0);
}

TEST("exact sum: a product is added as it is, and the rest is what rounding took") {
    ExactSum sum;
    sum.add_product(1 + 0x1p-40, 1 + 0x1p-40);
    const auto [value, rest] = sum.rounded_with_rest();
    CHECK_EQUAL(value, 1 + 0x1p-39);
    CHECK_EQUAL(rest, 0x1p-80);
    sum.add(-1);
    CHECK_EQUAL(sum.rounded(), 0x1p-39 + 0x1p-80);
}
