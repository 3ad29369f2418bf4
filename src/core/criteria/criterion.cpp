// The table of criteria.
#include "criteria/criterion.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace treewright {

std::vector<Criterion>& criteria() {
    static std::vector<Criterion> table;
    return table;
}

const Criterion& criterion_named(std::string_view name) {
    for (const auto& criterion : criteria())
        if (criterion.name == name) return criterion;
    throw std::invalid_argument("criterion '" + std::string(name) + "' is unknown");
}

}  // namespace treewright
