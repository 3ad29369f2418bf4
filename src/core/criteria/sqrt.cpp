// Square root (Kearns and Mansour): W·√(q(1−q)) for two classes; for many Σ_{i<j} √(n_i·n_j), the sum over
// pairs of classes, which is ((Σ√n_k)² − W) / 2.
#include <cmath>

#include "criteria/enlist.hpp"

namespace treewright {

struct SquareRoot {
    static constexpr std::string_view name = "sqrt";

    static double term(double weight) { return std::sqrt(weight); }
    static double risk(double total, double terms) { return (terms * terms - total) / 2; }
    static double part(double share) { return std::sqrt(share); }
    static double risk(double heaviest, double rest, double parts) {
        return std::sqrt(heaviest) * parts + (parts * parts - rest) / 2;
    }
    static double risk(Weights weights) {
        const Heaviest heaviest(weights);
        double roots = 0;
        int n_others = 0;
        for (std::size_t k = 0; k < weights.size(); ++k)
            if (k != heaviest.index && weights[k] > 0) {
                roots += std::sqrt(weights[k]);
                ++n_others;
            }
        const double among_others = n_others > 1 ? (roots * roots - heaviest.rest) / 2 : 0.0;
        return std::sqrt(heaviest.weight) * roots + among_others;
    }
};

static const Enlist enlisted(criterion_of<SquareRoot>());

}  // namespace treewright
