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
    const Count* all;  // null: the left side itself
    const Count* total;  // by answer
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

/// What the stumps of each view save: `most` is never exceeded by a cut, `least` is reached by one at a border.
/// Two answers: only the difference of what they save counts.
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

/// Any number of answers: the best one before the cut and the best other one behind it.
template <class Count, bool of_right>
void many_answers(const SideCounts<Count>& side, Count* out_most, Count* out_least) {
    using V = Lanes<Count>;
    const std::size_t k = side.n_answers;
    std::vector<V> before(k), behind(k);
    for (std::size_t view = 0; view < side.stride; view += lanes_of<Count>) {
        V most{}, least{};
        Count largest = 0;
        for (std::size_t a = 0; a < k; ++a) {
            before[a] = V{};
            largest = std::max(largest, side.total[a]);
        }
        least = most = all_lanes<Count>(largest);
        for (std::size_t bin = 0; bin < side.n_bins; ++bin) {
            const Count* const left = side.left + bin * k * side.stride + view;
            const Count* const all = of_right ? side.all + bin * k * side.stride + view : nullptr;
            const V mask = lanes_at(side.is_mixed + bin * side.stride + view);
            V first{}, second{}, border_before{}, border_behind{};
            for (std::size_t a = 0; a < k; ++a) {
                V own = lanes_at(left + a * side.stride);
                if constexpr (of_right) own = lanes_at(all + a * side.stride) - own;
                before[a] = before[a] + own;
                const V rest = all_lanes<Count>(side.total[a]) - before[a];
                behind[a] = rest + (own & mask);
                border_before = larger(border_before, before[a]);
                border_behind = larger(border_behind, rest);
                const V lower = V{} - larger(V{} - first, V{} - behind[a]);
                second = larger(second, lower);
                first = larger(first, behind[a]);
            }
            least = larger(least, border_before + border_behind);
            most = larger(most, border_before + border_behind);
            for (std::size_t a = 0; a < k; ++a) {
                const V other = behind[a] == first ? second : first;
                most = larger(most, before[a] + other);
            }
        }
        for (std::size_t i = 0; i < lanes_of<Count>; ++i) {
            out_least[view + i] = least[i];
            out_most[view + i] = most[i];
        }
    }
}

}  // namespace treewright::optimising
