// What leaves of gradient boosting answer, and the statistic of a tree's nodes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "boosting/losses.hpp"
#include "boosting/splits.hpp"
#include "boosting/sums.hpp"
#include "columns.hpp"
#include "threads.hpp"

namespace treewright::boosting {

/// A node as a sample of Newton steps −g/h with weights h.
struct Moments {
    double gradient = 0, hessian = 0, squares = 0;  // Σg, Σh, Σg²/h
    double step = 0;                                // what the node answers, before the learning rate

    Moments joined(const Moments& other, double l2, double max_step) const {
        Moments sum = *this;
        sum.gradient += other.gradient;
        sum.hessian += other.hessian;
        sum.squares += other.squares;
        sum.step = newton_step(sum.gradient, sum.hessian, l2, {-max_step, max_step});
        return sum;
    }
    /// Weight, value and deviation Σ h·(rate·(−g/h) − value)².
    void write(double rate, std::vector<double>& out) const {
        const double value = rate * step;
        const double deviation =
            rate * rate * squares + 2 * rate * value * gradient + value * value * hessian;
        out.push_back(hessian);
        out.push_back(value);
        out.push_back(std::max(deviation, 0.0));
    }
};

/// Sums in two whole numbers: of units, and of what is left of the rows' numbers in units 2^-bits as large.
/// With a million rows that is 84 bits below the largest number, with two billion 62.
///
/// A number that is added to 1.5·2^52 units is rounded to whole ones, which are then the last bits of the
/// sum.
template <class Number, class Whole>
struct FineSums {
    Whole whole{}, fine{};

    struct Shifts {
        Number whole, fine;
    };
    /// With `times` in place of 1 the number counts so often.
    void add(Number x, const Shifts& shifts) {
        const Number shifted = x + shifts.whole, rest = (x - (shifted - shifts.whole)) + shifts.fine;
        whole += std::bit_cast<Whole>(shifted);
        fine += std::bit_cast<Whole>(rest);
    }
    void add(Number x, const Shifts& shifts, std::int64_t times) {
        FineSums once;
        once.add(x, shifts);
        whole += once.whole * times;
        fine += once.fine * times;
    }
    void add(const FineSums& other) {
        whole += other.whole;
        fine += other.fine;
    }
};

/// What to add to numbers up to the largest one, of which there are n.
class FineUnit {
  public:
    FineUnit(double largest, std::size_t n)
        : bits_(std::min(62 - bits_of(n), most_bits)),
          unit_(Units::unit(largest, bits_)),
          whole(rounding_shift * unit_),
          fine(whole / fineness()) {}

    /// A sum, rounded once; the shifts of its n numbers are in it.
    double value(std::uint64_t wholes, std::uint64_t fines, std::uint64_t n) const {
        const auto without = [&](std::uint64_t sum, double shift) {
            return static_cast<std::int64_t>(sum - n * std::bit_cast<std::uint64_t>(shift));
        };
        const __int128 sum =
            static_cast<__int128>(without(wholes, whole)) * (__int128{1} << bits_) + without(fines, fine);
        return static_cast<double>(sum) / fineness() * unit_;
    }

  private:
    double fineness() const { return static_cast<double>(std::int64_t{1} << bits_); }
    int bits_;
    double unit_;

  public:
    double whole, fine;
};

/// The moments of the rows of a leaf.
struct LeafSums {
    FineSums<Pair, UnsignedPair> both;  // gradient, hessian
    FineSums<double, std::uint64_t> squares;
    std::uint64_t n = 0;  // rows, as often as they count

    void add(const LeafSums& other) {
        both.add(other.both);
        squares.add(other.squares);
        n += other.n;
    }
};

/// The moments of all leaves, `leaf` by row, from whole numbers: neither the order of rows nor threads change
/// them. Where rows are repeated, gradients and hessians are those of a row that weighs 1.
inline std::vector<Moments> leaf_moments(const double* gradient, const double* hessian,
                                         const Extremes& largest, const Repeats& repeats,
                                         const std::vector<std::uint32_t>& leaf, std::size_t n_rows,
                                         std::size_t n_leaves, Pool& pool) {
    constexpr std::size_t part = 8192;
    const std::size_t n = repeats ? repeats.n_rows : n_rows;
    const FineUnit of_gradient(largest.gradient, n), of_hessian(largest.hessian, n),
        of_square(largest.squares, n);
    const FineSums<Pair, UnsignedPair>::Shifts shifts{{of_gradient.whole, of_hessian.whole},
                                                      {of_gradient.fine, of_hessian.fine}};
    const FineSums<double, std::uint64_t>::Shifts square_shifts{of_square.whole, of_square.fine};
    std::vector<std::vector<LeafSums>> sums(pool.size());
    pool.run((n_rows + part - 1) / part, [&](std::size_t task, std::size_t thread) {
        sums[thread].resize(n_leaves);
        LeafSums* const own = sums[thread].data();
        for (std::size_t row = task * part; row < std::min(n_rows, (task + 1) * part); ++row) {
            const double g = gradient[row], h = hessian[row], square = h > 0 ? g * g / h : 0.0;
            LeafSums& to = own[leaf[row]];
            if (!repeats) {
                to.both.add(Pair{g, h}, shifts);
                to.squares.add(square, square_shifts);
                ++to.n;
            } else {
                const auto times = static_cast<std::int64_t>(repeats.weight[row]);
                to.both.add(Pair{g, h}, shifts, times);
                to.squares.add(square, square_shifts, times);
                to.n += static_cast<std::uint64_t>(times);
            }
        }
    });
    std::vector<Moments> moments(n_leaves);
    for (std::size_t i = 0; i < n_leaves; ++i) {
        LeafSums all;
        for (const auto& of_thread : sums)
            if (!of_thread.empty()) all.add(of_thread[i]);
        moments[i].gradient = of_gradient.value(all.both.whole[0], all.both.fine[0], all.n);
        moments[i].hessian = of_hessian.value(all.both.whole[1], all.both.fine[1], all.n);
        moments[i].squares = of_square.value(all.squares.whole, all.squares.fine, all.n);
    }
    return moments;
}

/// The value below which a share of the weight of some residuals lies; between two of them the middle.
inline double residual_quantile(const Aims& aims, const double* raw, const Row* rows, std::size_t n,
                                double share) {
    std::vector<std::pair<double, double>> sorted(n);
    for (std::size_t i = 0; i < n; ++i)
        sorted[i] = {aims.target[rows[i]] - raw[rows[i]], aims.weight ? aims.weight[rows[i]] : 1.0};
    std::sort(sorted.begin(), sorted.end());
    double total = 0;  // of weights in an order that depends on the rows alone
    for (const auto& [residual, weight] : sorted) total += weight;
    const double wanted = share * total;
    double below = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        below += sorted[i].second;
        if (below == wanted) return sorted[i].first / 2 + sorted[i + 1].first / 2;
        if (below > wanted) return sorted[i].first;
    }
    return sorted.back().first;
}

}  // namespace treewright::boosting
