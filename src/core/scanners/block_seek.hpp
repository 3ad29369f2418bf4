// Seeking cuts that score D²/(L·R) in blocks: D is the sum of the distances w·(y − mean) of the rows on the
// left, L and R are the weights of the sides. A row changes D by its distance only, so a block of cuts can be
// passed over where D is far from what a good cut needs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace treewright {

/// Scores have to fall short of the best by so much of their size before a cut is passed over: more than all
/// that rounding can do to their bounds.
constexpr double bound_room = 1e-8;

/// Whether a cut in the midst of `n` rows may reach D² = `least`, where D is known before and after them, and
/// none of them changes it by more than `step`.
inline bool may_reach(double before, double after, double n, double step, double least) {
    const double farthest = std::abs(before) + std::abs(after) + n * step;  // twice the most that D can be
    return !(farthest * farthest <= 4 * least);                             // true where `least` is no number
}

/// The cut that seek() is after. `sums` are those of the rows on the left: sums.difference() is D,
/// sums.sides() is L·R. `scores_more()` has the last word on a cut that scores nearly more than `least`.
template <class Id, class Sums, class ScoresMore>
std::size_t seek_in_blocks(Sums& sums, const Id* entries, std::size_t i, std::size_t last, double least,
                           double step, ScoresMore scores_more) {
    constexpr std::size_t block = 8;
    const double nearly = least * (1 - bound_room);
    const auto is_found = [&] {
        sums.add(entries[i - 1]);
        const double here = sums.difference();
        return here * here > nearly * sums.sides() && scores_more(i);
    };
    double before = sums.difference(), product = sums.sides();
    while (i + block <= last + 1) {
        const Sums start = sums;
        for (std::size_t k = 0; k < block; ++k) sums.add(entries[i - 1 + k]);
        const double after = sums.difference(), product_after = sums.sides();
        const double needed = nearly * std::min(product, product_after);
        const bool may_hide = may_reach(before, after, block, step, needed);
        before = after;
        product = product_after;
        if (may_hide) {
            sums = start;
            for (const std::size_t end = i + block; i < end; ++i)
                if (is_found()) return i;
        } else {
            i += block;
        }
    }
    for (; i <= last; ++i)
        if (is_found()) return i;
    return i;
}

}  // namespace treewright
