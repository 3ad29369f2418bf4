// The loop of gradient boosting.
#include "boosting/boosting.hpp"

#include <algorithm>

#include "boosting/trees.hpp"

namespace treewright::boosting {

namespace {

class Booster {
  public:
    Booster(const std::vector<Column>& columns, const Row* rows, const Aims& aims, double* raw,
            const Plan& plan, Pool& pool, Interrupt& interrupt)
        : plan_(plan),
          raw_(raw),
          stride_(aims.n_rows),
          train_{plan.n_train, aims.target, aims.weight},
          validation_{aims.n_rows - plan.n_train, aims.target + plan.n_train,
                      aims.weight ? aims.weight + plan.n_train : nullptr},
          columns_(columns),
          pool_(pool),
          serial_(1, interrupt),
          interrupt_(interrupt),
          repeats_(train_),
          cells_(make_cells(columns, rows, aims.n_rows, Repeats(aims), plan.most_cells, pool, interrupt)),
          gradient_(plan.loss->n_outputs() * stride_),
          hessian_(plan.loss->n_outputs() * stride_) {
        const bool side_by_side = plan.loss->n_outputs() > 1 && pool.size() > 1;
        for (std::size_t i = 0; i < (side_by_side ? pool.size() : 1); ++i)
            growers_.push_back(make_grower(cells_, columns_, plan.limits, train_, repeats_, *plan.loss));
    }

    /// One tree for each output: side by side as many as there are threads for all of them, and the rest by
    /// all threads together.
    void iterate(std::size_t iteration, Boosted& found) {
        const std::size_t n = plan_.loss->n_outputs(),
                          n_alone = growers_.size() > 1 ? n - n % pool_.size() : 0;
        // Whole weights are multiplied with whole numbers later on.
        const Aims once{train_.n_rows, train_.target, repeats_ ? nullptr : train_.weight};
        const auto largest = find_gradients(*plan_.loss, once, raw_, stride_, gradient_.data(),
                                            hessian_.data(), pool_, interrupt_);
        std::vector<GrownTree> trees(n);
        const auto grow = [&](std::size_t k, std::size_t thread, Pool& pool) {
            const std::uint64_t key = Random{plan_.limits.seed + iteration * n + k}.next();
            const Task task{*plan_.loss,
                            train_,
                            gradient_.data() + k * stride_,
                            hessian_.data() + k * stride_,
                            largest[k],
                            raw_ + k * stride_,
                            key};
            trees[k] = growers_[thread]->grow(task, pool, interrupt_);
        };
        pool_.run(n_alone, [&](std::size_t k, std::size_t thread) { grow(k, thread, serial_); });
        for (std::size_t k = n_alone; k < n; ++k) grow(k, 0, pool_);
        for (auto& tree : trees) found.trees.push_back(std::move(tree));
    }

    void score(Boosted& found) const {
        found.train_loss.push_back(mean_loss(*plan_.loss, train_, raw_, stride_, pool_, interrupt_));
        if (validation_.n_rows > 0)
            found.validation_loss.push_back(
                mean_loss(*plan_.loss, validation_, raw_ + plan_.n_train, stride_, pool_, interrupt_));
    }

    /// Whether none of the last losses is lower than the one before them.
    bool has_settled(const Boosted& found) const {
        const auto& losses = validation_.n_rows > 0 ? found.validation_loss : found.train_loss;
        if (plan_.patience == 0 || losses.size() <= plan_.patience) return false;
        const auto recent = losses.end() - static_cast<std::ptrdiff_t>(plan_.patience);
        const double reference = *(recent - 1) - plan_.tolerance;
        return std::none_of(recent, losses.end(), [&](double loss) { return loss < reference; });
    }

  private:
    const Plan& plan_;
    double* raw_;
    std::size_t stride_;
    Aims train_, validation_;
    const std::vector<Column>& columns_;
    Pool& pool_;
    Pool serial_;
    Interrupt& interrupt_;
    Repeats repeats_;
    Cells cells_;
    UnfilledVector<double> gradient_, hessian_;
    std::vector<std::unique_ptr<TreeGrower>> growers_;  // one for each thread that grows a tree of its own
};

}  // namespace

Boosted boost(const std::vector<Column>& columns, const Row* rows, const Aims& aims, double* raw,
              const Plan& plan, Boosted so_far, const Listener& listener, Pool& pool, Interrupt& interrupt) {
    Booster booster(columns, rows, aims, raw, plan, pool, interrupt);
    Boosted found = std::move(so_far);
    if (plan.is_scored && found.train_loss.empty()) booster.score(found);
    interrupt.expect(plan.n_iterations);
    for (std::size_t i = 0; i < plan.n_iterations; ++i) {
        booster.iterate(plan.first_iteration + i, found);
        interrupt.advance(1);
        if (plan.is_scored) booster.score(found);
        const bool has_settled = plan.is_scored && booster.has_settled(found);
        if ((listener && listener(found)) || has_settled) break;
    }
    return found;
}

}  // namespace treewright::boosting
