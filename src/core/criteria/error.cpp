// Error: W − the heaviest class, what a leaf gets wrong.
#include "criteria/enlist.hpp"

namespace treewright {

struct Error {
    static constexpr std::string_view name = "error";
    static constexpr bool is_by_heaviest = true;

    static double risk(Weights weights) { return Heaviest(weights).rest; }
};

static const Enlist enlisted(criterion_of<Error>());

}  // namespace treewright
