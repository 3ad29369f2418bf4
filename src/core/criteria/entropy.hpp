// Entropy in bits, shared by the criteria `entropy` and `gain_ratio`.
#pragma once

#include <cmath>
#include <string_view>

namespace treewright {

struct Entropy {
    static constexpr std::string_view name = "entropy";

    static double term(double weight) { return weight > 0 ? weight * std::log2(weight) : 0.0; }
    static double risk(double total, double terms) { return term(total) - terms; }
};

}  // namespace treewright
