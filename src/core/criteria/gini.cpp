// Gini: W·(1 − Σ p²), the chance that two rows of a node differ in class.
#include <cmath>

#include "criteria/enlist.hpp"

namespace treewright {

struct Gini {
    static constexpr std::string_view name = "gini";
    static constexpr bool is_linear_for_two =
        true;  // with two classes it is twice the squared error of 0/1 labels

    static double term(double weight) { return weight * weight; }
    static double risk(double total, double terms) { return total - terms / total; }
    static double part(double share) { return share * share; }
    static double risk(double heaviest, double rest, double parts) {
        return (2 * heaviest * rest + (rest * rest - parts)) / (heaviest + rest);
    }
    static double risk(Weights weights) {
        const Heaviest heaviest(weights);
        if (heaviest.rest <= 0) return 0;
        // In units of a power of two, which changes no digit: products of huge or tiny weights stay in range.
        const double unit = std::ldexp(1.0, std::ilogb(heaviest.total()));
        double products = heaviest.weight / unit * heaviest.rest;
        for (std::size_t k = 0; k < weights.size(); ++k)
            if (k != heaviest.index) products += weights[k] / unit * (heaviest.total() - weights[k]);
        return products / heaviest.total() * unit;
    }

    /// Σ_k (l_k·R − r_k·L)² / (L·R·W): the difference of the risks without its cancellation.
    static double gain(Weights left, Weights right) {
        double l = 0, r = 0, squares = 0;
        for (std::size_t k = 0; k < left.size(); ++k) {
            l += left[k];
            r += right[k];
        }
        const double share_left = l / (l + r), share_right = r / (l + r);
        for (std::size_t k = 0; k < left.size(); ++k) {
            const double difference = left[k] * share_right - right[k] * share_left;
            squares += difference * difference;
        }
        return squares * (1 / l + 1 / r);
    }
};

static const Enlist enlisted(criterion_of<Gini>());

}  // namespace treewright
