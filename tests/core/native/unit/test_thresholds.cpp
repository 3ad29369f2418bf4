// Thresholds in gaps between decimals, beside a search through whole numbers.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "data/problem.hpp"
#include "growers/thresholds.hpp"
#include "harness.hpp"

using namespace treewright;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

/// The multiple of the largest power of ten between two whole numbers, the nearest to their middle, the lower
/// of two; they differ by ten at least.
std::int64_t roundest_between(std::int64_t low, std::int64_t high) {
    std::int64_t power = 1, found = 0;
    while (power < std::max(std::abs(low), std::abs(high))) power *= 10;
    for (bool any = false; !any; power /= 10)
        for (std::int64_t multiple = low / power * power - power; multiple < high; multiple += power) {
            if (multiple <= low) continue;
            if (!any || std::abs(2 * multiple - low - high) < std::abs(2 * found - low - high))
                found = multiple;
            any = true;
        }
    return found;
}

}  // namespace

TEST("thresholds: the roundest decimal between two decimals") {
    Random random{21};
    constexpr double parts = 10'000;
    for (int i = 0; i < 2000; ++i) {
        const auto low = static_cast<std::int64_t>(random.below(100'000)) * 10 - 400'000;
        const auto high =
            low + 10 * (1 + static_cast<std::int64_t>(random.below(random.below(2) ? 20 : 20'000)));
        const double expected =
            low < 0 && high > 0 ? 0.0 : static_cast<double>(roundest_between(low, high)) / parts;
        CHECK_EQUAL(readable_threshold(static_cast<double>(low) / parts, static_cast<double>(high) / parts),
                    expected);
    }
}

TEST("thresholds: strictly between, as single precision has them too") {
    Random random{22};
    for (int i = 0; i < 2000; ++i) {
        const auto low =
            static_cast<float>(std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(60)) - 30));
        float high = low;
        for (std::size_t steps = 1 + random.below(50); steps > 0; --steps) high = std::nextafter(high, 1e30F);
        const double found = readable_threshold(static_cast<double>(low), static_cast<double>(high));
        CHECK(found > static_cast<double>(low) && found < static_cast<double>(high));
        CHECK(static_cast<float>(found) >= low && static_cast<float>(found) < high);
        const double middle = middle_threshold(static_cast<double>(low), static_cast<double>(high));
        CHECK_EQUAL(middle, (static_cast<double>(low) + static_cast<double>(high)) / 2);
    }
    CHECK_EQUAL(readable_threshold(static_cast<double>(4.3F), static_cast<double>(4.4F)), 4.35);
}

TEST("thresholds: where nothing lies between, and where the numbers end") {
    const double next = std::nextafter(1.5, 2.0);
    CHECK_EQUAL(readable_threshold(1.5, next), 1.5);
    CHECK_EQUAL(middle_threshold(1.5, next), 1.5);
    CHECK_EQUAL(middle_threshold(-largest, largest), 0.0);
    for (const auto threshold : {readable_threshold, middle_threshold})
        for (const double finite : {-largest, -3.0, 0.0, 7.0, largest}) {
            const double above = threshold(finite, infinity), below = threshold(-infinity, finite);
            CHECK(above >= finite && std::isfinite(above));
            CHECK(below < finite && (std::isfinite(below) || finite == -largest));
        }
}
