// Logarithms and their like: accuracy against a wider arithmetic, exact values, the ends of the range.
#include <cmath>
#include <limits>
#include <vector>

#include "data/problem.hpp"
#include "harness.hpp"
#include "support/elementary.hpp"

using namespace treewright;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
/// Whether long double knows better: 80 bits with a library of their own.
constexpr bool is_wide = std::numeric_limits<long double>::digits == 64;

/// How far `found` is from `truth`, in units in the last place of a double.
double error_in_places(double found, long double truth) {
    if (static_cast<double>(truth) == found) return 0;
    const double near = std::abs(static_cast<double>(truth));
    const double place = std::nextafter(near, infinity) - near;
    return static_cast<double>(std::abs(static_cast<long double>(found) - truth) / place);
}

/// The largest error over many numbers; checks that it is at most `most`.
template <class Draw, class Found, class Truth>
void check_error(const char* name, double most, Draw draw, Found found, Truth truth) {
    if (!is_wide) return;
    Random random{1};
    double worst = 0, worst_at = 0;
    for (int i = 0; i < 100000; ++i) {
        const double x = draw(random), error = error_in_places(found(x), truth(static_cast<long double>(x)));
        if (error > worst) {
            worst = error;
            worst_at = x;
        }
    }
    if (worst > most)
        harness::fail(__FILE__, __LINE__)
            << name << " errs by " << worst << " places at " << worst_at << '\n';
}

double anything(Random& random) {
    return std::ldexp(0.5 + random.uniform() / 2, static_cast<int>(random.below(2098)) - 1073);
}
double near_one(Random& random) {
    return 1 + std::ldexp(random.uniform() - 0.5, -static_cast<int>(random.below(50)));
}
double small_whole(Random& random) { return static_cast<double>(1 + random.below(1000000)); }

}  // namespace

TEST("elementary: logarithms are within one unit in the last place") {
    for (const auto draw : {anything, near_one, small_whole}) {
        check_error(
            "log", 0.6, draw, [](double x) { return elementary::log(x); },
            [](long double x) { return std::log(x); });
        check_error(
            "log2", 0.6, draw, [](double x) { return elementary::log2(x); },
            [](long double x) { return std::log2(x); });
        check_error(
            "log10", 0.6, draw, [](double x) { return elementary::log10(x); },
            [](long double x) { return std::log10(x); });
    }
}

TEST("elementary: log1p is within one unit in the last place, also near zero") {
    const auto found = [](double x) { return elementary::log1p(x); };
    const auto truth = [](long double x) { return std::log1p(x); };
    check_error("log1p", 0.8, [](Random& random) { return random.uniform() * 1.999 - 0.9995; }, found, truth);
    check_error("log1p", 0.8, [](Random& random) { return near_one(random) - 1; }, found, truth);
    check_error("log1p", 0.8, anything, found, truth);
}

TEST("elementary: exp and pow are within one unit in the last place") {
    check_error(
        "exp", 0.6, [](Random& random) { return random.uniform() * 1400 - 700; },
        [](double x) { return elementary::exp(x); }, [](long double x) { return std::exp(x); });
    for (const double p : {0.1, 1.0 / 3, 1.5, 2.0, 3.0, 7.7, 30.0})
        check_error(
            "pow", 0.7,
            [](Random& random) {
                return std::ldexp(random.uniform(), static_cast<int>(random.below(40)) - 20);
            },
            [&](double x) { return elementary::pow(x, p); },
            [&](long double x) { return std::pow(x, static_cast<long double>(p)); });
}

TEST("elementary: erfc is within four units in the last place") {
    check_error(
        "erfc", 4, [](Random& random) { return random.uniform() * 32 - 6; },
        [](double x) { return elementary::erfc(x); }, [](long double x) { return std::erfc(x); });
}

TEST("elementary: what is exact comes out exact") {
    for (int e = -1074; e <= 1023; ++e)
        CHECK_EQUAL(elementary::log2(std::ldexp(1.0, e)), static_cast<double>(e));
    double power = 1;
    for (int e = 0; e <= 22; ++e, power *= 10) CHECK_EQUAL(elementary::log10(power), static_cast<double>(e));
    for (const double x : {1.0, 3.0, 81.0, 1000.0}) CHECK_EQUAL(elementary::pow(x, 2), x * x);
    CHECK_EQUAL(elementary::log(1), 0.0);
    CHECK_EQUAL(elementary::log1p(0), 0.0);
    CHECK_EQUAL(elementary::exp(0), 1.0);
    CHECK_EQUAL(elementary::erfc(0), 1.0);
    CHECK_EQUAL(elementary::pow(1, infinity), 1.0);
    CHECK_EQUAL(elementary::pow(2, 0), 1.0);
}

TEST("elementary: known values") {  // Abramowitz and Stegun 1964, to the digits of a double
    CHECK_EQUAL(elementary::log(2), 0.69314718055994530942);
    CHECK_EQUAL(elementary::log(10), 2.30258509299404568402);
    CHECK_EQUAL(elementary::exp(1), 2.71828182845904523536);
    CHECK_EQUAL(elementary::log2(10), 3.32192809488736234787);
    CHECK(std::abs(elementary::erfc(1) - 0.15729920705028513066) < 1e-16);
    CHECK(std::abs(elementary::erfc(-1) - 1.84270079294971486934) < 4e-16);
}

TEST("elementary: the ends of the range") {
    CHECK_EQUAL(elementary::log(0), -infinity);
    CHECK_EQUAL(elementary::log2(0), -infinity);
    CHECK_EQUAL(elementary::log1p(-1), -infinity);
    CHECK_EQUAL(elementary::log(infinity), infinity);
    CHECK_EQUAL(elementary::log2(infinity), infinity);
    for (const double x :
         {elementary::log(-1), elementary::log2(-1), elementary::log1p(-2), elementary::pow(-1, 2),
          elementary::log(not_a_number), elementary::log2(not_a_number), elementary::log1p(not_a_number),
          elementary::exp(not_a_number), elementary::erfc(not_a_number), elementary::pow(not_a_number, 2)})
        CHECK(std::isnan(x));
    CHECK_EQUAL(elementary::exp(-infinity), 0.0);
    CHECK_EQUAL(elementary::exp(infinity), infinity);
    CHECK_EQUAL(elementary::exp(-745), 5e-324);
    CHECK_EQUAL(elementary::pow(0, 2.5), 0.0);
    CHECK_EQUAL(elementary::pow(infinity, 2.5), infinity);
    CHECK_EQUAL(elementary::pow(1e300, 2), infinity);
    CHECK_EQUAL(elementary::pow(1e300, 1e300), infinity);
    CHECK_EQUAL(elementary::pow(5e-324, 1), 5e-324);
    CHECK_EQUAL(elementary::erfc(infinity), 0.0);
    CHECK_EQUAL(elementary::erfc(-infinity), 2.0);
}

TEST("elementary: a greater number has no smaller logarithm") {
    Random random{3};
    for (int i = 0; i < 20000; ++i) {
        const double x = anything(random), next = std::nextafter(x, infinity);
        CHECK(elementary::log(x) <= elementary::log(next));
        CHECK(elementary::log2(x) <= elementary::log2(next));
    }
}
