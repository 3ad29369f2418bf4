// The losses of gradient boosting: how far predictions are off, which way to move them, and how curved that
// is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/threads.hpp"

namespace treewright::boosting {

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

/// A loss as scikit-learn has it: half the squared error, halves of the Poisson and gamma deviances, log
/// losses. `raw`, `gradient` and `hessian` are (outputs, stride); a call covers the rows from `begin` to
/// `end`.
class Loss {
  public:
    virtual ~Loss() = default;
    /// Trees per iteration: one for each of many classes.
    virtual std::size_t n_outputs() const { return 1; }
    /// Whether the hessian is the weight of a row, whatever is predicted.
    virtual bool is_flat() const { return false; }
    /// The quantile of the residuals that leaves predict; empty if they take a Newton step.
    virtual std::optional<double> leaf_quantile() const { return {}; }
    /// Throws std::invalid_argument if targets are out of range.
    virtual void check(const Aims&) const {}
    virtual void fill_gradients(const Aims& aims, std::size_t begin, std::size_t end, const double* raw,
                                std::size_t stride, double* gradient, double* hessian,
                                std::vector<double>& scratch) const = 0;
    /// The loss of each row, for a weight of 1; the first one is that of row `begin`.
    virtual void fill_losses(const Aims& aims, std::size_t begin, std::size_t end, const double* raw,
                             std::size_t stride, double* losses) const = 0;
};

/// The loss of a name; throws std::invalid_argument if there is none. `quantile` is of that loss alone.
std::shared_ptr<const Loss> loss_named(const std::string& name, double quantile, std::size_t n_classes);

/// The largest gradient and hessian of some rows, and the largest g²/h.
struct Extremes {
    double gradient = 0, hessian = 0, squares = 0;

    void join(const Extremes& other) {
        gradient = std::max(gradient, other.gradient);
        hessian = std::max(hessian, other.hessian);
        squares = std::max(squares, other.squares);
    }
};

/// Gradients and hessians at `raw`; all three are (outputs, stride) and the first n_rows of a line are meant.
/// Returns the largest ones of each output.
std::vector<Extremes> find_gradients(const Loss& loss, const Aims& aims, const double* raw,
                                     std::size_t stride, double* gradient, double* hessian, Pool& pool,
                                     Interrupt& interrupt);

/// The mean loss per unit of weight. The sums are exact: neither threads nor the order of rows change it.
double mean_loss(const Loss& loss, const Aims& aims, const double* raw, std::size_t stride, Pool& pool,
                 Interrupt& interrupt);

}  // namespace treewright::boosting
