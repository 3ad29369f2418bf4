// Gradients, hessians and mean losses. A loss is a class below and a line in `loss_named`.
#include "boosting/losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "boosting/exact_blocks.hpp"
#include "boosting/exponential.hpp"
#include "boosting/sums.hpp"
#include "support/elementary.hpp"

namespace treewright::boosting {

namespace {

constexpr std::size_t piece = 4096;  // rows that are summed up by themselves
constexpr double farthest = 300.0;   // beyond this a probability is as good as 0 or 1, and hessians vanish

double clipped(double x) { return x < -farthest ? -farthest : x > farthest ? farthest : x; }

/// A loss of one output, computed row by row: `Own::derive(y, raw, g, h)` gives the gradient and the hessian
/// of a row, `Own::of_row(y, raw)` its loss.
template <class Own>
class RowLoss : public Loss {
  public:
    void fill_gradients(const Aims& aims, std::size_t begin, std::size_t end, const double* raw, std::size_t,
                        double* gradient, double* hessian, std::vector<double>&) const override {
        const Own own = static_cast<const Own&>(*this);  // a copy that no write to the arrays can change
        const double* const y = aims.target;
        if (!aims.weight) {
            for (std::size_t i = begin; i < end; ++i) own.derive(y[i], raw[i], gradient[i], hessian[i]);
            return;
        }
        for (std::size_t i = begin; i < end; ++i) {
            double g, h;
            own.derive(y[i], raw[i], g, h);
            gradient[i] = aims.weight[i] * g;
            hessian[i] = aims.weight[i] * h;
        }
    }
    void fill_losses(const Aims& aims, std::size_t begin, std::size_t end, const double* raw, std::size_t,
                     double* losses) const override {
        const Own own = static_cast<const Own&>(*this);
        for (std::size_t i = begin; i < end; ++i) losses[i - begin] = own.of_row(aims.target[i], raw[i]);
    }
};

struct SquaredError final : RowLoss<SquaredError> {
    bool is_flat() const override { return true; }
    static void derive(double y, double raw, double& g, double& h) {
        g = raw - y;
        h = 1;
    }
    static double of_row(double y, double raw) { return 0.5 * (y - raw) * (y - raw); }
};

struct AbsoluteError final : RowLoss<AbsoluteError> {
    bool is_flat() const override { return true; }
    std::optional<double> leaf_quantile() const override { return 0.5; }
    static void derive(double y, double raw, double& g, double& h) {
        g = raw > y ? 1 : -1;
        h = 1;
    }
    static double of_row(double y, double raw) { return std::abs(y - raw); }
};

struct Quantile final : RowLoss<Quantile> {
    double q;

    explicit Quantile(double quantile) : q(quantile) {}
    bool is_flat() const override { return true; }
    std::optional<double> leaf_quantile() const override { return q; }
    void derive(double y, double raw, double& g, double& h) const {
        g = raw > y ? 1 - q : -q;
        h = 1;
    }
    double of_row(double y, double raw) const { return y >= raw ? q * (y - raw) : (1 - q) * (raw - y); }
};

struct Poisson final : RowLoss<Poisson> {
    static void derive(double y, double raw, double& g, double& h) {
        h = exponential(raw);
        g = h - y;
    }
    static double of_row(double y, double raw) { return exponential(raw) - y * raw; }
};

struct Gamma final : RowLoss<Gamma> {
    static void derive(double y, double raw, double& g, double& h) {
        h = y * exponential(-raw);
        g = 1 - h;
    }
    static double of_row(double y, double raw) { return raw + y * exponential(-raw); }
};

/// The log loss of two classes.
struct Binomial final : RowLoss<Binomial> {
    /// With e = exp(−|raw|) neither the probability nor its complement loses digits.
    static void derive(double y, double raw, double& g, double& h) {
        const double x = clipped(raw), e = exponential(-std::abs(x)), share = 1 / (1 + e);
        const double near = x > 0 ? share : e * share, far = x > 0 ? e * share : share;
        g = y > 0.5 ? -far : near;
        h = e * share * share;
    }

    /// −log of the likelihood of a row: log(1 + e) + what lies on the wrong side.
    static double of_row(double y, double raw) {
        const double x = clipped(raw), wrong = y > 0.5 ? -x : x;
        return logarithm_of_1_plus(exponential(-std::abs(x))) + (wrong > 0 ? wrong : 0.0);
    }
};

/// The log loss of many classes, by softmax.
class Multinomial final : public Loss {
  public:
    explicit Multinomial(std::size_t n_classes) : n_outputs_(n_classes) {}

    std::size_t n_outputs() const override { return n_outputs_; }

    void check(const Aims& aims) const override {
        for (std::size_t i = 0; i < aims.n_rows; ++i)
            if (!(aims.target[i] >= 0 && aims.target[i] < static_cast<double>(n_outputs_)))
                throw std::invalid_argument("a class is not below the number of classes");
    }

    /// `scratch` holds the exponentials.
    void fill_gradients(const Aims& aims, std::size_t begin, std::size_t end, const double* raw,
                        std::size_t stride, double* gradient, double* hessian,
                        std::vector<double>& scratch) const override {
        constexpr std::size_t block = 256;  // rows whose outputs are in cache together
        scratch.resize(2 * block);
        double* const top = scratch.data();
        double* const sum = top + block;
        for (std::size_t first = begin; first < end; first += block) {
            const std::size_t n = std::min(block, end - first);
            std::fill(top, top + n, -std::numeric_limits<double>::infinity());
            std::fill(sum, sum + n, 0.0);
            for (std::size_t k = 0; k < n_outputs_; ++k)
                for (std::size_t i = 0; i < n; ++i) top[i] = std::max(top[i], raw[k * stride + first + i]);
            for (std::size_t k = 0; k < n_outputs_; ++k) {
                double* const e = hessian + k * stride + first;
                for (std::size_t i = 0; i < n; ++i) {
                    e[i] = exponential(std::max(raw[k * stride + first + i] - top[i], -farthest));
                    sum[i] += e[i];
                }
            }
            for (std::size_t k = 0; k < n_outputs_; ++k) {
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

    void fill_losses(const Aims& aims, std::size_t begin, std::size_t end, const double* raw,
                     std::size_t stride, double* losses) const override {
        for (std::size_t i = begin; i < end; ++i) {
            double top = raw[i], sum = 0;
            for (std::size_t k = 1; k < n_outputs_; ++k) top = std::max(top, raw[k * stride + i]);
            for (std::size_t k = 0; k < n_outputs_; ++k) sum += exponential(raw[k * stride + i] - top);
            const double own = raw[static_cast<std::size_t>(aims.target[i]) * stride + i];
            losses[i - begin] = elementary::log(sum) + top - own;
        }
    }

  private:
    std::size_t n_outputs_;
};

/// By pairs of rows: compilers do not look for the largest of several at once.
Extremes extremes(const double* gradient, const double* hessian, std::size_t n) {
    Pair largest_g{}, largest_h{}, largest_square{};
    const auto take = [&](Pair g, Pair h) {
        largest_g = larger(magnitude(g), largest_g);
        largest_h = larger(h, largest_h);
        largest_square = larger(where_positive(h, g * g / h), largest_square);
    };
    for (std::size_t i = 0; i + 1 < n; i += 2)
        take(Pair{gradient[i], gradient[i + 1]}, Pair{hessian[i], hessian[i + 1]});
    if (n % 2 == 1) take(Pair{gradient[n - 1], 0.0}, Pair{hessian[n - 1], 0.0});
    const auto of_both = [](Pair pair) { return std::max(pair[0], pair[1]); };
    return {of_both(largest_g), of_both(largest_h), of_both(largest_square)};
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

std::shared_ptr<const Loss> loss_named(const std::string& name, double quantile, std::size_t n_classes) {
    if (name == "squared_error") return std::make_shared<SquaredError>();
    if (name == "absolute_error") return std::make_shared<AbsoluteError>();
    if (name == "quantile") return std::make_shared<Quantile>(quantile);
    if (name == "poisson") return std::make_shared<Poisson>();
    if (name == "gamma") return std::make_shared<Gamma>();
    if (name == "log_loss" && n_classes > 2) return std::make_shared<Multinomial>(n_classes);
    if (name == "log_loss") return std::make_shared<Binomial>();
    throw std::invalid_argument("there is no loss '" + name + "'");
}

std::vector<Extremes> find_gradients(const Loss& loss, const Aims& aims, const double* raw,
                                     std::size_t stride, double* gradient, double* hessian, Pool& pool,
                                     Interrupt& interrupt) {
    struct alignas(64) Worker {
        std::vector<double> scratch;
        std::vector<Extremes> largest;
    };
    std::vector<Worker> workers(pool.size());
    for (auto& worker : workers) worker.largest.resize(loss.n_outputs());
    pool.run((aims.n_rows + piece - 1) / piece, [&](std::size_t task, std::size_t thread) {
        interrupt.check();
        Worker& worker = workers[thread];
        const std::size_t begin = task * piece, end = std::min(aims.n_rows, begin + piece);
        loss.fill_gradients(aims, begin, end, raw, stride, gradient, hessian, worker.scratch);
        for (std::size_t k = 0; k < loss.n_outputs(); ++k)
            worker.largest[k].join(
                extremes(gradient + k * stride + begin, hessian + k * stride + begin, end - begin));
    });
    std::vector<Extremes> largest(loss.n_outputs());
    for (const auto& worker : workers)
        for (std::size_t k = 0; k < loss.n_outputs(); ++k) largest[k].join(worker.largest[k]);
    return largest;
}

double mean_loss(const Loss& loss, const Aims& aims, const double* raw, std::size_t stride, Pool& pool,
                 Interrupt& interrupt) {
    struct alignas(64) Worker {
        std::vector<double> losses;
        ExactSum loss, weight;
    };
    std::vector<Worker> workers(pool.size());
    pool.run((aims.n_rows + piece - 1) / piece, [&](std::size_t task, std::size_t thread) {
        interrupt.check();
        Worker& worker = workers[thread];
        worker.losses.resize(piece);
        const std::size_t begin = task * piece, end = std::min(aims.n_rows, begin + piece);
        loss.fill_losses(aims, begin, end, raw, stride, worker.losses.data());
        if (!aims.weight) return add_all(worker.losses.data(), end - begin, worker.loss);
        for (std::size_t i = begin; i < end; ++i) {
            worker.loss.add_product(aims.weight[i], worker.losses[i - begin]);
            worker.weight.add(aims.weight[i]);
        }
    });
    ExactSum sum, weight;
    for (const auto& worker : workers) {
        sum.add(worker.loss);
        weight.add(worker.weight);
    }
    return sum.rounded() / (aims.weight ? weight.rounded() : static_cast<double>(aims.n_rows));
}

}  // namespace treewright::boosting
