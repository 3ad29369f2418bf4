// Measures: what a histogram sums up for each bin, how a cut scores, and how much a bin can hide.
//
// place(rows, grids)    once per node: its targets on integer grids, those that it inherits or its own
// for_each_run(rows, …) rows in canonical order as runs that share a tag: their class, if there are classes
// build(…)              the histograms of some columns, all columns of a row at a time
// add(statistic, …)     one row of a known tag
// enter(total, rows, grids)  once per node that is searched
// score_of(statistic)   of the rows that go left; comparable within the node
// chance_score(sizes)   what groups of such sizes score by chance
// bound(left, bin)      no cut inside the bin scores more, wherever its rows lie; `left` is the statistic
//                       before it
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "criteria/criterion.hpp"
#include "data/grids.hpp"
#include "data/problem.hpp"
#include "scanners/chance.hpp"
#include "scanners/exact_scores.hpp"
#include "scanners/scanner.hpp"
#include "support/portable.hpp"

namespace treewright {

constexpr std::size_t n_bin_codes = 256;

/// Some columns of the table of fine bins: neighbours, or those at the places of a list.
struct ColumnChoice {
    const FineBin* table;  // row by row
    std::size_t n_columns;
    std::size_t first, last;  // neighbours; or the whole list
    const std::int32_t* listed = nullptr;

    std::size_t size() const { return last - first; }
    /// work(row, cell) for every row and column, where cell = place among these · 256 + bin. The bins of the
    /// rows to come are fetched ahead: rows lie anywhere in the table.
    template <class Work>
    void for_each_bin(std::span<const Row> rows, Work work) const {
        if (listed)
            visit(rows, listed[0], [&](std::size_t i) { return static_cast<std::size_t>(listed[i]); }, work);
        else
            visit(rows, first, [&](std::size_t i) { return first + i; }, work);
    }

  private:
    template <class Column, class Work>
    void visit(std::span<const Row> rows, std::size_t fetched, Column column, Work work) const {
        constexpr std::size_t ahead = 16;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i + ahead < rows.size()) prefetch(table + rows[i + ahead] * n_columns + fetched);
            const FineBin* const bins = table + static_cast<std::size_t>(rows[i]) * n_columns;
            for (std::size_t place = 0; place < size(); ++place)
                work(rows[i], place * n_bin_codes + static_cast<std::size_t>(bin_of(bins[column(place)])));
        }
    }
};

/// An upper bound on |D|²/(L·R) inside a bin, where D = Σ_left (y − mean of the node), L and R weights.
/// Inside, D leaves the straight line between its values at the borders by at most √(s·w(1−w/b)), for w of
/// the bin's weight b moved left, s the squared deviation within the bin (Cauchy–Schwarz).
inline double spread_bound(double before, double after, double spread, double left, double bin,
                           double total) {
    const double right = total - left - bin;
    const double root = std::sqrt(std::max(0.0, spread));
    const auto square = [](double x) { return x * x; };
    if (left <= 0)
        return right <= 0 ? std::numeric_limits<double>::infinity()
                          : square(after / std::sqrt(bin) + root) / right;
    if (right <= 0) return square(before / std::sqrt(bin) + root) / left;
    const double farthest = std::max(before, after) + root * std::sqrt(bin) / 2;
    return square(farthest) / std::min(left * (total - left), right * (total - right));
}

/// One output of classes. statistic = (weight of each class[, rows]).
template <ClassCriterion C>
class ClassMeasure {
  public:
    explicit ClassMeasure(const Problem& problem)
        : problem_(problem),
          n_classes_(static_cast<std::size_t>(problem.targets.n_classes[0])),
          left_(n_classes_),
          right_(n_classes_) {
        if (problem.is_weighted()) weight_ = std::make_shared<std::vector<Sum>>(problem.n_rows, 0);
    }

    static bool fits(const Problem& problem) {
        return problem.targets.n_outputs == 1 && problem.targets.n_classes[0] <= 256;
    }

    bool place(std::span<const Row> rows, Grids& grids, bool are_placed) {
        const Grid before = grids.weight;
        place_weights(
            problem_, rows, [](Row row) { return row; }, grids.weight, are_placed,
            [&](Row row) -> Sum& { return (*weight_)[row]; });
        return grids.weight != before;
    }
    std::size_t width() const { return n_classes_ + (weight_ ? 1 : 0); }
    /// Rows are sorted by class: a class is a run.
    template <class Work>
    void for_each_run(std::span<const Row> rows, Work work) const {
        for (std::size_t begin = 0, end; begin < rows.size(); begin = end) {
            const auto label = problem_.label(rows[begin]);
            end = static_cast<std::size_t>(
                std::partition_point(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.end(),
                                     [&](Row row) { return problem_.label(row) <= label; }) -
                rows.begin());
            work(begin, end, static_cast<std::uint32_t>(label));
        }
    }
    void build(const ColumnChoice& columns, std::span<const Row> rows, Sum* histograms) {
        for_each_run(rows, [&](std::size_t begin, std::size_t end, std::uint32_t label) {
            // A short run is not worth counting apart from the others.
            constexpr std::size_t worth_counting = 1024;
            if (!weight_ && end - begin >= worth_counting)
                return count(columns, rows.subspan(begin, end - begin), histograms + label);
            columns.for_each_bin(rows.subspan(begin, end - begin), [&](Row row, std::size_t cell) {
                add(histograms + cell * width(), row, label);
            });
        });
    }
    void add(Sum* statistic, Row row, std::uint32_t label) const {
        statistic[label] += weight_ ? (*weight_)[row] : 1;
        if (weight_) ++statistic[n_classes_];
    }
    void add_row(Sum* statistic, Row row) const {
        add(statistic, row, static_cast<std::uint32_t>(problem_.label(row)));
    }
    void enter(const Sum* total, std::span<const Row>, const Grids& grids) {
        grid_ = grids.weight;
        total_.assign(total, total + width());
        sum_ = total_sum(total);
        n_present_ = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            left_[k] = static_cast<double>(total[k]);
            if (total[k] == 0) continue;
            ++n_present_;
            last_present_ = k;
        }
        risk_ = C::risk(left_);
    }

    double weight() const { return sum_ * grid_.unit; }
    double weight_of(const Sum* statistic) const { return total_sum(statistic) * grid_.unit; }
    std::int64_t rows_of(const Sum* statistic) const {
        return weight_ ? statistic[n_classes_] : static_cast<std::int64_t>(total_sum(statistic));
    }
    double noise() const {
        if (is_linear()) return weight_ ? rounding_noise * share() * (1 - share()) : 0.0;
        return rounding_noise * risk_;
    }
    double gain(double score) const {
        return is_linear() ? score * weight() * 2.0 : std::max(0.0, score) * grid_.unit;
    }
    double score_of(const Sum* statistic) {
        if (is_linear()) return linear_score(statistic);
        for (std::size_t k = 0; k < n_classes_; ++k) {
            left_[k] = static_cast<double>(statistic[k]);
            right_[k] = static_cast<double>(total_[k] - statistic[k]);
        }
        return gain_of<C>(left_, right_, risk_);
    }
    double chance_score(const Chance& chance) const {
        if (is_linear()) return pair_chance(chance, share());
        const std::vector<double> weights(total_.begin(),
                                          total_.begin() + static_cast<std::ptrdiff_t>(n_classes_));
        return class_chance(chance, weights, grid_.unit,
                            [&](Weights left, Weights right) { return gain_of<C>(left, right, risk_); });
    }
    double bound(const Sum* left, const Sum* bin) {
        if (n_classes_ == 2) return corner_bound(left, bin);
        if constexpr (requires { requires C::is_linear_for_two; }) {
            return gini_bound(left, bin);
        } else {
            // The bin's own rows might be told apart without risk.
            for (std::size_t k = 0; k < n_classes_; ++k) {
                left_[k] = static_cast<double>(left[k]);
                right_[k] = static_cast<double>(total_[k] - left[k] - bin[k]);
            }
            return risk_ - C::risk(left_) - C::risk(right_);
        }
    }
    /// With one class alone a cut inside cannot beat both borders, where the risk is strictly concave; only
    /// if the borders themselves are allowed. Where rows of tiny weights lie between, it may tie with one.
    bool hides_nothing(const Sum* bin) const {
        if constexpr (!Separable<C>) return false;
        if (weight_) return false;
        return std::count_if(bin, bin + n_classes_, [](Sum weight) { return weight > 0; }) <= 1;
    }

    std::size_t dimensions() const { return n_present_ == 2 ? 1 : n_classes_; }
    void point(const Sum* statistic, double* out) const {
        const double sum = total_sum(statistic);
        if (dimensions() == 1) return void(out[0] = static_cast<double>(statistic[last_present_]) / sum);
        for (std::size_t k = 0; k < n_classes_; ++k) out[k] = static_cast<double>(statistic[k]) / sum;
    }

  private:
    /// Counts rows of one class in small counters that stay in cache, then adds them to the histograms.
    void count(const ColumnChoice& columns, std::span<const Row> rows, Sum* histograms) {
        counts_.assign(columns.size() * n_bin_codes, 0);
        std::uint32_t* const counts = counts_.data();
        columns.for_each_bin(rows, [=](Row, std::size_t cell) { ++counts[cell]; });
        for (std::size_t i = 0; i < counts_.size(); ++i) histograms[i * n_classes_] += counts_[i];
    }
    double total_sum(const Sum* statistic) const { return static_cast<double>(whole_sum(statistic)); }
    Sum whole_sum(const Sum* statistic) const {
        Sum sum = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) sum += statistic[k];
        return sum;
    }
    /// Two classes whose gain is D²/(L·R): it is reckoned as the scanners of two classes do.
    bool is_linear() const {
        if constexpr (requires { C::is_linear_for_two; }) return n_classes_ == 2;
        return false;
    }
    double linear_score(const Sum* statistic) const {
        const Sum total = total_[0] + total_[1], left = statistic[0] + statistic[1];
        return weight_ ? weighted_pair_score(total, total_[1], left, statistic[1])
                       : pair_score(total, total_[1], left, statistic[1]);
    }
    /// Of the lighter class; of ones, where there are no weights.
    double share() const {
        const Sum light = weight_ ? std::min(total_[0], total_[1]) : total_[1];
        return static_cast<double>(light) / sum_;
    }
    /// The gain is convex in the counts, so inside the bin's box it is largest at a corner; two of the four
    /// corners are the borders, which are scored anyway, and to which only rows of tiny weights are so near
    /// that a cut inside ties with them.
    double corner_bound(const Sum* left, const Sum* bin) {
        double largest = unreachable;
        const auto try_corner = [&](Sum zeros, Sum ones) {
            const Sum corner[2] = {left[0] + zeros, left[1] + ones}, sum = corner[0] + corner[1];
            if (sum > 0 && static_cast<double>(sum) < sum_) largest = std::max(largest, score_of(corner));
        };
        try_corner(bin[0], 0);
        try_corner(0, bin[1]);
        if (weight_) {
            try_corner(0, 0);
            try_corner(bin[0], bin[1]);
        }
        return largest;
    }
    double gini_bound(const Sum* left, const Sum* bin) {
        double before = 0, after = 0, squares = 0;
        const double l = total_sum(left), b = total_sum(bin);
        for (std::size_t k = 0; k < n_classes_; ++k) {
            const double share = static_cast<double>(total_[k]) / sum_, own = static_cast<double>(bin[k]);
            const double at_start = static_cast<double>(left[k]) - l * share,
                         at_end = at_start + own - b * share;
            before += at_start * at_start;
            after += at_end * at_end;
            squares += own * own;
        }
        return sum_ * spread_bound(std::sqrt(before), std::sqrt(after), b - squares / b, l, b, sum_);
    }

    const Problem& problem_;
    std::size_t n_classes_;
    Grid grid_;
    std::shared_ptr<std::vector<Sum>> weight_;  // by row, shared by all copies
    std::vector<Sum> total_;
    std::vector<std::uint32_t> counts_;
    std::vector<double> left_, right_;
    double sum_ = 0, risk_ = 0;
    std::size_t n_present_ = 0, last_present_ = 0;
};

/// One number by squared error. statistic = (weight, sum, an upper bound of the squares[, rows]).
class SquareMeasure {
  public:
    explicit SquareMeasure(const Problem& problem)
        : problem_(problem),
          is_weighted_(problem.is_weighted()),
          values_(std::make_shared<std::vector<Sum>>(problem.n_rows * width(), 1)) {}

    static bool fits(const Problem& problem) { return problem.targets.n_outputs == 1; }

    bool place(std::span<const Row> rows, Grids& grids, bool are_placed) {
        const Grids before = grids;
        const auto column = [&](std::size_t i) {
            return [this, i](Row row) -> Sum& { return cell(row)[i]; };
        };
        const auto itself = [](Row row) { return row; };
        place_weights(problem_, rows, itself, grids.weight, are_placed, column(0));
        place_numbers(problem_, 0, true, rows, itself, grids.number, are_placed, column(0), column(1));
        const bool have_moved = grids.weight != before.weight || grids.number != before.number;
        if (have_moved || !are_placed) place_squares(rows, grids);
        return have_moved;
    }
    std::size_t width() const { return is_weighted_ ? 4 : 3; }
    template <class Work>
    void for_each_run(std::span<const Row> rows, Work work) const {
        work(std::size_t{0}, rows.size(), std::uint32_t{0});
    }
    void build(const ColumnChoice& columns, std::span<const Row> rows, Sum* histograms) const {
        columns.for_each_bin(rows,
                             [&](Row row, std::size_t cell) { add_row(histograms + cell * width(), row); });
    }
    void add(Sum* statistic, Row row, std::uint32_t) const { add_row(statistic, row); }
    void add_row(Sum* statistic, Row row) const {
        const Sum* const own = cell(row);
        for (std::size_t i = 0; i < 3; ++i) statistic[i] += own[i];
        if (is_weighted_) ++statistic[3];
    }
    void enter(const Sum* total, std::span<const Row> rows, const Grids& grids) {
        rows_ = rows;
        grids_ = grids;
        total_.assign(total, total + width());
        mean_ = GridMean(total[1], total[0]);
    }

    double weight() const { return weight_of(total_.data()); }
    double weight_of(const Sum* statistic) const {
        return static_cast<double>(statistic[0]) * grids_.weight.unit;
    }
    std::int64_t rows_of(const Sum* statistic) const { return is_weighted_ ? statistic[3] : statistic[0]; }
    double noise() const { return 0; }
    double gain(double score) const {
        const double unit = grids_.number.unit;
        if (!is_weighted_) return score * weight() * unit * unit;
        return std::max(0.0, score) * unit * (unit / grids_.weight.unit);
    }
    /// In units of the grids.
    double score_of(const Sum* statistic) const {
        const auto left = static_cast<double>(statistic[0]), all = static_cast<double>(total_[0]);
        const double difference = mean_.difference(statistic[0], statistic[1]);
        return is_weighted_ ? square_gain(left, difference, all - left, -difference)
                            : square_score(difference, left, all);
    }
    double chance_score(const Chance& chance) const {
        const double deviation = mean_.deviation(
            rows_, [&](Row row) { return cell(row)[0]; }, [&](Row row) { return cell(row)[1]; });
        if (!is_weighted_) return square_chance(chance, deviation);
        const auto whole = static_cast<double>(total_[0]);
        return std::max(0.0, chance.of_deviation(deviation, [&](const ChanceSide& side) {
            const double part = side.size / chance.total();
            const double excess = side.excess * chance.row_weight() / grids_.weight.unit;
            return square_gain(whole * part, excess, whole * (1 - part), -excess);
        }));
    }
    double bound(const Sum* left, const Sum* bin) const {
        const auto b = static_cast<double>(bin[0]), l = static_cast<double>(left[0]),
                   all = static_cast<double>(total_[0]);
        const double before = mean_.difference(left[0], left[1]), own = mean_.difference(bin[0], bin[1]),
                     sum = static_cast<double>(bin[1]);
        const double spread = static_cast<double>(bin[2]) * grids_.square_unit - sum * sum / b;
        const double bound = spread_bound(std::abs(before), std::abs(before + own), spread, l, b, all);
        return is_weighted_ ? bound * all : bound;
    }
    bool hides_nothing(const Sum*) const { return false; }

    std::size_t dimensions() const { return 1; }
    void point(const Sum* statistic, double* out) const {
        out[0] = static_cast<double>(statistic[1]) / static_cast<double>(statistic[0]);
    }

  private:
    Sum* cell(Row row) const { return values_->data() + static_cast<std::size_t>(row) * width(); }
    /// Squares of the numbers on the grid, per unit of weight, on a grid of their own.
    void place_squares(std::span<const Row> rows, Grids& grids) {
        const auto square = [&](Row row) {
            const auto number = static_cast<double>(cell(row)[1]);
            return number / static_cast<double>(cell(row)[0]) * number;
        };
        double largest = 0;
        for (const Row row : rows) largest = std::max(largest, square(row));
        const Grid squares = Grid::covering(largest, static_cast<double>(rows.size()));
        grids.square_unit = squares.unit;
        for (const Row row : rows) cell(row)[2] = squares.place(square(row)) + 1;
    }

    const Problem& problem_;
    bool is_weighted_;
    std::shared_ptr<std::vector<Sum>> values_;  // by row, shared by all copies
    std::span<const Row> rows_;
    Grids grids_;
    GridMean mean_;
    std::vector<Sum> total_;
};

}  // namespace treewright
