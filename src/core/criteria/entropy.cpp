// Entropy: W·Σ p·log2(1/p), in bits; its gain is the mutual information of split and class, times W.
#include "criteria/entropy.hpp"

#include <numbers>

#include "criteria/enlist.hpp"
#include "support/elementary.hpp"

namespace treewright {

struct Entropy {
    static constexpr std::string_view name = "entropy";

    static double term(double weight) { return weight > 0 ? weight * elementary::log2(weight) : 0.0; }
    static double risk(double total, double terms) { return term(total) - terms; }
    static double part(double share) { return -share * elementary::log2(share); }
    static double risk(double heaviest, double rest, double parts) {
        const double total = heaviest + rest;
        const double own =
            heaviest > 0 ? -heaviest * elementary::log1p(-rest / total) / std::numbers::ln2 : 0.0;
        return own + parts + rest * elementary::log2(total);
    }
    static double risk(Weights weights) {
        const Heaviest heaviest(weights);
        const double total = heaviest.total();
        if (heaviest.rest <= 0) return 0;
        double nats = -heaviest.weight * elementary::log1p(-heaviest.rest / total);
        for (std::size_t k = 0; k < weights.size(); ++k)
            if (k != heaviest.index && weights[k] > 0)
                nats += weights[k] * elementary::log(total / weights[k]);
        return nats / std::numbers::ln2;
    }
};

Criterion entropy() { return criterion_of<Entropy>(); }

static const Enlist enlisted(entropy());

}  // namespace treewright
