// Entropy in bits, shared by the criteria `entropy` and `gain_ratio`.
#pragma once

#include "criterion.hpp"

namespace treewright {

Criterion entropy();

}  // namespace treewright
