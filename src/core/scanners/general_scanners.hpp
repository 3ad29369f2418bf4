// The scanners of any criterion: by counts of classes, by weights of classes, by weights and sums.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "criteria/criterion.hpp"
#include "data/grids.hpp"
#include "data/labels.hpp"
#include "data/problem.hpp"
#include "scanners/block_seek.hpp"
#include "scanners/chance.hpp"
#include "scanners/exact_scores.hpp"
#include "scanners/placed_weights.hpp"
#include "scanners/running_risk.hpp"
#include "scanners/scanner.hpp"
#include "scanners/screen.hpp"

namespace treewright {

/// One output of classes, no weights, a separable criterion: O(1) per row. The terms come from a table of
/// integers, so that sums of them are exact and do not depend on the way the rows came.
template <class Id, Separable C>
class CountScanner {
  public:
    explicit CountScanner(const Problem& problem) : problem_(problem) {}

    void load(std::span<const Row> rows) {
        const std::size_t n = rows.size();
        labels_.resize(n, static_cast<std::size_t>(problem_.targets.n_classes[0]));
        label_.resize(n);
        for (std::size_t id = 0; id < n; ++id) label_[id] = problem_.label(rows[id]);
    }
    void enter(std::span<const Id> ids) {
        n_ = ids.size();
        table_ = &table_for(n_);
        labels_.enter(ids, [&](Id id) { return label_[id]; });
        total_.assign(labels_.n_present, 0);
        terms_ = 0;
        for (const Id id : ids) terms_ += table_->step[total_[labels_.dense[id]]++];
        risk_ = C::risk(static_cast<double>(n_), static_cast<double>(terms_) * table_->unit);
        left_real_.assign(total_.begin(), total_.end());
        right_real_.resize(total_.size());
        plain_risk_ = C::risk(Weights(left_real_));
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
                table_->step.data(),
                left_.data(),
                right_.data(),
                0,
                terms_,
                table_->unit,
                risk_,
                weight()};
    }
    /// The terms of a count are the sum of its steps, so this is what a cursor would come to.
    double score_of_counts(std::span<const Sum> left) const {
        Sum n_left = 0, terms_left = 0, terms_right = 0;
        for (std::size_t k = 0; k < left.size(); ++k) {
            n_left += left[k];
            terms_left += table_->terms[static_cast<std::size_t>(left[k])];
            terms_right += table_->terms[static_cast<std::size_t>(total_[k] - left[k])];
        }
        return Cursor{nullptr,     nullptr,      nullptr, nullptr, terms_left,
                      terms_right, table_->unit, risk_,   weight()}
            .score(static_cast<std::size_t>(n_left));
    }

    double weight() const { return static_cast<double>(n_); }
    double noise() const { return rounding_noise * plain_risk_; }
    double most() const { return plain_risk_; }
    double gain(double score) const { return std::max(0.0, score); }
    /// The terms in the table are rounded.
    bool rounds_scores() const { return true; }

    std::size_t width() const { return total_.size(); }
    void add_to(Sum* statistic, Id id) const { ++statistic[labels_.dense[id]]; }
    double weight_of(const Sum* statistic) const {
        Sum sum = 0;
        for (std::size_t k = 0; k < total_.size(); ++k) sum += statistic[k];
        return static_cast<double>(sum);
    }
    double score_of(const Sum* statistic) {
        for (std::size_t k = 0; k < total_.size(); ++k) {
            left_real_[k] = static_cast<double>(statistic[k]);
            right_real_[k] = static_cast<double>(total_[k] - statistic[k]);
        }
        return gain_of<C>(left_real_, right_real_, plain_risk_);
    }
    double chance_score(const Chance& chance) const {
        const std::vector<double> weights(total_.begin(), total_.end());
        return class_chance(chance, weights, 1.0, [&](Weights left, Weights right) {
            return gain_of<C>(left, right, plain_risk_);
        });
    }
    std::size_t dimensions() const { return share_dimensions(width()); }
    void point(const Sum* statistic, double* out) const {
        share_point({statistic, width()}, weight_of(statistic), out);
    }

  private:
    /// What a term grows by from each count to the next, on a grid.
    struct Table {
        std::vector<Sum> step, terms;  // terms[n]: the first n steps
        double unit = 1;
    };
    /// The table of nodes of up to twice as many rows: the fewer these are, the finer it is.
    const Table& table_for(std::size_t n_rows) {
        const auto digits = static_cast<std::size_t>(std::bit_width(n_rows));
        if (tables_.size() <= digits) tables_.resize(digits + 1);
        Table& table = tables_[digits];
        if (!table.step.empty()) return table;
        const std::size_t n = std::size_t{1} << digits;
        // The sum over classes has to stay within 62 bits.
        const auto all = static_cast<double>(n);
        const double largest = std::max({1.0, C::term(all), C::term(1.0) * all});
        table.unit = std::ldexp(1.0, std::ilogb(largest) + 1 - 61);
        table.step.resize(n);
        table.terms.assign(n + 1, 0);
        for (std::size_t count = 0; count < n; ++count) {
            table.terms[count + 1] = std::llrint(C::term(static_cast<double>(count + 1)) / table.unit);
            table.step[count] = table.terms[count + 1] - table.terms[count];
        }
        return table;
    }

    const Problem& problem_;
    DenseLabels<Id> labels_;
    std::vector<std::int32_t> label_;
    std::vector<Table> tables_;  // by the number of digits of the largest number of rows
    const Table* table_ = nullptr;
    std::vector<Sum> total_, left_, right_;
    std::vector<double> left_real_, right_real_;
    Sum terms_ = 0;
    double risk_ = 0, plain_risk_ = 0;
    std::size_t n_ = 0;
};

/// Any criterion of classes, with weights and several outputs: O(classes) per cut where they are few; where
/// they are many the risk of both sides is kept up to date, if the criterion has a form for it.
template <class Id, ClassCriterion C>
class WeightScanner : PlacedWeights<Id> {
    using Base = PlacedWeights<Id>;
    using Base::grid_, Base::problem_, Base::rows_, Base::weight_;
    using Side = typename RunningOf<C>::Side;
    static constexpr bool may_run = !std::same_as<Side, NotRunning>;
    static constexpr std::size_t few_classes = 32;  // about as dear as keeping the risks up to date

  public:
    explicit WeightScanner(const Problem& problem)
        : Base(problem),
          labels_(problem.targets.n_outputs),
          whole_(labels_.size()),
          left_side_(labels_.size()),
          right_side_(labels_.size()) {}

    void load(std::span<const Row> rows) {
        Base::load(rows);
        for (std::size_t output = 0; output < labels_.size(); ++output)
            labels_[output].resize(rows.size(), static_cast<std::size_t>(problem_.targets.n_classes[output]));
    }
    void enter(std::span<const Id> ids) {
        Grids own;
        enter(ids, own);
    }
    void enter(std::span<const Id> ids, Grids& grids) {
        Base::enter(ids, grids);
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
    /// Risks that are kept up to date are rounded otherwise than those of a statistic.
    bool rounds_scores() const { return is_running_; }
    double most() const { return risk_; }
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
    /// Of several outputs, that of the one by which chance gains most: a division follows one of them.
    double chance_score(const Chance& chance) const {
        double most = 0;
        const std::vector<double> weights(total_.begin(), total_.end());
        for (std::size_t output = 0; output < labels_.size(); ++output)
            most = std::max(most, class_chance(chance, block(weights, output), grid_.unit,
                                               [&](Weights left, Weights right) {
                                                   return gain_of<C>(left, right, risks_[output]);
                                               }));
        return most;
    }
    std::size_t dimensions() const { return share_dimensions(width()); }
    void point(const Sum* statistic, double* out) const {
        share_point({statistic, width()}, weight_of(statistic) / grid_.unit, out);
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

    std::vector<Sum> total_, left_;
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
    /// Whether the criterion refuses cuts.
    static constexpr bool may_refuse = C::may_refuse;
    /// Whether gains are D²·W/(L·R).
    static constexpr bool has_squares = requires { requires C::is_linear; };

    explicit SumScanner(const Problem& problem) : problem_(problem) {}

    void load(std::span<const Row> rows) {
        rows_ = rows;
        values_.assign(rows.size() * width(), 1);
        grids_.resize(problem_.targets.n_outputs);
        scales_.resize(problem_.targets.n_outputs);
        means_.resize(problem_.targets.n_outputs);
        if (has_squares && means_.size() == 1) screen_.load(rows.size(), true);
        are_placed_ = false;
    }
    void enter(std::span<const Id> ids) {
        Grids own;
        enter(ids, own);
    }
    /// Numbers of several outputs have grids of each node's own.
    void enter(std::span<const Id> ids, Grids& grids) {
        const auto row_of = [&](Id id) { return rows_[id]; };
        ids_ = ids;
        const auto cell = [&](std::size_t column) {
            return [&, column](Id id) -> Sum& { return values_[id * width() + column]; };
        };
        place_weights(problem_, ids, row_of, grids.weight, are_placed_, cell(0));
        weight_grid_ = grids.weight;
        const bool inherits = grids_.size() == 1;
        for (std::size_t output = 0; output < grids_.size(); ++output) {
            grids_[output] = inherits ? grids.number : Grid::unmade();
            place_numbers(problem_, output, C::is_centred, ids, row_of, grids_[output], are_placed_, cell(0),
                          cell(1 + output));
        }
        if (inherits) grids.number = grids_[0];
        are_placed_ = true;
        total_.assign(width(), 0);
        for (const Id id : ids) add_to(total_.data(), id);
        set_units();
        if constexpr (has_squares)
            if (means_.size() == 1) enter_squares();
    }
    const Screen<Id>* screen() const
        requires has_squares
    {
        return is_screened_ ? &screen_ : nullptr;
    }

    struct Cursor {
        SumScanner* scanner;

        void add(Id id) { scanner->add_to(scanner->left_.data(), id); }
        double score(std::size_t) const { return scanner->score_of(scanner->left_.data()); }
        double weight(std::size_t) const { return scanner->weight_of(scanner->left_.data()); }
        std::size_t seek(const Id* entries, std::size_t i, std::size_t last, std::size_t extra, double least)
            requires has_squares
        {
            if (scanner->grids_.size() > 1) return seek_one_by_one(*this, entries, i, last, extra, least);
            return scanner->seek_square(entries, i, last, least);
        }
    };
    Cursor cursor() {
        left_.assign(width(), 0);
        return {this};
    }

    double weight() const { return weight_of(total_.data()); }
    double noise() const { return 0; }
    double gain(double score) const {
        return C::measured(std::max(0.0, score), unit_, weight_grid_.unit) /
               static_cast<double>(grids_.size());
    }

    std::size_t width() const { return problem_.targets.n_outputs + 1; }
    void add_to(Sum* statistic, Id id) const {
        for (std::size_t i = 0; i < width(); ++i) statistic[i] += values_[id * width() + i];
    }
    double weight_of(const Sum* statistic) const {
        return static_cast<double>(statistic[0]) * weight_grid_.unit;
    }
    /// In units of the grids: neither tiny nor huge numbers or weights leave the range of floating point.
    /// Where only distances count, those from the mean of the node.
    double score_of(const Sum* statistic) const {
        const auto left = static_cast<double>(statistic[0]), right = static_cast<double>(total_[0]) - left;
        double score = 0;
        for (std::size_t output = 0; output < grids_.size(); ++output) {
            const double scale = scales_[output];
            if constexpr (C::is_centred) {
                const double sum = means_[output].difference(statistic[0], statistic[1 + output]) * scale;
                score += C::gain(left, sum, right, -sum);
            } else {
                score += C::gain(left, static_cast<double>(statistic[1 + output]) * scale, right,
                                 static_cast<double>(total_[1 + output] - statistic[1 + output]) * scale);
            }
        }
        return score;
    }
    /// Of several outputs, that of the one by which chance gains most: a division follows one of them.
    double chance_score(const Chance& chance) const {
        double most = 0;
        const auto whole = static_cast<double>(total_[0]);
        for (std::size_t output = 0; output < grids_.size(); ++output) {
            const double sum =
                C::is_centred ? 0.0 : static_cast<double>(total_[1 + output]) * scales_[output];
            const auto score = [&](const ChanceSide& side) {
                const double part = side.size / chance.total();
                double excess = side.excess * chance.row_weight() / weight_grid_.unit;
                if (!C::is_centred)
                    excess = std::min(excess, 0.999 * sum * (1 - part));  // no sum is negative
                return C::gain(whole * part, sum * part + excess, whole * (1 - part),
                               sum * (1 - part) - excess);
            };
            most = std::max(most, chance.of_deviation(deviation(output), score));
        }
        return most;
    }
    std::size_t dimensions() const { return grids_.size(); }
    void point(const Sum* statistic, double* out) const {
        for (std::size_t output = 0; output < grids_.size(); ++output)
            out[output] = static_cast<double>(statistic[1 + output]) * scales_[output] /
                          static_cast<double>(statistic[0]);
    }

  private:
    void enter_squares() {
        const auto distance = [&](Id id) {
            return means_[0].difference(values_[std::size_t{2} * id], values_[std::size_t{2} * id + 1]);
        };
        is_screened_ = ids_.size() > 2 && ids_.size() <= Screen<Id>::most_rows;
        if (is_screened_)
            screen_.enter(ids_, static_cast<double>(total_[0]), [&](Id id) {
                return std::pair(distance(id), static_cast<double>(values_[std::size_t{2} * id]));
            });
        step_ = 0;
        for (const Id id : ids_) step_ = std::max(step_, std::abs(distance(id)));
    }

    /// The sums on the left of a single output.
    struct SquareSums {
        const Sum* values;
        GridMean mean;
        double total;
        Sum weight, sum;

        void add(Id id) {
            const Sum* const own = values + std::size_t{2} * id;
            weight += own[0];
            sum += own[1];
        }
        double difference() const { return mean.difference(weight, sum); }
        double sides() const { return static_cast<double>(weight) * (total - static_cast<double>(weight)); }
    };
    /// Of a single output by squared error, whose gain is D²·W/(L·R).
    std::size_t seek_square(const Id* entries, std::size_t i, std::size_t last, double least) {
        SquareSums sums{values_.data(), means_[0], static_cast<double>(total_[0]), left_[0], left_[1]};
        const auto keep = [&] {
            left_[0] = sums.weight;
            left_[1] = sums.sum;
        };
        const std::size_t found =
            seek_in_blocks(sums, entries, i, last, least / sums.total, step_, [&](std::size_t) {
                keep();
                return score_of(left_.data()) > least;
            });
        keep();
        return found;
    }

    /// The standard deviation of an output in the node, in units of a score.
    double deviation(std::size_t output) const {
        return means_[output].deviation(
                   ids_, [&](Id id) { return values_[id * width()]; },
                   [&](Id id) { return values_[id * width() + 1 + output]; }) *
               scales_[output];
    }
    /// Scores count in the largest unit of the outputs that are not all zero.
    void set_units() {
        for (std::size_t output = 0; output < scales_.size(); ++output) {
            const bool is_zero = std::all_of(ids_.begin(), ids_.end(),
                                             [&](Id id) { return values_[id * width() + 1 + output] == 0; });
            scales_[output] = is_zero ? 0.0 : grids_[output].unit;
            means_[output] = GridMean(total_[1 + output], total_[0]);
        }
        const double largest = *std::max_element(scales_.begin(), scales_.end());
        unit_ = largest > 0 ? largest : 1.0;
        for (auto& scale : scales_) scale = scale > 0 ? scale / unit_ : 1.0;
    }

    const Problem& problem_;
    std::span<const Row> rows_;
    Grid weight_grid_;
    std::vector<Grid> grids_;
    std::vector<GridMean> means_;
    std::vector<double> scales_;  // the unit of each output, in units of a score
    double unit_ = 1;             // of the sums in a score
    double step_ = 0;             // the largest w·|y − mean| of a single output
    Screen<Id> screen_;           // of a single output by squared error
    bool is_screened_ = false;
    std::vector<Sum> values_, total_, left_;
    std::span<const Id> ids_;  // of the node
    bool are_placed_ = false;
};

}  // namespace treewright
