// The losses of gradient boosting: how far predictions are off, which way to move them, and how curved that
// is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "threads.hpp"

namespace treewright::boosting {

/// As scikit-learn has them: half the squared error, the halves of the Poisson and gamma deviances, log
/// losses.
enum class LossKind : std::uint8_t {
    squared_error,
    absolute_error,
    quantile,
    poisson,
    gamma,
    binomial,
    multinomial
};

struct Loss {
    LossKind kind = LossKind::squared_error;
    double quantile = 0.5;      // of `quantile` alone
    std::size_t n_outputs = 1;  // trees per iteration: one for each of many classes

    /// Whether the hessian is the weight of a row, whatever is predicted.
    bool is_flat() const { return kind <= LossKind::quantile; }
    /// Whether leaves answer a quantile of the residuals, because the gradient does not say how far to go.
    bool by_quantile() const { return kind == LossKind::absolute_error || kind == LossKind::quantile; }
    double share_below() const { return kind == LossKind::quantile ? quantile : 0.5; }
};

Loss loss_named(const std::string& name, double quantile, std::size_t n_classes);

/// Rows with what is to be learnt: numbers, or codes of classes as numbers; weights, or null where all
/// weigh 1.
struct Aims {
    std::size_t n_rows = 0;
    const double* target = nullptr;
    const double* weight = nullptr;
};

/// Weights that are whole numbers: such a row counts as so many equal ones, to the last bit.
struct Repeats {
    const double* weight = nullptr;  // of each row; null where some weight is not whole, or there are none
    std::size_t n_rows = 0;          // of a table in which every row is repeated

    Repeats() = default;
    explicit Repeats(const Aims& aims);
    explicit operator bool() const { return weight != nullptr; }
};

/// Gradients and hessians at `raw`; all three are (outputs, stride) and the first n_rows of a line are meant.
void find_gradients(const Loss& loss, const Aims& aims, const double* raw, std::size_t stride,
                    double* gradient, double* hessian, Pool& pool, Interrupt& interrupt);

/// The mean loss per unit of weight; added up in pieces of fixed size, so that threads do not change it.
double mean_loss(const Loss& loss, const Aims& aims, const double* raw, std::size_t stride, Pool& pool,
                 Interrupt& interrupt);

}  // namespace treewright::boosting
