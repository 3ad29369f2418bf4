// Error: W − the heaviest class, what a leaf gets wrong.
#include <algorithm>

#include "searching.hpp"

namespace treewright {

struct Error {
    static constexpr std::string_view name = "error";

    static double risk(Weights weights) {
        double total = 0, heaviest = 0;
        for (const double w : weights) {
            total += w;
            heaviest = std::max(heaviest, w);
        }
        return total - heaviest;
    }
};

static const Enlist<Error> enlisted;

}  // namespace treewright
