// Gauss and Legendre's points: the integral of a polynomial over [0, 1] as a sum of a few of its values.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "support/double_double.hpp"

namespace treewright {

/// ∫ f(t) dt over [0, 1] is Σ weight·f(t), exactly for polynomials of degree < 2n; `rest` is 1 − t, kept
/// apart because it would lose digits near 1.
struct Quadrature {
    std::vector<double> t, rest, weight;

    explicit Quadrature(std::size_t n) : t(n), rest(n), weight(n) {
        const auto degree = static_cast<double>(n);
        for (std::size_t i = 0; i < (n + 1) / 2; ++i) {
            // Newton's steps to the roots of Legendre's polynomial from their usual estimate, of which only
            // those digits are taken that every library gets right.
            constexpr double estimate_unit = 0x1p-30;
            const double angle = std::numbers::pi * (static_cast<double>(i) + 0.75) / (degree + 0.5);
            DoubleDouble x = std::round(std::cos(angle) / estimate_unit) * estimate_unit, slope = 1.0;
            for (int step = 0; step < 8; ++step) {
                DoubleDouble before = 1.0, now = x;
                for (std::size_t k = 2; k <= n; ++k) {
                    const auto order = static_cast<double>(k);
                    const DoubleDouble next =
                        (DoubleDouble(2 * order - 1) * x * now - DoubleDouble(order - 1) * before) / order;
                    before = now;
                    now = next;
                }
                slope = DoubleDouble(degree) * (x * now - before) / (x * x - 1.0);
                x = x - now / slope;
            }
            const std::size_t mirrored = n - 1 - i;
            t[i] = rest[mirrored] = ((1.0 - x) / 2.0).high;
            rest[i] = t[mirrored] = ((1.0 + x) / 2.0).high;
            weight[i] = weight[mirrored] = (1.0 / ((1.0 - x * x) * slope * slope)).high;
        }
    }
};

}  // namespace treewright
