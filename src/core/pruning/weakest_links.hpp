// Weakest-link pruning: the subtree of least loss + alpha × size, for every alpha at once.
//
// One bottom-up pass. At node v, every link below that would break later than v breaks together with v: what
// it loses and what it saves is added to v's. The links that are left below v break before v does. They wait
// in a heap, the last to break on top; the heaps of two children are melded in O(1), so that the whole pass
// takes O(n log n) for a tree of any shape.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/threads.hpp"
#include "tree/shape.hpp"

namespace treewright {

struct WeakestLinks {
    std::vector<double> level;  // of each node the alpha from which on it is no branch; infinity at a leaf
    /// The nested subtrees: from alpha[i] on, up to alpha[i + 1], the best one has the loss loss[i] and
    /// leaves[i] leaves. alpha[0] is 0.
    std::vector<double> alpha, loss;
    std::vector<std::int64_t> leaves;
};

/// `loss` is that of each node if it is a leaf; `cost` what each branch adds to the size, 1 if it is empty.
/// At a given alpha the answer is the smallest subtree among the best. Levels below zero count as zero.
///
/// Whole numbers that add up to less than 2^53 are compared exactly. Otherwise two levels are one where they
/// differ by rounding alone, that is, by 1e-12 of themselves or by 2e-15 of the largest loss.
WeakestLinks weakest_links(Shape end, std::span<const double> loss, std::span<const double> cost,
                           Interrupt& interrupt);

/// Whether all are whole and so small that their sums are exact in double precision.
bool are_whole(std::span<const double> numbers);

}  // namespace treewright
