// Gauss and Legendre's points: the integral of a polynomial over [0, 1] as a sum of a few of its values.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace treewright {

/// ∫ f(t) dt over [0, 1] is Σ weight·f(t), exactly for polynomials of degree < 2n; `rest` is 1 − t, kept
/// apart because it would lose digits near 1.
struct Quadrature {
    std::vector<double> t, rest, weight;

    explicit Quadrature(std::size_t n) : t(n), rest(n), weight(n) {
        const auto degree = static_cast<long double>(n);
        for (std::size_t i = 0; i < (n + 1) / 2; ++i) {
            // Newton's steps to the roots of Legendre's polynomial from their usual estimate.
            long double x = std::cos(std::numbers::pi_v<long double> * (static_cast<long double>(i) + 0.75L) /
                                     (degree + 0.5L));
            long double slope = 1;
            for (int step = 0; step < 8; ++step) {
                long double before = 1, now = x;
                for (std::size_t k = 2; k <= n; ++k) {
                    const auto order = static_cast<long double>(k);
                    const long double next = ((2 * order - 1) * x * now - (order - 1) * before) / order;
                    before = now;
                    now = next;
                }
                slope = degree * (x * now - before) / (x * x - 1);
                x -= now / slope;
            }
            const std::size_t mirrored = n - 1 - i;
            t[i] = rest[mirrored] = static_cast<double>((1 - x) / 2);
            rest[i] = t[mirrored] = static_cast<double>((1 + x) / 2);
            weight[i] = weight[mirrored] = static_cast<double>(1 / ((1 - x * x) * slope * slope));
        }
    }
};

}  // namespace treewright
