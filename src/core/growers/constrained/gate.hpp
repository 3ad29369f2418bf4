// What a cut has to respect beside the limits that every grower knows: parts of rows count as parts, and the
// answers follow the directions of monotone columns.
//
// The value of a node is its mean or median, or for classes the shares of the first class, of the first two
// and so on: they fall where the answers move to later classes, so the directions of classes are turned
// round. Means and shares follow from sums of rows; medians are told by the scanner.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "data/grids.hpp"
#include "growers/constrained/cut.hpp"
#include "scanners/chance.hpp"
#include "scanners/group_scorer.hpp"
#include "scanners/list_scanner.hpp"

namespace treewright::constrained {

/// The value of some rows of a node, from exact sums where it is no median.
class Values {
  public:
    explicit Values(const Problem& problem) : problem_(problem) {
        for (const auto k : problem.targets.n_classes)
            start_.push_back(start_.back() + static_cast<std::size_t>(k));
    }
    void enter(std::span<const Id> ids) {
        const auto rows = rows_of(problem_, ids);
        weight_grid_ = weight_grid(problem_, rows);
        scale_.assign(size(), 1.0);
        if (problem_.targets.are_classes()) return;
        grids_.clear();
        for (std::size_t output = 0; output < problem_.targets.n_outputs; ++output) {
            grids_.push_back(number_grid(problem_, rows, output, true));
            scale_[output] = 0;
            for (const Row row : rows)
                scale_[output] = std::max(scale_[output], std::abs(problem_.number(row, output)));
        }
    }
    std::size_t size() const {
        return problem_.targets.are_classes() ? start_.back() - problem_.targets.n_outputs
                                              : problem_.targets.n_outputs;
    }
    /// What rounding can do to a component.
    double rounding(std::size_t i) const { return 1e-12 * scale_[i]; }

    std::size_t width() const {
        return problem_.targets.are_classes() ? start_.back() : 1 + problem_.targets.n_outputs;
    }
    void add_to(Sum* sums, Id id) const {
        const Row row = problem_.rows[id];
        const Sum weight = weight_on(weight_grid_, problem_, row);
        if (problem_.targets.are_classes()) {
            for (std::size_t output = 0; output + 1 < start_.size(); ++output)
                sums[start_[output] + static_cast<std::size_t>(problem_.label(row, output))] += weight;
            return;
        }
        sums[0] += weight;
        for (std::size_t output = 0; output < grids_.size(); ++output)
            sums[1 + output] += number_on(grids_[output], problem_, row, output);
    }
    void value_of(const Sum* sums, double* out) const {
        if (!problem_.targets.are_classes()) {
            const double weight = static_cast<double>(sums[0]) * weight_grid_.unit;
            for (std::size_t output = 0; output < grids_.size(); ++output)
                out[output] = grids_[output].centre +
                              static_cast<double>(sums[1 + output]) * grids_[output].unit / weight;
            return;
        }
        for (std::size_t output = 0; output + 1 < start_.size(); ++output) {
            Sum total = 0, below = 0;
            for (std::size_t k = start_[output]; k < start_[output + 1]; ++k) total += sums[k];
            for (std::size_t k = start_[output]; k + 1 < start_[output + 1]; ++k)
                *out++ = static_cast<double>(below += sums[k]) / static_cast<double>(total);
        }
    }

  private:
    const Problem& problem_;
    std::vector<std::size_t> start_{0};
    Grid weight_grid_;
    std::vector<Grid> grids_;
    std::vector<double> scale_;
};

class Gate {
  public:
    explicit Gate(const Task& task)
        : task_(task), values_(task.problem), by_median_(task.criterion.by_median) {}

    void enter(const View& node) {
        node_ = &node;
        by_share_ = !node.shares.empty();
        is_bounded_ = !node.bounds->low.empty();
        if (!task_.options.monotone.empty()) values_.enter(node.ids);
        for (auto& sums : whole_) sums.clear();
        if (!by_share_) return;
        share_grid_ = Grid::covering(1.0, static_cast<double>(node.ids.size()));
        share_.resize(task_.problem.rows.size());
        for (std::size_t i = 0; i < node.ids.size(); ++i)
            share_[node.ids[i]] = std::max<Sum>(1, share_grid_.place(node.shares[i]));
    }
    /// Which column is to be cut, and which of the node's rows do not compete.
    void take(std::int32_t column, std::span<const Id> left_out = {}) {
        direction_ = task_.options.monotone.empty() ? 0 : task_.options.monotone[column];
        if (task_.problem.targets.are_classes()) direction_ = -direction_;
        is_valued_ = is_bounded_ || direction_ != 0;
        if (width() == 0) return;
        auto& whole = whole_[is_summed()];
        if (whole.empty()) {
            whole.assign(width(), 0);
            for (const Id id : node_->ids) add_to(whole.data(), id);
        }
        total_ = whole;
        if (left_out.empty()) return;
        right_.assign(width(), 0);
        for (const Id id : left_out) add_to(right_.data(), id);
        for (std::size_t i = 0; i < total_.size(); ++i) total_[i] -= right_[i];
    }

    bool is_active() const { return is_valued_ || by_share_; }
    std::size_t width() const { return (is_summed() ? values_.width() : 0) + (by_share_ ? 1 : 0); }
    void add_to(Sum* sums, Id id) const {
        if (is_summed()) values_.add_to(sums, id);
        if (by_share_) sums[width() - 1] += share_[id];
    }
    /// Whether the rows that compete may be cut into these and the others.
    bool allows(const Sum* left, bool is_ordered) {
        if (!is_active()) return true;
        right_.resize(total_.size());
        for (std::size_t i = 0; i < total_.size(); ++i) right_[i] = total_[i] - left[i];
        if (!are_enough(left) || !are_enough(right_.data())) return false;
        if (!is_valued_) return true;
        value_.resize(2 * values_.size());
        values_.value_of(left, value_.data());
        values_.value_of(right_.data(), value_.data() + values_.size());
        return allows(value_, is_ordered);
    }
    bool allows(const Sum* left) { return allows(left, true); }
    /// Whether these rows may be a branch.
    bool admits(const Sum* sums) {
        if (!are_enough(sums)) return false;
        if (!is_bounded_) return true;
        value_.resize(values_.size());
        values_.value_of(sums, value_.data());
        return lies_within(value_);
    }

    /// The same by the medians of one output, where sums do not tell them: those of what a scanner has sent
    /// left and of the rest.
    bool allows_medians(const ListScanner<Id>& scanner, bool is_ordered) {
        if (!is_valued_) return true;
        value_.resize(2);
        scanner.put_medians(value_.data(), value_.data() + 1);
        return allows(value_, is_ordered);
    }
    bool admits_rest(const ListScanner<Id>& scanner) {
        if (!is_bounded_) return true;
        value_.resize(2);
        scanner.put_medians(value_.data(), value_.data() + 1);
        return lies_within({value_.data() + 1, 1});
    }
    /// By how many rows of a list are left of a cut, how many that is with parts counted as parts.
    void count_left(std::span<const Id> list, std::vector<double>& n_left) const {
        n_left.assign(1, 0.0);
        Sum sum = 0;
        for (const Id id : list) {
            sum += by_share_ ? share_[id] : 1;
            n_left.push_back(static_cast<double>(sum) * (by_share_ ? share_grid_.unit : 1.0));
        }
    }

  private:
    const Limits& limits() const { return task_.problem.limits; }
    bool is_summed() const { return is_valued_ && !by_median_; }
    /// Whether these rows are enough for a leaf, a part counted as a part.
    bool are_enough(const Sum* sums) const {
        return !by_share_ || static_cast<double>(sums[width() - 1]) * share_grid_.unit + share_rounding >=
                                 static_cast<double>(limits().min_rows_leaf);
    }
    /// Whether the values of a left and a right branch may stand side by side.
    bool allows(std::span<const double> values, bool is_ordered) const {
        const std::size_t n = values_.size();
        if (is_bounded_ && !(lies_within(values.first(n)) && lies_within(values.last(n)))) return false;
        for (std::size_t i = 0; is_ordered && direction_ != 0 && i < n; ++i)
            if (direction_ * (values[n + i] - values[i]) < -values_.rounding(i)) return false;
        return true;
    }
    bool lies_within(std::span<const double> value) const {
        for (std::size_t i = 0; i < value.size(); ++i)
            if (value[i] < node_->bounds->low[i] - values_.rounding(i) ||
                value[i] > node_->bounds->high[i] + values_.rounding(i))
                return false;
        return true;
    }

    const Task& task_;
    const View* node_ = nullptr;
    Values values_;
    Grid share_grid_;
    std::vector<Sum> share_;  // by id, on the grid
    const bool by_median_;
    bool by_share_ = false, is_bounded_ = false, is_valued_ = false;
    int direction_ = 0;
    std::vector<Sum>
        whole_[2];  // of all rows of the node, without and with their values; empty: not yet summed
    std::vector<Sum> total_, right_;
    std::vector<double> value_;
};

/// A scorer and a gate as one scorer of groups: a statistic is that of the scorer, then that of the gate.
class GatedScorer final : public GroupScorer {
  public:
    GatedScorer(GroupScorer& scorer, Gate& gate) : scorer_(scorer), gate_(gate) {}

    std::size_t width() const override { return scorer_.width() + gate_.width(); }
    double weight() const override { return scorer_.weight(); }
    double weight_of(const Sum* statistic) const override { return scorer_.weight_of(statistic); }
    double score_of(const Sum* left) override { return scorer_.score_of(left); }
    double chance_score(const Chance& chance) const override { return scorer_.chance_score(chance); }
    std::size_t dimensions() const override { return scorer_.dimensions(); }
    void point(const Sum* statistic, double* out) const override {
        // Rows whose value is known may be of one class though the node is not: all groups are alike.
        if (scorer_.width() == 1) return void(out[0] = 0.0);
        scorer_.point(statistic, out);
    }
    bool may_refuse() const override { return gate_.is_active() || scorer_.may_refuse(); }
    bool allows(const Sum* left) override { return gate_.allows(left + scorer_.width()); }

  private:
    GroupScorer& scorer_;
    Gate& gate_;
};

}  // namespace treewright::constrained
