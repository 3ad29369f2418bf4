// Square root (Kearns and Mansour): W·√(q(1−q)) for two classes; for many Σ_{i<j} √(n_i·n_j), the sum over
// pairs of classes, which is ((Σ√n_k)² − W) / 2.
#include <cmath>

#include "searching.hpp"

namespace treewright {

struct SquareRoot {
    static constexpr std::string_view name = "sqrt";

    static double term(double weight) { return std::sqrt(weight); }
    static double risk(double total, double terms) { return (terms * terms - total) / 2; }
};

static const Enlist<SquareRoot> enlisted;

}  // namespace treewright
