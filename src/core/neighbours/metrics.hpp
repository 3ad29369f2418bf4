// How far two points are apart. A distance is added up column by column in float64, in the order of the
// columns, whatever the type of the points; it is compared before its root is taken.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace treewright {

enum class KDMetric { euclidean, manhattan, chebyshev };

/// `term` is what one column adds, `join` adds it; `moved` is the distance to a box after it has moved away
/// in one column. `root` gives the distance, `power` the greatest sum whose distance is at most `distance`.
struct Euclidean {
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
    static double term(double difference) { return std::abs(difference); }
    static double join(double sum, double term) { return sum + term; }
    static double moved(double sum, double before, double now) { return sum - before + now; }
    static double root(double sum) { return sum; }
    static double power(double distance) { return distance; }
};

struct Chebyshev {
    static double term(double difference) { return std::abs(difference); }
    static double join(double sum, double term) { return sum < term ? term : sum; }
    static double moved(double sum, double, double now) { return sum < now ? now : sum; }
    static double root(double sum) { return sum; }
    static double power(double distance) { return distance; }
};

template <class Work>
decltype(auto) with_metric(KDMetric metric, Work&& work) {
    switch (metric) {
        case KDMetric::manhattan:
            return work(Manhattan{});
        case KDMetric::chebyshev:
            return work(Chebyshev{});
        default:
            return work(Euclidean{});
    }
}

}  // namespace treewright
