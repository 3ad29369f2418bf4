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
#include "attributing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "patterns.hpp"
#include "quadrature.hpp"
#include "ways.hpp"

#if defined(__GNUC__)
#define ALWAYS_INLINE __attribute__((always_inline)) inline
#if defined(__x86_64__)
#define TREEWRIGHT_AVX2
#endif
#else
#define ALWAYS_INLINE inline
#endif

namespace treewright {

namespace {

constexpr std::size_t n_lanes = 8;  // patterns that walk together
struct alignas(64) Lanes : std::array<double, n_lanes> {};
using LaneBits = std::uint8_t;  // one for each lane

/// 1 in the lanes whose bit is set, 0 in the others.
const std::array<Lanes, 256> ones = [] {
    std::array<Lanes, 256> all;
    for (std::size_t bits = 0; bits < all.size(); ++bits)
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

    Turns(const Routes& routes, const Ways& ways, std::span<const double> weight)
        : share(weight.size(), 1), above_(weight.size(), 1), z_(weight.size(), 1) {
        for (const std::int32_t node : ways.branches) {
            const std::array<std::int32_t, 2> children{node + 1, routes.end[node + 1]};
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

/// One thread's walk through the whole tree, for some patterns at a time.
template <std::size_t K>
class Walk {
  public:
    using Points = typename Turns<K>::Points;
    using Sums = std::array<Lanes, K>;  // one for each point and lane

    Walk(const Ways& ways, const Turns<K>& turns, const Wanted& wanted, Interrupt& interrupt)
        : ways_(ways),
          turns_(turns),
          wanted_(wanted),
          interrupt_(interrupt),
          width_(wanted.size()),
          lefts_(ways.branches.size()),
          is_on_(ways.parent.size()),
          down_(ways.deepest + 1),
          up_((ways.deepest + 1) * width_),
          here_(width_),
          due_(ways.columns.size() * width_) {}

    /// Adds to the lines found[slot][number] of the patterns from `first` on what these points contribute.
    void run(const Patterns& patterns, std::size_t first, std::size_t end, double* found,
             std::size_t length) {
        std::fill(lefts_.begin(), lefts_.end(), LaneBits{0});
        for (std::size_t i = first; i < end; ++i)
            for (std::size_t branch = 0; branch < lefts_.size(); ++branch)
                lefts_[branch] |= static_cast<LaneBits>(goes_left(patterns[i], branch) << (i - first));
        std::fill(due_.begin(), due_.end(), Lanes{});
        walk_fast();
        for (std::size_t i = first; i < end; ++i)
            for (std::size_t j = 0; j < length; ++j) found[i * length + j] += due_[j][i - first];
    }

  private:
    void walk_fast() {
#ifdef TREEWRIGHT_AVX2
        if (has_avx2()) return walk_avx2();
#endif
        walk();
    }
#ifdef TREEWRIGHT_AVX2
    static bool has_avx2() {
        static const bool has = __builtin_cpu_supports("avx2");
        return has;
    }
    /// The same sums to the last bit: lanes do not mix, and nothing is fused.
    __attribute__((target("avx2"))) void walk_avx2() { walk(); }
#endif

    ALWAYS_INLINE void walk() {
        is_on_[0] = static_cast<LaneBits>(~0);
        for (std::size_t k = 0; k < K; ++k) down_[0][k].fill(turns_.start[k]);
        const auto n = static_cast<std::int32_t>(ways_.parent.size());
        for (std::int32_t node = 0; node < n; ++node) {
            if (node > 0) go_down(node);
            if (ways_.slot[node] >= 0) continue;
            const auto leaf = static_cast<std::size_t>(ways_.place[node]);
            if (leaf % 4096 == 4095) interrupt_.check();
            const double* answer = wanted_.values.data() + leaf * width_;
            const Sums& product = down_[ways_.depth[node]];
            for (std::size_t i = 0; i < width_; ++i)
                for (std::size_t k = 0; k < K; ++k)
                    for (std::size_t lane = 0; lane < n_lanes; ++lane)
                        here_[i][k][lane] = answer[i] * product[k][lane];
            go_up(node);
        }
    }

    /// The product at a child from that at its parent: the factor of the column changes by the turn.
    ALWAYS_INLINE void go_down(std::int32_t node) {
        const std::int32_t parent = ways_.parent[node];
        const LaneBits above = is_on_[ways_.before[parent]], left = lefts_[ways_.place[parent]];
        const auto here = static_cast<LaneBits>(above & (node == parent + 1 ? left : ~left));
        is_on_[node] = here;
        const Sums& from = down_[ways_.depth[parent]];
        Sums& to = down_[ways_.depth[node]];
        const double share = turns_.share[node];
        if (above == 0) {
            for (std::size_t k = 0; k < K; ++k)
                for (std::size_t lane = 0; lane < n_lanes; ++lane) to[k][lane] = from[k][lane] * share;
            return;
        }
        const Lanes &on = ones[here], &off = ones[above ^ here], &out = ones[static_cast<LaneBits>(~above)];
        const Points &taken = turns_.taken[node], &missed = turns_.missed[node];
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t lane = 0; lane < n_lanes; ++lane)
                to[k][lane] =
                    from[k][lane] * (taken[k] * on[lane] + missed[k] * off[lane] + share * out[lane]);
    }

    /// `here_` is the sum below `node`: it waits for that of the right sibling, or joins that of the left
    /// one, and the column of the parent gets its due.
    ALWAYS_INLINE void go_up(std::int32_t node) {
        for (std::int32_t parent; (parent = ways_.parent[node]) >= 0; node = parent) {
            Sums* sibling = up_.data() + static_cast<std::size_t>(ways_.depth[node]) * width_;
            if (node == parent + 1) {
                std::copy(here_.begin(), here_.end(), sibling);
                return;
            }
            if (is_on_[ways_.before[parent]] != 0) {
                pay(parent, node, sibling);
                continue;
            }
            for (std::size_t i = 0; i < width_; ++i)
                for (std::size_t k = 0; k < K; ++k)
                    for (std::size_t lane = 0; lane < n_lanes; ++lane)
                        here_[i][k][lane] += sibling[i][k][lane];
        }
    }

    /// What the column of `parent` gets or owes for the leaves below it, instead of what it had for them
    /// above.
    ALWAYS_INLINE void pay(std::int32_t parent, std::int32_t right, const Sums* sibling) {
        const std::int32_t left = parent + 1;
        const Lanes &on_left = ones[is_on_[left]], &on_right = ones[is_on_[right]];
        const Points &by_left = turns_.gets[left], &by_right = turns_.gets[right], &owes = turns_.owes;
        const Points& before = turns_.gets[ways_.before[parent]];
        Lanes* due = due_.data() + static_cast<std::size_t>(ways_.slot[parent]) * width_;
        for (std::size_t i = 0; i < width_; ++i) {
            Lanes of_left{}, of_right{};
            for (std::size_t k = 0; k < K; ++k)
                for (std::size_t lane = 0; lane < n_lanes; ++lane) {
                    const double l = sibling[i][k][lane], r = here_[i][k][lane], had = (l + r) * before[k];
                    of_left[lane] += l * by_left[k] + r * owes[k] - had;
                    of_right[lane] += l * owes[k] + r * by_right[k] - had;
                    here_[i][k][lane] = l + r;
                }
            for (std::size_t lane = 0; lane < n_lanes; ++lane)
                due[i][lane] += on_left[lane] * of_left[lane] + on_right[lane] * of_right[lane];
        }
    }

    const Ways& ways_;
    const Turns<K>& turns_;
    const Wanted& wanted_;
    Interrupt& interrupt_;
    std::size_t width_;
    std::vector<LaneBits> lefts_;  // by branch: who goes left
    std::vector<LaneBits> is_on_;  // whose values agree with this turn and those above it by the same column
    std::vector<Sums> down_, up_, here_;
    std::vector<Lanes> due_;
};

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

template <std::size_t K>
void walk_all(const Routes& routes, const Ways& ways, std::span<const double> weight, const Wanted& wanted,
              std::size_t width, const Quadrature& points, const std::vector<Column>& columns,
              std::size_t n_rows, double* out, Pool& pool, Interrupt& interrupt) {
    Turns<K> turns(routes, ways, weight);
    in_portions(routes, ways, wanted, width, columns, n_rows, out, pool, interrupt,
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

void attribute_by_weights(const Routes& routes, std::span<const double> weight, const LeafAnswers& answers,
                          const std::vector<Column>& columns, std::size_t n_rows, double* out, Pool& pool,
                          Interrupt& interrupt) {
    const Ways ways(routes);
    const Wanted wanted(answers);
    if (ways.branches.empty() || wanted.size() == 0) return;
    const std::size_t n_points = points_for(ways.most_columns);
    // Of many points some at a time, the same number in each round.
    constexpr std::size_t most = 8;
    const std::size_t n_rounds = (n_points + most - 1) / most, at_once = (n_points + n_rounds - 1) / n_rounds;
    const Quadrature points(n_rounds * at_once);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((at_once == I + 1 ? walk_all<I + 1>(routes, ways, weight, wanted, answers.width, points, columns,
                                             n_rows, out, pool, interrupt)
                           : void()),
         ...);
    }(std::make_index_sequence<most>());
}

}  // namespace treewright
