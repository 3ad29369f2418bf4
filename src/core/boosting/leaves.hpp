// What leaves of gradient boosting answer, and the statistic of a tree's nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "boosting/losses.hpp"
#include "boosting/splits.hpp"
#include "columns.hpp"
#include "threads.hpp"

namespace treewright::boosting {

/// A node as a sample of Newton steps −g/h with weights h.
struct Moments {
    double gradient = 0, hessian = 0, squares = 0;  // Σg, Σh, Σg²/h
    double step = 0;                                // what the node answers, before the learning rate

    void add(double g, double h) {
        gradient += g;
        hessian += h;
        squares += h > 0 ? g * g / h : 0.0;
    }
    void add(const Moments& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        squares += other.squares;
    }
    Moments joined(const Moments& other, double l2, double max_step) const {
        Moments sum = *this;
        sum.add(other);
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

/// The moments of all leaves, `leaf` by row: rows in their order, in parts that do not depend on the threads.
/// `weight` is what gradients and hessians are to be multiplied with; null for nothing.
inline std::vector<Moments> leaf_moments(const double* gradient, const double* hessian, const double* weight,
                                         const std::vector<std::uint32_t>& leaf, std::size_t n_rows,
                                         std::size_t n_leaves, Pool& pool) {
    constexpr std::size_t many = 50000;
    const std::size_t n_parts = n_rows > many ? 8 : 1;
    std::vector<Moments> moments(n_parts * n_leaves);
    pool.run(n_parts, [&](std::size_t part, std::size_t) {
        Moments* const own = moments.data() + part * n_leaves;
        for (std::size_t row = part * n_rows / n_parts; row < (part + 1) * n_rows / n_parts; ++row)
            if (weight)
                own[leaf[row]].add(weight[row] * gradient[row], weight[row] * hessian[row]);
            else
                own[leaf[row]].add(gradient[row], hessian[row]);
    });
    for (std::size_t i = n_leaves; i < moments.size(); ++i) moments[i % n_leaves].add(moments[i]);
    moments.resize(n_leaves);
    return moments;
}

/// The value below which a share of the weight of some residuals lies; between two of them the middle.
inline double residual_quantile(const Aims& aims, const double* raw, const Row* rows, std::size_t n,
                                double share) {
    std::vector<std::pair<double, double>> sorted(n);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
        sorted[i] = {aims.target[rows[i]] - raw[rows[i]], aims.weight ? aims.weight[rows[i]] : 1.0};
        total += sorted[i].second;
    }
    std::sort(sorted.begin(), sorted.end());
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
