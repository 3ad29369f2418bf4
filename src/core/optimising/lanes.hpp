// What the best stump of a side can save at the most and at the least, for sixteen bytes of views at once.
//
// A histogram counts [bin][answer][view]. The cut of a view lies at a border between bins, or inside a bin:
// then the rows of that bin may be right on either side, as long as the two sides answer differently.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "optimising/table.hpp"
#include "support/simd.hpp"

namespace treewright::optimising {

/// The histograms of one side: those of the left one, or what is left of all for the right one.
template <class Count>
struct SideCounts {
    const Count* left;
    const Count* all;       // null: the left side itself
    const Count* total;     // by answer
    const Count* is_mixed;  // all bits where a bin hides cuts: [bin][view]
    std::size_t n_bins, n_answers, stride;
};

template <class Count>
constexpr std::size_t lanes_of = 16 / sizeof(Count);
template <class Count>
using Lanes = SimdVector<Count, lanes_of<Count>>;

template <class Count>
inline Lanes<Count> lanes_at(const Count* from) {
    return *reinterpret_cast<const Lanes<Count>*>(from);
}
template <class Count>
inline Lanes<Count> all_lanes(Count x) {
    Lanes<Count> out{};
    for (std::size_t i = 0; i < lanes_of<Count>; ++i) out[i] = x;
    return out;
}

/// What the stumps of each view save: `most` is never exceeded by a cut, `least` is reached by one at a
/// border. Two answers: only the difference of what they save counts.
template <class Count, bool of_right>
void two_answers(const SideCounts<Count>& side, Count* out_most, Count* out_least) {
    using V = Lanes<Count>;
    const Count zeros = side.total[0], ones = side.total[1];
    for (std::size_t view = 0; view < side.stride; view += lanes_of<Count>) {
        V difference{}, most_one{}, most_zero{}, least_one{}, least_zero{};
        const Count* left = side.left + view;
        const Count* all = of_right ? side.all + view : nullptr;
        const Count* mixed = side.is_mixed + view;
        for (std::size_t bin = 0; bin < side.n_bins; ++bin) {
            V zero = lanes_at(left), one = lanes_at(left + side.stride);
            if constexpr (of_right) {
                zero = lanes_at(all) - zero;
                one = lanes_at(all + side.stride) - one;
                all += 2 * side.stride;
            }
            const V mask = lanes_at(mixed);
            left += 2 * side.stride;
            mixed += side.stride;
            difference = difference + zero - one;
            least_one = larger(least_one, difference);
            least_zero = larger(least_zero, V{} - difference);
            most_one = larger(most_one, difference + (one & mask));
            most_zero = larger(most_zero, (zero & mask) - difference);
        }
        const V z = all_lanes<Count>(zeros), o = all_lanes<Count>(ones);
        const V least = larger(least_one + o, least_zero + z), most = larger(most_one + o, most_zero + z);
        for (std::size_t i = 0; i < lanes_of<Count>; ++i) {
            out_least[view + i] = least[i];
            out_most[view + i] = most[i];
        }
    }
}

/// The two largest of the numbers that pass, in each lane.
template <class V>
struct TwoLargest {
    V first{}, second{};

    void take(const V& x) {
        second = larger(second, smaller(first, x));
        first = larger(first, x);
    }
};

/// Any number of answers: the best one before the cut and the best other one behind it. `k` is their number
/// where it is known to the compiler, else 0.
template <class Count, bool of_right, std::size_t k>
void many_answers(const SideCounts<Count>& side, Count* out_most, Count* out_least) {
    using V = Lanes<Count>;
    const std::size_t n = k > 0 ? k : side.n_answers;
    std::vector<V> on_heap(k > 0 ? 0 : 2 * n);
    V on_stack[k > 0 ? 2 * k : 1];
    V* const before = k > 0 ? on_stack : on_heap.data();
    V* const total = before + n;
    const Count largest = *std::max_element(side.total, side.total + n);
    for (std::size_t view = 0; view < side.stride; view += lanes_of<Count>) {
        for (std::size_t a = 0; a < n; ++a) {
            before[a] = V{};
            total[a] = all_lanes<Count>(side.total[a]);
        }
        V most = all_lanes<Count>(largest), least = most;
        const Count* left = side.left + view;
        const Count* all = of_right ? side.all + view : nullptr;
        const Count* mixed = side.is_mixed + view;
        for (std::size_t bin = 0; bin < side.n_bins; ++bin, mixed += side.stride) {
            const V mask = lanes_at(mixed);
            TwoLargest<V> ahead, behind;
            V same{}, rest{};  // the same answer on both sides; behind the border
            for (std::size_t a = 0; a < n; ++a) {
                V own = lanes_at(left);
                left += side.stride;
                if constexpr (of_right) {
                    own = lanes_at(all) - own;
                    all += side.stride;
                }
                before[a] = before[a] + own;
                rest = larger(rest, total[a] - before[a]);
                const V both = total[a] + (own & mask);
                same = larger(same, both);
                ahead.take(before[a]);
                behind.take(both - before[a]);
            }
            least = larger(least, ahead.first + rest);
            // Where one answer is the best on both sides, one side takes its second best.
            const V best = ahead.first + behind.first;
            const V other = larger(ahead.first + behind.second, ahead.second + behind.first);
            most = larger(most, where_at_most(best, same, other, best));  // best is never below same
            most = larger(most, ahead.first + rest);
        }
        for (std::size_t i = 0; i < lanes_of<Count>; ++i) {
            out_least[view + i] = least[i];
            out_most[view + i] = most[i];
        }
    }
}

}  // namespace treewright::optimising
