// Entropy in bits, shared by the criteria `entropy` and `gain_ratio`.
#pragma once

#include "criteria/criterion.hpp"

namespace treewright {

Criterion entropy();

}  // namespace treewright
