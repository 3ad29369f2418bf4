// The front of size and loss: the least loss of every number of leaves.
//
// f_v(k) is the least loss of the subtree of v with at most k leaves: f_v(1) is v's own, and above that the
// best division of k among its two children. Lists end where the loss stops falling, and are forgotten when
// their parent's is made; in all this takes O(leaves × min(leaves, max_leaves)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/threads.hpp"
#include "tree/shape.hpp"

namespace treewright {

/// The choices would take more memory than they may.
struct TooManyChoices : std::length_error {
    using std::length_error::length_error;
};

/// Limits of the search: answers with more leaves are not looked for; choices take at most so many bytes (and
/// as many again while they are made), and none where they are not kept.
struct FrontLimits {
    std::int64_t max_leaves = 1;
    std::size_t max_bytes = std::size_t{1} << 29;
    bool keeps_choices = true;
};

struct Front {
    /// Ascending numbers of leaves, and the least loss with each; only points where the loss falls.
    std::vector<std::int64_t> leaves;
    std::vector<double> loss;
    /// What it takes to find the tree behind a point: the length of each node's list and, at branches
    /// whose children both have more than one entry, how many leaves the child with the shorter list gets.
    std::vector<std::int32_t> length;
    std::vector<std::uint8_t> choices;
};

/// `loss` is that of each node if it is a leaf. It need not fall from a node to its children: a branch that
/// loses more than its node is never part of an answer. Unless all losses are whole numbers, falls of less
/// than 2e-15 of the largest loss are taken for rounding.
///
/// Among trees of equal loss and size, the shorter list (the left one of equals) gets as few leaves as it
/// can.
Front find_front(Shape end, std::span<const double> loss, const FrontLimits& limits, Interrupt& interrupt);

/// The branches that become leaves in the best tree with so many leaves, which must be a point of the front.
std::vector<std::int32_t> front_pruning(Shape end, std::span<const std::int32_t> length,
                                        std::span<const std::uint8_t> choices, std::int64_t leaves);

}  // namespace treewright
