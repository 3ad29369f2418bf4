// What leaves of gradient boosting answer, and the statistic of a tree's nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "boosting/losses.hpp"
#include "columns.hpp"

namespace treewright::boosting {

/// A node as a sample of Newton steps −g/h with weights h.
struct Moments {
    double gradient = 0, hessian = 0, squares = 0;  // Σg, Σh, Σg²/h
    double step = 0;                                // what the node answers, before the learning rate

    Moments() = default;
    /// In the order of the rows, which threads do not change.
    Moments(const double* g, const double* h, const Row* rows, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            const Row row = rows[i];
            gradient += g[row];
            hessian += h[row];
            squares += h[row] > 0 ? g[row] * g[row] / h[row] : 0.0;
        }
    }
    Moments joined(const Moments& other, double l2) const {
        Moments sum;
        sum.gradient = gradient + other.gradient;
        sum.hessian = hessian + other.hessian;
        sum.squares = squares + other.squares;
        sum.step = -sum.gradient / (sum.hessian + l2);
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
