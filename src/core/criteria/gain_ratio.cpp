// Gain ratio (C4.5): thresholds are chosen by entropy, columns by gain per bit of split information.
#include "criteria/criterion.hpp"
#include "criteria/entropy.hpp"

namespace treewright {

static const Enlist enlisted([] {
    Criterion criterion = entropy();
    criterion.name = "gain_ratio";
    criterion.by_ratio = true;
    return criterion;
}());

}  // namespace treewright
