// Class codes of a node's rows, renumbered so that only the classes present count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace treewright {

template <class Id>
struct DenseLabels {
    std::vector<std::int32_t> dense;  // by id
    std::vector<std::int32_t> number_of;
    std::size_t n_present = 0;

    void resize(std::size_t n_rows, std::size_t n_classes) {
        dense.resize(n_rows);
        number_of.assign(n_classes, -1);
    }
    template <class LabelOf>
    void enter(std::span<const Id> ids, LabelOf label_of) {
        n_present = 0;
        for (const Id id : ids) {
            auto& number = number_of[label_of(id)];
            if (number < 0) number = static_cast<std::int32_t>(n_present++);
            dense[id] = number;
        }
        for (const Id id : ids) number_of[label_of(id)] = -1;
    }
};

}  // namespace treewright
