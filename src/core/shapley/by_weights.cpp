// Exact Shapley values of a tree's answers.
//
// The answer of a tree is a sum over its leaves. On the way to a leaf each column j counts once, with the
// product z_j of the shares of rows that take the same turns, and with o_j = 1 where the row itself does
// (else 0). A set S of known columns gives the leaf the weight Π_{j in S} o_j · Π_{others} z_j, and since the
// Shapley weight of S is ∫ t^|S| (1 − t)^(d−1−|S|) dt, column i gets from the leaf
//
//     answer · (o_i − z_i) · ∫ Π_{j ≠ i} (o_j t + z_j (1 − t)) dt.
//
// The integrand is a polynomial with positive factors: a sum over Gauss and Legendre's points is exact and
// loses no digits. At one point t the products of all leaves come from one walk: down the tree the product is
// multiplied by what a turn changes, and up the tree the sums below a node are multiplied by what its column
// owes. So a row takes time nodes × points, and the points are half the columns on a way, not its depth.
#include "shapley/shapley.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "shapley/patterns.hpp"
#include "shapley/quadrature.hpp"
#include "shapley/ways.hpp"
#include "support/simd.hpp"

namespace treewright {

namespace {

constexpr std::size_t n_lanes = 4;  // patterns that walk together
using Lanes = SimdVector<double, n_lanes>;
using LaneBits = std::uint8_t;  // one for each lane
constexpr LaneBits all_lanes = (1 << n_lanes) - 1;

/// Several such vectors; how they must lie in memory depends on the processor, and this suits all.
template <std::size_t N>
struct alignas(sizeof(Lanes)) LaneArray {
    Lanes lanes[N];
    Lanes& operator[](std::size_t i) { return lanes[i]; }
    const Lanes& operator[](std::size_t i) const { return lanes[i]; }
};

/// 1 in the lanes whose bit is set, 0 in the others.
const LaneArray<1 << n_lanes> ones = [] {
    LaneArray<1 << n_lanes> all{};
    for (std::size_t bits = 0; bits < (1 << n_lanes); ++bits)
        for (std::size_t lane = 0; lane < n_lanes; ++lane) all[bits][lane] = bits >> lane & 1 ? 1.0 : 0.0;
    return all;
}();

/// The shares of the turns, and what they become at each of K points.
template <std::size_t K>
struct Turns {
    using Points = std::array<double, K>;

    std::vector<double> share;  // of the parent's weight
    // For a row whose values agree with all turns by the column above this one: what the turn does to the
    // product where the row takes it and where it does not; and what the column gets where it does, and owes
    // where not.
    std::vector<Points> taken, missed, gets;
    Points start, owes;

    Turns(const TreeView& tree, const Ways& ways, std::span<const double> weight)
        : share(weight.size(), 1), above_(weight.size(), 1), z_(weight.size(), 1) {
        for (const std::int32_t node : ways.branches) {
            const std::array<std::int32_t, 2> children{node + 1, tree.end[node + 1]};
            // Shares of the children's own sum: they add up to 1, whatever rounding did to the parent's
            // weight.
            const double sum = weight[children[0]] + weight[children[1]];
            for (const std::int32_t child : children) {
                share[child] = weight[child] / sum;
                above_[child] = z_[ways.before[node]];
                z_[child] = above_[child] * share[child];
            }
        }
    }

    /// Takes K points from `first` on.
    void take(const Quadrature& points, std::size_t first) {
        taken.resize(share.size());
        missed.resize(share.size());
        gets.resize(share.size());
        for (std::size_t k = 0; k < K; ++k) {
            const double t = points.t[first + k], rest = points.rest[first + k];
            start[k] = points.weight[first + k];
            owes[k] = -1 / rest;
            for (std::size_t node = 0; node < share.size(); ++node) {
                const double factor_above = t + above_[node] * rest, factor = t + z_[node] * rest;
                taken[node][k] = factor / factor_above;
                missed[node][k] = z_[node] * rest / factor_above;
                gets[node][k] = (1 - z_[node]) / factor;
            }
        }
    }

  private:
    std::vector<double> above_,
        z_;  // products of the shares by the column of the turn, without it and with it
};

#define WALK PlainWalk
#define WALK_TARGET
#include "shapley/walk.hpp"
#undef WALK
#undef WALK_TARGET

#if defined(TREEWRIGHT_AVX2)
#define WALK WideWalk
#define WALK_TARGET TREEWRIGHT_AVX2
#include "shapley/walk.hpp"
#undef WALK
#undef WALK_TARGET
#endif

/// How many points make the sum exact for ways of so many columns. Half of them always do; of very many
/// columns fewer suffice for all digits: in θ, where t = sin² θ, the Fourier coefficients of the integrand
/// are bounded by the probabilities of a random walk of that many steps, and the sum errs by at most four
/// times the tail beyond twice the points, 4·2·exp(−(2·points)² / (2·columns)).
std::size_t points_for(std::size_t n_columns) {
    constexpr double nats = 45;  // 1e-19 or so
    const auto columns = static_cast<double>(n_columns);
    return static_cast<std::size_t>(
        std::max(1.0, std::min(std::ceil(columns / 2), std::ceil(std::sqrt(nats * columns / 2)))));
}

template <std::size_t K, template <std::size_t> class Walk>
void walk_all(const TreeView& tree, const Ways& ways, std::span<const double> weight, const Wanted& wanted,
              std::size_t width, const Quadrature& points, const std::vector<Column>& columns,
              std::size_t n_rows, double* out, Pool& pool, Interrupt& interrupt) {
    Turns<K> turns(tree, ways, weight);
    in_portions(tree, ways, wanted, width, columns, n_rows, out, pool, interrupt,
                [&](const Patterns& patterns, double* found, std::size_t length) {
                    std::vector<Walk<K>> walks(pool.size(), Walk<K>(ways, turns, wanted, interrupt));
                    for (std::size_t first = 0; first < points.t.size(); first += K) {
                        turns.take(points, first);
                        pool.run((patterns.size() + n_lanes - 1) / n_lanes,
                                 [&](std::size_t task, std::size_t thread) {
                                     interrupt.check();
                                     const std::size_t begin = task * n_lanes,
                                                       end = std::min(patterns.size(), begin + n_lanes);
                                     walks[thread].run(patterns, begin, end, found, length);
                                 });
                    }
                });
}

}  // namespace

void shapley_by_weights(const TreeView& tree, std::span<const double> weight, const LeafAnswers& answers,
                        const std::vector<Column>& columns, std::size_t n_rows, double* out, Pool& pool,
                        Interrupt& interrupt) {
    const Ways ways(tree);
    const Wanted wanted(answers);
    if (ways.branches.empty() || wanted.size() == 0) return;
    const std::size_t n_points = points_for(ways.most_columns);
    // Of many points some at a time, the same number in each round.
    constexpr std::size_t most = 8;
    const std::size_t n_rounds = (n_points + most - 1) / most, at_once = (n_points + n_rounds - 1) / n_rounds;
    const Quadrature points(n_rounds * at_once);
    const auto walk = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
        if (K != at_once) return;
#if defined(TREEWRIGHT_AVX2)
        if (has_avx2())
            return walk_all<K, WideWalk>(tree, ways, weight, wanted, answers.width, points, columns, n_rows,
                                         out, pool, interrupt);
#endif
        walk_all<K, PlainWalk>(tree, ways, weight, wanted, answers.width, points, columns, n_rows, out, pool,
                               interrupt);
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (walk(std::integral_constant<std::size_t, I + 1>()), ...);
    }(std::make_index_sequence<most>());
}

}  // namespace treewright
