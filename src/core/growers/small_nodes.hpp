// Growing small nodes: in sorted lists, or by drawn cuts, with ids as short as the number of rows allows.
#pragma once

#include <cstdint>
#include <memory>

#include "criteria/criterion.hpp"
#include "data/problem.hpp"
#include "growers/nodes.hpp"

namespace treewright {

/// Every thread has its own.
class SmallNodeGrower {
  public:
    SmallNodeGrower(const Problem& problem, const Criterion& criterion);
    ~SmallNodeGrower();

    /// Grows the whole subtree of a node; its nodes are appended to `out`, whose first node is the subtree's
    /// root. Reorders the node's rows.
    void grow(Row* rows, const Job& job, Nodes& out);

  private:
    template <class Id>
    struct Growers;

    std::unique_ptr<Growers<std::uint16_t>> short_;
    std::unique_ptr<Growers<std::uint32_t>> long_;
};

}  // namespace treewright
