// Gradients, hessians and mean losses.
#include "boosting/losses.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "boosting/exponential.hpp"

namespace treewright::boosting {

namespace {

constexpr std::size_t piece = 4096;  // rows that are summed up by themselves
constexpr double farthest = 300.0;   // beyond this a probability is as good as 0 or 1, and hessians vanish

double clipped(double x) { return x < -farthest ? -farthest : x > farthest ? farthest : x; }

/// Calls work(row) -> (gradient, hessian) for some rows and weighs what it finds.
template <class Work>
void fill(const Aims& aims, std::size_t begin, std::size_t end, double* gradient, double* hessian,
          Work work) {
    if (!aims.weight) {
        for (std::size_t i = begin; i < end; ++i) work(i, gradient[i], hessian[i]);
        return;
    }
    for (std::size_t i = begin; i < end; ++i) {
        double g, h;
        work(i, g, h);
        gradient[i] = aims.weight[i] * g;
        hessian[i] = aims.weight[i] * h;
    }
}

void fill_single(const Loss& loss, const Aims& aims, std::size_t begin, std::size_t end, const double* raw,
                 double* gradient, double* hessian) {
    const double* const y = aims.target;
    const auto rows = [&](auto work) { fill(aims, begin, end, gradient, hessian, work); };
    switch (loss.kind) {
        case LossKind::squared_error:
            return rows([=](std::size_t i, double& g, double& h) {
                g = raw[i] - y[i];
                h = 1;
            });
        case LossKind::absolute_error:
            return rows([=](std::size_t i, double& g, double& h) {
                g = raw[i] > y[i] ? 1 : -1;
                h = 1;
            });
        case LossKind::quantile: {
            const double q = loss.quantile;
            return rows([=](std::size_t i, double& g, double& h) {
                g = raw[i] > y[i] ? 1 - q : -q;
                h = 1;
            });
        }
        case LossKind::poisson:
            return rows([=](std::size_t i, double& g, double& h) {
                h = exponential(raw[i]);
                g = h - y[i];
            });
        case LossKind::gamma:
            return rows([=](std::size_t i, double& g, double& h) {
                h = y[i] * exponential(-raw[i]);
                g = 1 - h;
            });
        default:
            // with e = exp(−|raw|) neither the probability nor its complement loses digits
            return rows([=](std::size_t i, double& g, double& h) {
                const double x = clipped(raw[i]), e = exponential(-std::abs(x)), share = 1 / (1 + e);
                const double near = x > 0 ? share : e * share, far = x > 0 ? e * share : share;
                g = y[i] > 0.5 ? -far : near;
                h = e * share * share;
            });
    }
}

/// Softmax of one row after the other; `scratch` holds the exponentials.
void fill_multinomial(const Loss& loss, const Aims& aims, std::size_t begin, std::size_t end,
                      const double* raw, std::size_t stride, double* gradient, double* hessian,
                      std::vector<double>& scratch) {
    constexpr std::size_t block = 256;  // rows whose outputs are in cache together
    scratch.resize(2 * block);
    double* const top = scratch.data();
    double* const sum = top + block;
    for (std::size_t first = begin; first < end; first += block) {
        const std::size_t n = std::min(block, end - first);
        std::fill(top, top + n, -std::numeric_limits<double>::infinity());
        std::fill(sum, sum + n, 0.0);
        for (std::size_t k = 0; k < loss.n_outputs; ++k)
            for (std::size_t i = 0; i < n; ++i) top[i] = std::max(top[i], raw[k * stride + first + i]);
        for (std::size_t k = 0; k < loss.n_outputs; ++k) {
            double* const e = hessian + k * stride + first;
            for (std::size_t i = 0; i < n; ++i) {
                e[i] = exponential(std::max(raw[k * stride + first + i] - top[i], -farthest));
                sum[i] += e[i];
            }
        }
        for (std::size_t k = 0; k < loss.n_outputs; ++k) {
            double* const g = gradient + k * stride + first;
            double* const h = hessian + k * stride + first;
            const auto label = static_cast<double>(k);
            for (std::size_t i = 0; i < n; ++i) {
                const double weight = aims.weight ? aims.weight[first + i] : 1.0, share = h[i] / sum[i];
                g[i] = weight * (share - (aims.target[first + i] == label ? 1.0 : 0.0));
                h[i] = weight * share * ((sum[i] - h[i]) / sum[i]);
            }
        }
    }
}

/// −log of the likelihood of a row of two classes: log(1 + e) + what lies on the wrong side. The factors
/// 1 + e <= 2 are multiplied, so that many rows share one logarithm.
double binomial_loss(const Aims& aims, std::size_t begin, std::size_t end, const double* raw) {
    double sum = 0;
    for (std::size_t first = begin; first < end; first += 512) {
        double product = 1;
        for (std::size_t i = first; i < std::min(end, first + 512); ++i) {
            const double x = clipped(raw[i]), factor = 1 + exponential(-std::abs(x));
            const double wrong = aims.target[i] > 0.5 ? std::max(-x, 0.0) : std::max(x, 0.0);
            if (aims.weight) {
                sum += aims.weight[i] * (std::log(factor) + wrong);
            } else {
                sum += wrong;
                product *= factor;
            }
        }
        sum += std::log(product);
    }
    return sum;
}

double multinomial_loss(const Loss& loss, const Aims& aims, std::size_t begin, std::size_t end,
                        const double* raw, std::size_t stride) {
    double total = 0;
    for (std::size_t i = begin; i < end; ++i) {
        double top = raw[i], sum = 0;
        for (std::size_t k = 1; k < loss.n_outputs; ++k) top = std::max(top, raw[k * stride + i]);
        for (std::size_t k = 0; k < loss.n_outputs; ++k) sum += exponential(raw[k * stride + i] - top);
        const double own = raw[static_cast<std::size_t>(aims.target[i]) * stride + i];
        total += (aims.weight ? aims.weight[i] : 1.0) * (std::log(sum) + top - own);
    }
    return total;
}

double row_loss(const Loss& loss, double y, double raw) {
    switch (loss.kind) {
        case LossKind::squared_error:
            return 0.5 * (y - raw) * (y - raw);
        case LossKind::absolute_error:
            return std::abs(y - raw);
        case LossKind::quantile:
            return y >= raw ? loss.quantile * (y - raw) : (1 - loss.quantile) * (raw - y);
        case LossKind::poisson:
            return exponential(raw) - y * raw;
        default:
            return raw + y * exponential(-raw);
    }
}

double loss_of_piece(const Loss& loss, const Aims& aims, std::size_t begin, std::size_t end,
                     const double* raw, std::size_t stride) {
    if (loss.kind == LossKind::binomial) return binomial_loss(aims, begin, end, raw);
    if (loss.kind == LossKind::multinomial) return multinomial_loss(loss, aims, begin, end, raw, stride);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i)
        sum += (aims.weight ? aims.weight[i] : 1.0) * row_loss(loss, aims.target[i], raw[i]);
    return sum;
}

}  // namespace

Repeats::Repeats(const Aims& aims) {
    constexpr double most = 0x1p31;
    double total = 0;
    for (std::size_t i = 0; aims.weight && i < aims.n_rows; ++i) {
        total += aims.weight[i];
        if (aims.weight[i] != std::floor(aims.weight[i]) || !(total < most)) return;
    }
    weight = aims.weight;
    n_rows = static_cast<std::size_t>(total);
}

Loss loss_named(const std::string& name, double quantile, std::size_t n_classes) {
    if (name == "squared_error") return {LossKind::squared_error};
    if (name == "absolute_error") return {LossKind::absolute_error};
    if (name == "quantile") return {LossKind::quantile, quantile};
    if (name == "poisson") return {LossKind::poisson};
    if (name == "gamma") return {LossKind::gamma};
    if (name == "log_loss")
        return n_classes <= 2 ? Loss{LossKind::binomial} : Loss{LossKind::multinomial, 0.5, n_classes};
    throw std::invalid_argument("there is no loss '" + name + "'");
}

void find_gradients(const Loss& loss, const Aims& aims, const double* raw, std::size_t stride,
                    double* gradient, double* hessian, Pool& pool, Interrupt& interrupt) {
    std::vector<std::vector<double>> scratch(pool.size());
    pool.run((aims.n_rows + piece - 1) / piece, [&](std::size_t task, std::size_t thread) {
        interrupt.check();
        const std::size_t begin = task * piece, end = std::min(aims.n_rows, begin + piece);
        if (loss.kind == LossKind::multinomial)
            fill_multinomial(loss, aims, begin, end, raw, stride, gradient, hessian, scratch[thread]);
        else
            fill_single(loss, aims, begin, end, raw, gradient, hessian);
    });
}

double mean_loss(const Loss& loss, const Aims& aims, const double* raw, std::size_t stride, Pool& pool,
                 Interrupt& interrupt) {
    const std::size_t n_pieces = (aims.n_rows + piece - 1) / piece;
    std::vector<double> losses(n_pieces), weights(n_pieces);
    pool.run(n_pieces, [&](std::size_t task, std::size_t) {
        interrupt.check();
        const std::size_t begin = task * piece, end = std::min(aims.n_rows, begin + piece);
        losses[task] = loss_of_piece(loss, aims, begin, end, raw, stride);
        weights[task] = static_cast<double>(end - begin);
        if (aims.weight) {
            weights[task] = 0;
            for (std::size_t i = begin; i < end; ++i) weights[task] += aims.weight[i];
        }
    });
    double sum = 0, weight = 0;
    for (std::size_t i = 0; i < n_pieces; ++i) {
        sum += losses[i];
        weight += weights[i];
    }
    return sum / weight;
}

}  // namespace treewright::boosting
