// Gini with costs: Σ_{i≠j} (C_ij + C_ji)/2 · n_i·n_j / n, what two rows of a node cost if each is taken for
// the other.
#pragma once

#include <ranges>
#include <span>
#include <vector>

#include "criteria/criterion.hpp"
#include "data/grids.hpp"
#include "data/labels.hpp"
#include "data/problem.hpp"
#include "scanners/scanner.hpp"

namespace treewright::constrained {

/// The risk of some weights of classes; `costs` is classes × classes.
inline double cost_risk(std::span<const double> costs, Weights weights) {
    double sum = 0, total = 0;
    const std::size_t n = weights.size();
    for (std::size_t a = 0; a < n; ++a) {
        total += weights[a];
        for (std::size_t b = 0; b < a; ++b)
            sum += (costs[a * n + b] + costs[b * n + a]) * weights[a] * weights[b];
    }
    return total > 0 ? sum / total : 0.0;
}

/// A scanner like the others. The risk is not concave for every matrix: gains may be negative.
template <class Id>
class CostScanner {
  public:
    CostScanner(const Problem& problem, std::span<const double> costs) : problem_(problem), costs_(costs) {}

    void load(std::span<const Row> rows) {
        rows_ = rows;
        weight_.assign(rows.size(), 1);
        labels_.resize(rows.size(), static_cast<std::size_t>(problem_.targets.n_classes[0]));
    }
    void enter(std::span<const Id> ids) {
        grid_ = weight_grid(problem_, ids | std::views::transform([&](Id id) { return rows_[id]; }));
        labels_.enter(ids, [&](Id id) { return problem_.label(rows_[id]); });
        total_.assign(labels_.n_present, 0);
        std::vector<std::size_t> classes(width());
        for (const Id id : ids) {
            weight_[id] = weight_on(grid_, problem_, rows_[id]);
            add_to(total_.data(), id);
            classes[labels_.dense[id]] = static_cast<std::size_t>(problem_.label(rows_[id]));
        }
        const auto n_classes = static_cast<std::size_t>(problem_.targets.n_classes[0]);
        present_costs_.clear();
        for (const auto a : classes)
            for (const auto b : classes) present_costs_.push_back(costs_[a * n_classes + b]);
        left_real_.resize(width());
        right_real_.resize(width());
        for (std::size_t k = 0; k < width(); ++k) left_real_[k] = static_cast<double>(total_[k]);
        risk_ = cost_risk(present_costs_, left_real_);
    }

    struct Cursor {
        CostScanner* scanner;

        void add(Id id) { scanner->add_to(scanner->left_.data(), id); }
        double score(std::size_t) const { return scanner->score_of(scanner->left_.data()); }
        double weight(std::size_t) const { return scanner->weight_of(scanner->left_.data()); }
    };
    Cursor cursor() {
        left_.assign(width(), 0);
        return {this};
    }

    double weight() const { return weight_of(total_.data()); }
    double noise() const { return rounding_noise * risk_; }
    double gain(double score) const { return score * grid_.unit; }

    std::size_t width() const { return total_.size(); }
    void add_to(Sum* statistic, Id id) const { statistic[labels_.dense[id]] += weight_[id]; }
    double weight_of(const Sum* statistic) const {
        Sum sum = 0;
        for (std::size_t k = 0; k < width(); ++k) sum += statistic[k];
        return static_cast<double>(sum) * grid_.unit;
    }
    double score_of(const Sum* statistic) {
        for (std::size_t k = 0; k < width(); ++k) {
            left_real_[k] = static_cast<double>(statistic[k]);
            right_real_[k] = static_cast<double>(total_[k] - statistic[k]);
        }
        return risk_ - cost_risk(present_costs_, left_real_) - cost_risk(present_costs_, right_real_);
    }
    double chance_score(const Chance& chance) const {
        const std::vector<double> weights(total_.begin(), total_.end());
        return class_chance(chance, weights, grid_.unit, [&](const auto& left, const auto& right) {
            return std::max(0.0, risk_ - cost_risk(present_costs_, left) - cost_risk(present_costs_, right));
        });
    }
    std::size_t dimensions() const { return share_dimensions(width()); }
    void point(const Sum* statistic, double* out) const {
        share_point({statistic, width()}, weight_of(statistic) / grid_.unit, out);
    }

  private:
    const Problem& problem_;
    std::span<const double> costs_;
    std::span<const Row> rows_;
    Grid grid_;
    DenseLabels<Id> labels_;
    std::vector<Sum> weight_, total_, left_;
    std::vector<double> present_costs_, left_real_, right_real_;  // costs of the classes in the node
    double risk_ = 0;
};

}  // namespace treewright::constrained
