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
#include "data/columns.hpp"
#include "support/portable.hpp"
#include "support/threads.hpp"
#include "support/unfilled.hpp"

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
    void write(double rate, UnfilledVector<double>& out) const {
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
class FineUnit {
  public:
    /// For n numbers up to the largest one.
    FineUnit(double largest, std::size_t n)
        : bits_(std::min(62 - bits_of(n), most_bits)), unit_(Units::unit(largest, bits_)) {}

    double shift() const { return rounding_shift * unit_; }
    double fine_shift() const { return shift() / fineness(); }
    /// A sum, rounded once, from the bits of n shifted numbers and of what was left of them, shifted as well.
    double value(std::uint64_t whole, std::uint64_t fine, std::uint64_t n) const {
        const auto without = [n](std::uint64_t sum, double shift) {
            return static_cast<std::int64_t>(sum - n * std::bit_cast<std::uint64_t>(shift));
        };
        const Int128 sum =
            Int128(without(whole, shift())) * (std::int64_t{1} << bits_) + without(fine, fine_shift());
        return static_cast<double>(sum) / fineness() * unit_;
    }

  private:
    double fineness() const { return static_cast<double>(std::int64_t{1} << bits_); }

    int bits_;
    double unit_;
};

/// Bits of shifted numbers of the rows of a leaf, added up.
struct LeafSums {
    UnsignedPair whole{}, fine{};  // of gradient and hessian
    UnsignedPair squares{};        // whole and fine

    void add(const LeafSums& other) {
        whole += other.whole;
        fine += other.fine;
        squares += other.squares;
    }
};

/// Adds the rows of a tree to those of their leaves.
class LeafAdder {
  public:
    LeafAdder(const FineUnit& of_gradient, const FineUnit& of_hessian, const FineUnit& of_square)
        : shift_{of_gradient.shift(), of_hessian.shift()},
          fine_shift_{of_gradient.fine_shift(), of_hessian.fine_shift()},
          square_shift_{of_square.shift()},
          fine_square_shift_{of_square.fine_shift()} {}

    /// Two rows at once, which count so many times.
    void add(Pair g, Pair h, UnsignedPair times, LeafSums& one, LeafSums& other) const {
        const Pair square = where_positive(h, g * g / h);
        const Pair shifted = square + square_shift_;
        const auto whole = std::bit_cast<UnsignedPair>(shifted) * times;
        const auto fine =
            std::bit_cast<UnsignedPair>((square - (shifted - square_shift_)) + fine_square_shift_) * times;
        one.squares += UnsignedPair{whole[0], fine[0]};
        other.squares += UnsignedPair{whole[1], fine[1]};
        add(Pair{g[0], h[0]}, times[0], one);
        add(Pair{g[1], h[1]}, times[1], other);
    }

  private:
    void add(Pair both, std::uint64_t times, LeafSums& leaf) const {
        const Pair shifted = both + shift_;
        leaf.whole += std::bit_cast<UnsignedPair>(shifted) * times;
        leaf.fine += std::bit_cast<UnsignedPair>((both - (shifted - shift_)) + fine_shift_) * times;
    }

    Pair shift_, fine_shift_;
    double square_shift_, fine_square_shift_;
};

/// The moments of all leaves, `leaf` by row, from whole numbers: neither the order of rows nor threads change
/// them. `weight` is how often the rows of each leaf count; where they are repeats, gradients and hessians
/// are those of a row that weighs 1.
inline std::vector<Moments> leaf_moments(const double* gradient, const double* hessian,
                                         const Extremes& largest, const Repeats& repeats,
                                         const std::uint32_t* leaf, std::size_t n_rows,
                                         const std::vector<double>& weight, Pool& pool) {
    constexpr std::size_t part = 8192;
    const std::size_t n = repeats ? repeats.n_rows : n_rows;
    const FineUnit of_gradient(largest.gradient, n), of_hessian(largest.hessian, n),
        of_square(largest.squares, n);
    const LeafAdder adder(of_gradient, of_hessian, of_square);
    std::vector<std::vector<LeafSums>> sums(pool.size());
    pool.run((n_rows + part - 1) / part, [&](std::size_t task, std::size_t thread) {
        sums[thread].resize(weight.size() + 1);  // the last one is of no row
        LeafSums* const own = sums[thread].data();
        const std::size_t begin = task * part, end = std::min(n_rows, begin + part),
                          even = end - (end - begin) % 2;
        const auto add = [&](const auto& times) {
            for (std::size_t i = begin; i < even; i += 2)
                adder.add(Pair{gradient[i], gradient[i + 1]}, Pair{hessian[i], hessian[i + 1]},
                          UnsignedPair{times(i), times(i + 1)}, own[leaf[i]], own[leaf[i + 1]]);
            if (even < end)
                adder.add(Pair{gradient[even], 0}, Pair{hessian[even], 0}, UnsignedPair{times(even), 0},
                          own[leaf[even]], own[weight.size()]);
        };
        if (repeats)
            add([&](std::size_t row) { return static_cast<std::uint64_t>(repeats.weight[row]); });
        else
            add([](std::size_t) { return std::uint64_t{1}; });
    });
    std::vector<Moments> moments(weight.size());
    for (std::size_t i = 0; i < moments.size(); ++i) {
        LeafSums all;
        for (const auto& of_thread : sums)
            if (!of_thread.empty()) all.add(of_thread[i]);
        const auto times = static_cast<std::uint64_t>(weight[i]);
        moments[i].gradient = of_gradient.value(all.whole[0], all.fine[0], times);
        moments[i].hessian = of_hessian.value(all.whole[1], all.fine[1], times);
        moments[i].squares = of_square.value(all.squares[0], all.squares[1], times);
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
