// Scanners: they keep the statistic of the rows that went left, one row at a time, and score what they see.
//
// load(problem, rows)   once per subtree: targets of its rows, on an integer grid, by local id
// enter(ids)            once per node: the statistic of the whole node
// cursor()              a scan: add(id) sends a row left, score(n_left) says how good the cut is here
// gain(score)           the gain behind a score, in the units of the data
//
// For categories a scanner also sums statistics of groups: width(), add_to(statistic, id),
// score_of(statistic). Ids are positions in the canonical order, so they ascend with the class or with the
// number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <vector>

#include "criterion.hpp"
#include "grids.hpp"
#include "labels.hpp"
#include "problem.hpp"
#include "running.hpp"

namespace treewright {

constexpr double unreachable = -std::numeric_limits<double>::infinity();
/// Gains that are differences of risks carry the rounding of the risks.
constexpr double rounding_noise = 2e-15;

/// Two classes by Gini, or one number by squared error, without weights. Both gains are
/// n·D²/(l·r) with D = Σ_left y − l·mean, up to a factor; D is exact, and 1/(l·r) is a table shared by
/// columns.
template <class Id, bool of_labels>
class LinearScanner {
  public:
    static constexpr bool is_additive = true;
    static constexpr bool may_refuse = false;

    explicit LinearScanner(const Problem& problem) : problem_(problem) {}

    void load(std::span<const Row> rows) {
        if constexpr (of_labels) {
            first_one_ =
                static_cast<Id>(std::partition_point(rows.begin(), rows.end(),
                                                     [&](Row row) { return problem_.label(row) == 0; }) -
                                rows.begin());
        } else {
            rows_ = rows;
            y_.resize(rows.size());
            whole_grid_ = number_grid(problem_, rows, 0, true);
            for (std::size_t id = 0; id < rows.size(); ++id)
                y_[id] = number_on(whole_grid_, problem_, rows[id], 0);
        }
    }
    void enter(std::span<const Id> ids) {
        n_ = ids.size();
        if constexpr (!of_labels) refine_grid(ids);
        Sum sum = 0;
        if constexpr (of_labels)
            sum = ids.end() - std::lower_bound(ids.begin(), ids.end(), first_one_);
        else
            for (const Id id : ids) sum += y_[id];
        // The mean is taken off in two parts, a whole one inside the integers and a small real rest.
        shift_ = of_labels ? 0 : sum / static_cast<Sum>(n_);
        total_ = sum - shift_ * static_cast<Sum>(n_);
        rest_ = static_cast<double>(total_) / static_cast<double>(n_);
        if (reciprocal_.size() < n_) reciprocal_.resize(n_);
        for (std::size_t left = 1; left < n_; ++left)
            reciprocal_[left] = 1.0 / (static_cast<double>(left) * static_cast<double>(n_ - left));
    }

    struct Cursor {
        const Sum* y;
        const double* reciprocal;
        Sum shift;
        Id first_one;
        double rest;
        Sum sum = 0;

        void add(Id id) {
            if constexpr (of_labels)
                sum += id >= first_one;
            else
                sum += y[id] - shift;
        }
        double score(std::size_t n_left) const {
            const double difference = static_cast<double>(sum) - static_cast<double>(n_left) * rest;
            return difference * difference * reciprocal[n_left];
        }
        double weight(std::size_t n_left) const { return static_cast<double>(n_left); }
    };
    Cursor cursor() { return {y_.data(), reciprocal_.data(), shift_, first_one_, rest_}; }

    double weight() const { return static_cast<double>(n_); }
    double noise() const { return 0; }
    double gain(double score) const {
        return score * static_cast<double>(n_) * (of_labels ? 2.0 : grid_.unit * grid_.unit);
    }

    std::size_t width() const { return 2; }
    void add_to(Sum* statistic, Id id) const {
        ++statistic[0];
        statistic[1] += of_labels ? (id >= first_one_) : y_[id] - shift_;
    }
    double score_of(const Sum* statistic) const {
        Cursor cursor{y_.data(), reciprocal_.data(), shift_, first_one_, rest_, statistic[1]};
        return cursor.score(static_cast<std::size_t>(statistic[0]));
    }
    double weight_of(const Sum* statistic) const { return static_cast<double>(statistic[0]); }
    std::size_t dimensions() const { return 1; }
    void point(const Sum* statistic, double* out) const {
        out[0] = static_cast<double>(statistic[1]) / static_cast<double>(statistic[0]);
    }

  private:
    /// A node whose numbers span far less than the subtree's gets a grid of its own, and so does every node
    /// below it: an outlier elsewhere costs no digits here. Ids ascend with the numbers.
    void refine_grid(std::span<const Id> ids) {
        constexpr double far_less = 0x1p-16;
        const auto number = [&](Id id) { return problem_.number(rows_[id]); };
        grid_ = whole_grid_;
        if (number(ids.back()) - number(ids.front()) > far_less * (number_at_end() - number_at_start()))
            return;
        grid_ = number_grid(problem_, ids | std::views::transform([&](Id id) { return rows_[id]; }), 0, true);
        for (const Id id : ids) y_[id] = number_on(grid_, problem_, rows_[id], 0);
    }
    double number_at_start() const { return problem_.number(rows_.front()); }
    double number_at_end() const { return problem_.number(rows_.back()); }

    const Problem& problem_;
    std::span<const Row> rows_;
    Grid whole_grid_, grid_;
    std::vector<Sum> y_;
    std::vector<double> reciprocal_;
    std::size_t n_ = 0;
    Sum shift_ = 0, total_ = 0;
    double rest_ = 0;
    Id first_one_ = 0;
};

/// One output of classes, no weights, a separable criterion: O(1) per row. The terms come from a table of
/// integers, so that sums of them are exact and do not depend on the way the rows came.
template <class Id, Separable C>
class CountScanner {
  public:
    static constexpr bool is_additive = true;
    static constexpr bool may_refuse = false;

    explicit CountScanner(const Problem& problem) : problem_(problem) {}

    void load(std::span<const Row> rows) {
        const std::size_t n = rows.size();
        labels_.resize(n, static_cast<std::size_t>(problem_.targets.n_classes[0]));
        label_.resize(n);
        for (std::size_t id = 0; id < n; ++id) label_[id] = problem_.label(rows[id]);
        // The sum over classes is at most n·(largest term) and has to stay within 62 bits.
        const double largest =
            std::max(1.0, C::term(static_cast<double>(n)) * 2 * std::sqrt(static_cast<double>(n)));
        unit_ = std::ldexp(1.0, std::ilogb(largest) + 1 - 61);
        step_.resize(n);
        Sum before = 0;
        for (std::size_t count = 0; count < n; ++count) {
            const Sum after = std::llrint(C::term(static_cast<double>(count + 1)) / unit_);
            step_[count] = after - before;
            before = after;
        }
    }
    void enter(std::span<const Id> ids) {
        n_ = ids.size();
        labels_.enter(ids, [&](Id id) { return label_[id]; });
        total_.assign(labels_.n_present, 0);
        terms_ = 0;
        for (const Id id : ids) terms_ += step_[total_[labels_.dense[id]]++];
        risk_ = C::risk(static_cast<double>(n_), static_cast<double>(terms_) * unit_);
    }

    struct Cursor {
        const std::int32_t* label;
        const Sum* step;
        Sum* left;
        Sum* right;
        Sum terms_left, terms_right;
        double unit, risk, n;

        void add(Id id) {
            const auto k = label[id];
            terms_left += step[left[k]++];
            terms_right -= step[--right[k]];
        }
        double score(std::size_t n_left) const {
            const auto l = static_cast<double>(n_left);
            return risk - C::risk(l, static_cast<double>(terms_left) * unit) -
                   C::risk(n - l, static_cast<double>(terms_right) * unit);
        }
        double weight(std::size_t n_left) const { return static_cast<double>(n_left); }
    };
    Cursor cursor() {
        left_.assign(total_.size(), 0);
        right_ = total_;
        return {labels_.dense.data(),
                step_.data(),
                left_.data(),
                right_.data(),
                0,
                terms_,
                unit_,
                risk_,
                weight()};
    }

    double weight() const { return static_cast<double>(n_); }
    double noise() const { return rounding_noise * risk_; }
    double gain(double score) const { return std::max(0.0, score); }

    std::size_t width() const { return total_.size(); }
    void add_to(Sum* statistic, Id id) const { ++statistic[labels_.dense[id]]; }
    double weight_of(const Sum* statistic) const {
        Sum sum = 0;
        for (std::size_t k = 0; k < total_.size(); ++k) sum += statistic[k];
        return static_cast<double>(sum);
    }
    double score_of(const Sum* statistic) const {
        double terms_left = 0, terms_right = 0;
        for (std::size_t k = 0; k < total_.size(); ++k) {
            terms_left += C::term(static_cast<double>(statistic[k]));
            terms_right += C::term(static_cast<double>(total_[k] - statistic[k]));
        }
        const double left = weight_of(statistic);
        return risk_ - C::risk(left, terms_left) - C::risk(weight() - left, terms_right);
    }
    std::size_t dimensions() const { return total_.size() == 2 ? 1 : total_.size(); }
    void point(const Sum* statistic, double* out) const {
        const double weight = weight_of(statistic);
        if (dimensions() == 1) return void(out[0] = static_cast<double>(statistic[1]) / weight);
        for (std::size_t k = 0; k < width(); ++k) out[k] = static_cast<double>(statistic[k]) / weight;
    }

  private:
    const Problem& problem_;
    DenseLabels<Id> labels_;
    std::vector<std::int32_t> label_;
    std::vector<Sum> step_, total_, left_, right_;
    Sum terms_ = 0;
    double unit_ = 1, risk_ = 0;
    std::size_t n_ = 0;
};

/// Any criterion of classes, with weights and several outputs: O(classes) per cut where they are few; where
/// they are many the risk of both sides is kept up to date, if the criterion has a form for it.
template <class Id, ClassCriterion C>
class WeightScanner {
    using Side = typename RunningOf<C>::Side;
    static constexpr bool may_run = !std::same_as<Side, NotRunning>;
    static constexpr std::size_t few_classes = 32;  // about as dear as keeping the risks up to date

  public:
    static constexpr bool is_additive = true;
    static constexpr bool may_refuse = false;

    explicit WeightScanner(const Problem& problem)
        : problem_(problem),
          labels_(problem.targets.n_outputs),
          whole_(labels_.size()),
          left_side_(labels_.size()),
          right_side_(labels_.size()) {}

    void load(std::span<const Row> rows) {
        rows_ = rows;
        weight_.assign(rows.size(), 1);
        for (std::size_t output = 0; output < labels_.size(); ++output)
            labels_[output].resize(rows.size(), static_cast<std::size_t>(problem_.targets.n_classes[output]));
    }
    void enter(std::span<const Id> ids) {
        if (problem_.is_weighted()) {
            grid_ = weight_grid(problem_, ids | std::views::transform([&](Id id) { return rows_[id]; }));
            for (const Id id : ids) weight_[id] = weight_on(grid_, problem_, rows_[id]);
        }
        start_.assign(1, 0);
        for (std::size_t output = 0; output < labels_.size(); ++output) {
            labels_[output].enter(ids, [&](Id id) { return problem_.label(rows_[id], output); });
            start_.push_back(start_.back() + labels_[output].n_present);
        }
        total_.assign(width(), 0);
        for (const Id id : ids) add_to(total_.data(), id);
        left_real_.resize(width());
        right_real_.resize(width());
        risks_.assign(labels_.size(), 0.0);
        for (std::size_t i = 0; i < width(); ++i) left_real_[i] = static_cast<double>(total_[i]);
        risk_ = 0;
        for (std::size_t output = 0; output < labels_.size(); ++output) {
            risks_[output] = C::risk(block(left_real_, output));
            risk_ += risks_[output];
        }
        is_running_ = may_run && width() > few_classes;
        if constexpr (may_run)
            for (std::size_t output = 0; is_running_ && output < labels_.size(); ++output)
                whole_[output].fill(std::span<const Sum>(total_).subspan(
                    start_[output], start_[output + 1] - start_[output]));
    }

    struct Cursor {
        WeightScanner* scanner;
        Sum total = 0;

        void add(Id id) {
            total += scanner->weight_[id];
            if (scanner->is_running_)
                scanner->move_left(id);
            else
                scanner->add_to(scanner->left_.data(), id);
        }
        double score(std::size_t) const {
            return scanner->is_running_ ? scanner->running_score() : scanner->score_of(scanner->left_.data());
        }
        double weight(std::size_t) const { return static_cast<double>(total) * scanner->grid_.unit; }
    };
    Cursor cursor() {
        if constexpr (may_run)
            for (std::size_t output = 0; is_running_ && output < labels_.size(); ++output) {
                left_side_[output].clear(whole_[output]);
                right_side_[output] = whole_[output];
            }
        if (!is_running_) left_.assign(width(), 0);
        return {this};
    }

    double weight() const { return weight_of(total_.data()); }
    double noise() const { return rounding_noise * risk_; }
    double gain(double score) const {
        return std::max(0.0, score) * grid_.unit / static_cast<double>(labels_.size());
    }

    std::size_t width() const { return start_.back(); }
    void add_to(Sum* statistic, Id id) const {
        for (std::size_t output = 0; output < labels_.size(); ++output)
            statistic[start_[output] + static_cast<std::size_t>(labels_[output].dense[id])] += weight_[id];
    }
    double weight_of(const Sum* statistic) const {
        Sum sum = 0;
        for (std::size_t k = 0; k < start_[1]; ++k) sum += statistic[k];
        return static_cast<double>(sum) * grid_.unit;
    }
    double score_of(const Sum* statistic) {
        for (std::size_t i = 0; i < width(); ++i) {
            left_real_[i] = static_cast<double>(statistic[i]);
            right_real_[i] = static_cast<double>(total_[i] - statistic[i]);
        }
        double score = 0;
        for (std::size_t output = 0; output < labels_.size(); ++output)
            score += gain_of<C>(block(left_real_, output), block(right_real_, output), risks_[output]);
        return score;
    }
    std::size_t dimensions() const { return width() == 2 ? 1 : width(); }
    void point(const Sum* statistic, double* out) const {
        const double weight = weight_of(statistic) / grid_.unit;
        if (dimensions() == 1) return void(out[0] = static_cast<double>(statistic[1]) / weight);
        for (std::size_t k = 0; k < width(); ++k) out[k] = static_cast<double>(statistic[k]) / weight;
    }

  private:
    void move_left(Id id) {
        if constexpr (may_run)
            for (std::size_t output = 0; output < labels_.size(); ++output) {
                const auto k = static_cast<std::size_t>(labels_[output].dense[id]);
                left_side_[output].add(k, weight_[id]);
                right_side_[output].add(k, -weight_[id]);
            }
    }
    double running_score() const {
        double score = 0;
        if constexpr (may_run)
            for (std::size_t output = 0; output < labels_.size(); ++output)
                score += risks_[output] - left_side_[output].risk() - right_side_[output].risk();
        return score;
    }
    Weights block(const std::vector<double>& values, std::size_t output) const {
        return Weights(values).subspan(start_[output], start_[output + 1] - start_[output]);
    }

    const Problem& problem_;
    std::span<const Row> rows_;
    Grid grid_;
    std::vector<Sum> weight_, total_, left_;
    std::vector<DenseLabels<Id>> labels_;
    std::vector<std::size_t> start_{0};
    std::vector<double> left_real_, right_real_, risks_;
    std::vector<Side> whole_, left_side_, right_side_;  // per output
    bool is_running_ = false;
    double risk_ = 0;
};

/// Any criterion of numbers that follows from weight and sum, with weights and several outputs.
/// statistic = (weight, sum of each output).
template <class Id, SumCriterion C>
class SumScanner {
  public:
    static constexpr bool is_additive = true;
    static constexpr bool may_refuse = C::may_refuse;

    explicit SumScanner(const Problem& problem) : problem_(problem) {}

    void load(std::span<const Row> rows) {
        rows_ = rows;
        values_.resize(rows.size() * width());
        grids_.resize(problem_.targets.n_outputs);
    }
    /// Every node has its own grids, so that what lies outside it costs no digits.
    void enter(std::span<const Id> ids) {
        const auto rows = ids | std::views::transform([&](Id id) { return rows_[id]; });
        weight_grid_ = weight_grid(problem_, rows);
        for (const Id id : ids) values_[id * width()] = weight_on(weight_grid_, problem_, rows_[id]);
        for (std::size_t output = 0; output < grids_.size(); ++output) {
            grids_[output] = number_grid(problem_, rows, output, C::is_centred);
            for (const Id id : ids)
                values_[id * width() + 1 + output] = number_on(grids_[output], problem_, rows_[id], output);
        }
        total_.assign(width(), 0);
        for (const Id id : ids) add_to(total_.data(), id);
    }

    struct Cursor {
        SumScanner* scanner;

        void add(Id id) { scanner->add_to(scanner->left_.data(), id); }
        double score(std::size_t) const { return scanner->score_of(scanner->left_.data()); }
        double weight(std::size_t) const { return scanner->weight_of(scanner->left_.data()); }
    };
    Cursor cursor() {
        left_.assign(width(), 0);
        return {this};
    }

    double weight() const { return weight_of(total_.data()); }
    double noise() const { return 0; }
    double gain(double score) const { return std::max(0.0, score) / static_cast<double>(grids_.size()); }

    std::size_t width() const { return problem_.targets.n_outputs + 1; }
    void add_to(Sum* statistic, Id id) const {
        for (std::size_t i = 0; i < width(); ++i) statistic[i] += values_[id * width() + i];
    }
    double weight_of(const Sum* statistic) const {
        return static_cast<double>(statistic[0]) * weight_grid_.unit;
    }
    double score_of(const Sum* statistic) const {
        const double left = weight_of(statistic), right = weight() - left;
        double score = 0;
        for (std::size_t output = 0; output < grids_.size(); ++output) {
            const double unit = grids_[output].unit;
            score += C::gain(left, static_cast<double>(statistic[1 + output]) * unit, right,
                             static_cast<double>(total_[1 + output] - statistic[1 + output]) * unit);
        }
        return score;
    }
    std::size_t dimensions() const { return grids_.size(); }
    void point(const Sum* statistic, double* out) const {
        for (std::size_t output = 0; output < grids_.size(); ++output)
            out[output] =
                static_cast<double>(statistic[1 + output]) * grids_[output].unit / weight_of(statistic);
    }

  private:
    const Problem& problem_;
    std::span<const Row> rows_;
    Grid weight_grid_;
    std::vector<Grid> grids_;
    std::vector<Sum> values_, total_, left_;
};

}  // namespace treewright
