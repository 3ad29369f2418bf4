// Entropy: W·Σ p·log2(1/p), in bits; its gain is the mutual information of split and class, times W.
#include "entropy.hpp"

#include "searching.hpp"

namespace treewright {

static const Enlist<Entropy> enlisted;

}  // namespace treewright
