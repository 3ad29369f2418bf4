// Gain ratio (C4.5): thresholds are chosen by entropy, columns by gain per bit of split information.
#include "entropy.hpp"
#include "searching.hpp"

namespace treewright {

struct GainRatio : Entropy {
    static constexpr std::string_view name = "gain_ratio";
    static constexpr bool by_ratio = true;
};

static const Enlist<GainRatio> enlisted;

}  // namespace treewright
