// How far two points are apart. A distance is added up column by column in float64, in the order of the
// columns, whatever the type of the points; it is compared before its root is taken.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>

#include "support/elementary.hpp"

namespace treewright {

/// `term` is what one column adds, `join` adds it; `moved` is the distance to a box after it has moved away
/// in one column. `root` gives the distance, `power` the greatest sum whose distance is at most `distance`.
struct Euclidean {
    static constexpr std::string_view name = "euclidean";
    static double term(double difference) { return difference * difference; }
    static double join(double sum, double term) { return sum + term; }
    static double moved(double sum, double before, double now) { return sum - before * before + now * now; }
    static double root(double sum) { return std::sqrt(sum); }
    static double power(double distance) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double sum = distance * distance;
        while (std::sqrt(sum) > distance) sum = std::nextafter(sum, 0.0);
        while (sum < infinity && std::sqrt(std::nextafter(sum, infinity)) <= distance)
            sum = std::nextafter(sum, infinity);
        return sum;
    }
};

struct Manhattan {
    static constexpr std::string_view name = "manhattan";
    static double term(double difference) { return std::abs(difference); }
    static double join(double sum, double term) { return sum + term; }
    static double moved(double sum, double before, double now) { return sum - before + now; }
    static double root(double sum) { return sum; }
    static double power(double distance) { return distance; }
};

struct Chebyshev {
    static constexpr std::string_view name = "chebyshev";
    static double term(double difference) { return std::abs(difference); }
    static double join(double sum, double term) { return sum < term ? term : sum; }
    static double moved(double sum, double, double now) { return sum < now ? now : sum; }
    static double root(double sum) { return sum; }
    static double power(double distance) { return distance; }
};

/// Any power from 1 on; 1, 2 and infinity are the metrics above, which are faster.
struct Minkowski {
    static constexpr std::string_view name = "minkowski";
    double p = 2;

    double term(double difference) const { return elementary::pow(std::abs(difference), p); }
    static double join(double sum, double term) { return sum + term; }
    double moved(double sum, double before, double now) const { return sum - term(before) + term(now); }
    double root(double sum) const { return elementary::pow(sum, 1 / p); }
    /// Positive floats are in the order of their bits, which are halved; rounding may hide a few more.
    double power(double distance) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (distance == infinity) return infinity;
        auto below = std::bit_cast<std::uint64_t>(0.0), above = std::bit_cast<std::uint64_t>(infinity);
        while (above - below > 1) {
            const auto middle = below + (above - below) / 2;
            (root(std::bit_cast<double>(middle)) <= distance ? below : above) = middle;
        }
        for (auto next = below + 4; next > below; --next)
            if (root(std::bit_cast<double>(next)) <= distance) below = next;
        return std::bit_cast<double>(below);
    }
};

/// All metrics; the first is the default.
using KDMetric = std::variant<Euclidean, Manhattan, Chebyshev, Minkowski>;

/// The metric of a name, if there is one; `p` is the power of Minkowski's.
template <std::size_t place = 0>
std::optional<KDMetric> metric_named(std::string_view name, double p) {
    if constexpr (place < std::variant_size_v<KDMetric>) {
        using Metric = std::variant_alternative_t<place, KDMetric>;
        if (name != Metric::name) return metric_named<place + 1>(name, p);
        if constexpr (requires(Metric metric) { metric.p; }) return Metric{p};
        return Metric{};
    }
    return std::nullopt;
}

}  // namespace treewright
