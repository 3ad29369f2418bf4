// Squared error: Σ w·(y − mean)².
#include "criteria/enlist.hpp"

namespace treewright {

struct SquaredError {
    static constexpr std::string_view name = "squared_error";
    static constexpr bool is_centred = true;
    static constexpr bool may_refuse = false;
    static constexpr bool is_linear = true;

    static double loss(double y, double value) { return (y - value) * (y - value); }
    static double gain(double weight_left, double sum_left, double weight_right, double sum_right) {
        return square_gain(weight_left, sum_left, weight_right, sum_right);
    }
    static double measured(double gain, double sum_unit, double weight_unit) {
        return gain * sum_unit * (sum_unit / weight_unit);
    }
};

static const Enlist enlisted(criterion_of<SquaredError>());

}  // namespace treewright
