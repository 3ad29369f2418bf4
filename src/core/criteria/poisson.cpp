// Poisson: half the deviance, Σ w·(y·log(y / mean) − y + mean), for counts and frequencies. Both sides of a
// split must have a positive sum, so that no leaf predicts zero.
#include "criteria/enlist.hpp"
#include "support/elementary.hpp"

namespace treewright {

struct Poisson {
    static constexpr std::string_view name = "poisson";
    static constexpr bool is_centred = false;
    static constexpr bool may_refuse = true;  // a side whose numbers are all zero

    static double loss(double y, double value) {
        return (y > 0 ? y * elementary::log(y / value) : 0.0) - y + value;
    }
    static double gain(double weight_left, double sum_left, double weight_right, double sum_right) {
        if (!(sum_left > 0) || !(sum_right > 0)) return unreachable;
        const double mean = (sum_left + sum_right) / (weight_left + weight_right);
        return sum_left * elementary::log(sum_left / weight_left / mean) +
               sum_right * elementary::log(sum_right / weight_right / mean);
    }
    static double measured(double gain, double sum_unit, double) { return gain * sum_unit; }
};

static const Enlist enlisted(criterion_of<Poisson>());

}  // namespace treewright
