// Scanners for gains of the form W·D²/(L·R), where D = Σ_left w·(y − mean), W, L and R are the weights of the
// node and its sides: two classes by Gini (y is 0 or 1), and one number by squared error. Sums are exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/grids.hpp"
#include "data/problem.hpp"
#include "scanners/block_seek.hpp"
#include "scanners/exact_scores.hpp"
#include "scanners/placed_weights.hpp"
#include "scanners/scanner.hpp"
#include "scanners/screen.hpp"
#include "support/portable.hpp"
#include "support/simd.hpp"

namespace treewright {

/// How many of some rows in canonical order are of class 0: the first of class 1 follows them.
inline std::size_t rows_of_class_zero(const Problem& problem, std::span<const Row> rows) {
    return static_cast<std::size_t>(
        std::partition_point(rows.begin(), rows.end(), [&](Row row) { return problem.label(row) == 0; }) -
        rows.begin());
}

/// Two classes by Gini. Ids ascend with the class: the first one of class 1 tells them apart.
template <class Id>
class PairScanner {
  public:
    static constexpr bool tallies = true;

    explicit PairScanner(const Problem& problem) : problem_(problem) {}

    void load(std::span<const Row> rows) {
        first_one_ = static_cast<Id>(rows_of_class_zero(problem_, rows));
        if (reciprocal_.size() < rows.size() + lanes) reciprocal_.resize(rows.size() + lanes);
    }
    void enter(std::span<const Id> ids) {
        n_ = ids.size();
        total_ = ids.end() - std::lower_bound(ids.begin(), ids.end(), first_one_);
        if (problem_.limits.random_splits) return;  // no quick look at a single cut
        const auto n = static_cast<std::int32_t>(n_);
        for (std::int32_t left = 1; left < n; ++left)
            reciprocal_[static_cast<std::size_t>(left)] =
                1.0F / (static_cast<float>(left) * static_cast<float>(n - left));
    }

    class Cursor {
      public:
        explicit Cursor(const PairScanner& scanner) : scanner_(scanner) {}

        void add(Id id) { sum_ += id >= scanner_.first_one_; }
        double score(std::size_t n_left) const { return scanner_.score(sum_, n_left); }
        double weight(std::size_t n_left) const { return static_cast<double>(n_left); }

        /// Four cuts at a time in single precision, with some room for its rounding; where one of them may be
        /// good enough, exactly.
        template <class Lanes = Lanes4>
        std::size_t seek(const std::uint16_t* entries, std::size_t i, std::size_t last, std::size_t extra,
                         double least) {
            const auto n = static_cast<double>(scanner_.n_);
            const auto enough = Lanes::all(static_cast<float>(least * n * n * (1 - 2e-6)));
            const auto count = Lanes::all(static_cast<std::int32_t>(scanner_.n_));
            const auto total = Lanes::all(static_cast<std::int32_t>(scanner_.total_));
            const auto first_one = static_cast<std::uint16_t>(scanner_.first_one_);
            // n·D = n·(ones on the left) − (rows on the left)·(ones in all), a whole number below n²/4.
            auto before = Lanes::all(static_cast<std::int32_t>(scaled_difference(i - 1 + extra)));
            for (; i + lanes - 1 <= last; i += lanes) {
                const auto change =
                    Lanes::subtract(Lanes::where_from(entries + i - 1, first_one, count), total);
                const auto here = Lanes::add(before, Lanes::running_sums(change));
                const auto real = Lanes::to_real(here);
                const auto score = Lanes::multiply(Lanes::multiply(real, real),
                                                   Lanes::load(scanner_.reciprocal_.data() + i + extra));
                if (Lanes::any_above(score, enough)) {
                    set_sum(Lanes::first(before), i - 1 + extra);
                    for (std::size_t end = i + lanes; i < end; ++i) {
                        add(entries[i - 1]);
                        if (this->score(i + extra) > least) return i;
                    }
                    i -= lanes;
                }
                before = Lanes::spread_last(here);
            }
            set_sum(Lanes::first(before), i - 1 + extra);
            for (; i <= last; ++i) {
                add(entries[i - 1]);
                if (this->score(i + extra) > least) break;
            }
            return i;
        }
        /// One cut at a time, where nodes may be too large for short ids; to multiply is faster than to
        /// divide, and what is nearly good enough is divided.
        std::size_t seek(const std::uint32_t* entries, std::size_t i, std::size_t last, std::size_t extra,
                         double least) {
            const auto n = static_cast<Sum>(scanner_.n_), total = scanner_.total_;
            const auto all = static_cast<double>(n), nearly = least * (all * all) * (1 - 1e-14);
            const std::uint32_t first_one = scanner_.first_one_;
            Sum scaled = scaled_difference(i - 1 + extra);
            for (; i <= last; ++i) {
                scaled += (n & -static_cast<Sum>(entries[i - 1] >= first_one)) - total;  // no branch
                const auto difference = static_cast<double>(scaled), left = static_cast<double>(i + extra);
                if (!(difference * difference > nearly * (left * (all - left)))) continue;
                set_sum(scaled, i + extra);
                if (score(i + extra) > least) return i;
            }
            set_sum(scaled, last + extra);
            return i;
        }

      private:
        Sum scaled_difference(std::size_t n_left) const {
            return static_cast<Sum>(scanner_.n_) * sum_ - static_cast<Sum>(n_left) * scanner_.total_;
        }
        void set_sum(Sum scaled_difference, std::size_t n_left) {
            sum_ = (scaled_difference + static_cast<Sum>(n_left) * scanner_.total_) /
                   static_cast<Sum>(scanner_.n_);
        }

        const PairScanner& scanner_;
        Sum sum_ = 0;  // ones on the left
    };
    Cursor cursor() const { return Cursor(*this); }

    double weight() const { return static_cast<double>(n_); }
    double noise() const { return 0; }
    double most() const {
        const double share = static_cast<double>(total_) / static_cast<double>(n_);
        return share * (1 - share);
    }
    double gain(double score) const { return score * static_cast<double>(n_) * 2.0; }

    std::size_t width() const { return 2; }
    void add_to(Sum* statistic, Id id) const {
        ++statistic[0];
        statistic[1] += id >= first_one_;
    }
    /// Class after class, and neighbours in counters of their own: to count the same value twice running
    /// takes as long as the memory needs to give back what it was given.
    void tally(std::span<const Id> ids, const Id* ranks, std::span<Sum> statistics) {
        const std::size_t n_ranks = statistics.size() / 2, n_zeros = n_ - static_cast<std::size_t>(total_);
        for (const bool one : {false, true}) {
            counts_.assign(2 * n_ranks, 0);
            std::uint32_t *const even = counts_.data(), *const odd = even + n_ranks;
            const auto own = one ? ids.subspan(n_zeros) : ids.first(n_zeros);
            std::size_t i = 0;
            for (; i + 1 < own.size(); i += 2) {
                ++even[ranks[own[i]]];
                ++odd[ranks[own[i + 1]]];
            }
            if (i < own.size()) ++even[ranks[own[i]]];
            for (std::size_t rank = 0; rank < n_ranks; ++rank) {
                const Sum n = even[rank] + odd[rank];
                statistics[2 * rank] += n;
                statistics[2 * rank + 1] += one ? n : 0;
            }
        }
    }
    double score_of(const Sum* statistic) const {
        return score(statistic[1], static_cast<std::size_t>(statistic[0]));
    }
    double score_of_counts(std::span<const Sum> left) const {
        return score(left[1], static_cast<std::size_t>(left[0] + left[1]));
    }
    double chance_score(const Chance& chance) const {
        return pair_chance(chance, static_cast<double>(total_) / static_cast<double>(n_));
    }
    double weight_of(const Sum* statistic) const { return static_cast<double>(statistic[0]); }
    std::size_t dimensions() const { return 1; }
    void point(const Sum* statistic, double* out) const {
        out[0] = static_cast<double>(statistic[1]) / static_cast<double>(statistic[0]);
    }

  private:
    static constexpr std::size_t lanes = 4;

    double score(Sum ones, std::size_t n_left) const {
        return pair_score(static_cast<Sum>(n_), total_, static_cast<Sum>(n_left), ones);
    }

    const Problem& problem_;
    std::vector<float> reciprocal_;  // 1 / (l·r), for the quick look
    std::vector<std::uint32_t> counts_;
    std::size_t n_ = 0;
    Sum total_ = 0;
    Id first_one_ = 0;
};

/// Two classes by Gini, with weights. The sums are of the lighter class, so that their difference from what
/// is expected loses no digits where one class outweighs the other by far.
template <class Id>
class WeightedPairScanner : PlacedWeights<Id> {
    using Base = PlacedWeights<Id>;
    using Base::grid_, Base::problem_, Base::weight_;

  public:
    static constexpr bool tallies = true;

    explicit WeightedPairScanner(const Problem& problem) : Base(problem) {}

    void load(std::span<const Row> rows) {
        Base::load(rows);
        first_one_ = static_cast<Id>(rows_of_class_zero(problem_, rows));
    }
    void enter(std::span<const Id> ids) {
        Grids own;
        enter(ids, own);
    }
    void enter(std::span<const Id> ids, Grids& grids) {
        Base::enter(ids, grids);
        Sum of_class[2] = {0, 0};
        for (const Id id : ids) of_class[id >= first_one_] += weight_[id];
        ones_are_light_ = of_class[1] < of_class[0];
        total_ = of_class[0] + of_class[1];
        light_ = of_class[ones_are_light_];
        share_ = static_cast<double>(light_) / static_cast<double>(total_);
    }

    struct Cursor {
        const WeightedPairScanner* scanner;
        Sum left = 0, light = 0;  // weight on the left, and that of the lighter class

        void add(Id id) {
            const Sum weight = scanner->weight_[id];
            left += weight;
            light += scanner->is_light(id) ? weight : 0;
        }
        double score(std::size_t) const { return scanner->score(left, light); }
        double weight(std::size_t) const { return static_cast<double>(left) * scanner->grid_.unit; }
        /// One after the other: passing over blocks, whose weights have to be added up all the same, took a
        /// fifth longer.
        std::size_t seek(const Id* entries, std::size_t i, std::size_t last, std::size_t, double least) {
            const double nearly = least * (1 - 1e-10), share = scanner->share_;
            const Sum total = scanner->total_;
            for (; i <= last; ++i) {
                add(entries[i - 1]);
                const double difference = static_cast<double>(light) - static_cast<double>(left) * share;
                const double product = static_cast<double>(left) * static_cast<double>(total - left);
                if (difference * difference > nearly * product && score(0) > least) break;
            }
            return i;
        }
    };
    Cursor cursor() const { return {this}; }

    double weight() const { return static_cast<double>(total_) * grid_.unit; }
    double noise() const { return rounding_noise * most(); }
    double most() const { return share_ * (1 - share_); }
    double gain(double score) const { return score * weight() * 2.0; }

    std::size_t width() const { return 2; }
    void add_to(Sum* statistic, Id id) const {
        statistic[0] += weight_[id];
        statistic[1] += is_light(id) ? weight_[id] : 0;
    }
    double score_of(const Sum* statistic) const { return score(statistic[0], statistic[1]); }
    double chance_score(const Chance& chance) const { return pair_chance(chance, share_); }
    double weight_of(const Sum* statistic) const { return static_cast<double>(statistic[0]) * grid_.unit; }
    std::size_t dimensions() const { return 1; }
    void point(const Sum* statistic, double* out) const {
        const Sum ones = ones_are_light_ ? statistic[1] : statistic[0] - statistic[1];
        out[0] = static_cast<double>(ones) / static_cast<double>(statistic[0]);
    }

  private:
    bool is_light(Id id) const { return (id >= first_one_) == ones_are_light_; }
    double score(Sum left, Sum light) const { return weighted_pair_score(total_, light_, left, light); }

    Sum total_ = 0, light_ = 0;  // of all rows, of the lighter class
    double share_ = 0;
    bool ones_are_light_ = false;
    Id first_one_ = 0;
};

/// One number by squared error.
template <class Id>
class SquareScanner {
  public:
    static constexpr bool tallies = true;

    explicit SquareScanner(const Problem& problem) : problem_(problem) {}

    void load(std::span<const Row> rows) {
        rows_ = rows;
        y_.resize(rows.size());
        screen_.load(rows.size(), false);
        are_placed_ = false;
    }
    void enter(std::span<const Id> ids) {
        Grids own;
        enter(ids, own);
    }
    void enter(std::span<const Id> ids, Grids& grids) {
        const auto row_of = [&](Id id) { return rows_[id]; };
        ids_ = ids;
        grids.weight = {};
        place_numbers(
            problem_, 0, true, ids, row_of, grids.number, are_placed_, [](Id) { return Sum{1}; },
            [&](Id id) -> Sum& { return y_[id]; });
        are_placed_ = true;
        grid_ = grids.number;
        Sum sum = 0;
        for (const Id id : ids) sum += y_[id];
        mean_ = GridMean(sum, static_cast<Sum>(ids.size()));
        const auto distance = [&](Id id) { return std::abs(mean_.difference(Sum{1}, y_[id])); };
        step_ = std::max(distance(ids.front()), distance(ids.back()));
        is_screened_ = ids.size() > 2 && ids.size() <= Screen<Id>::most_rows;
        if (is_screened_)
            screen_.enter(ids, weight(),
                          [&](Id id) { return std::pair(mean_.difference(Sum{1}, y_[id]), 1.0); });
    }
    const Screen<Id>* screen() const { return is_screened_ ? &screen_ : nullptr; }

    struct Cursor {
        const SquareScanner* scanner;
        const Sum* y;
        GridMean mean;
        double n;
        Sum sum = 0, n_left = 0;

        void add(Id id) {
            sum += y[id] - mean.shift;
            ++n_left;
        }
        double difference() const {
            return static_cast<double>(sum) - static_cast<double>(n_left) * mean.rest;
        }
        double sides() const { return static_cast<double>(n_left) * (n - static_cast<double>(n_left)); }
        double score(std::size_t) const { return square_score(difference(), static_cast<double>(n_left), n); }
        double weight(std::size_t) const { return static_cast<double>(n_left); }
        std::size_t seek(const Id* entries, std::size_t i, std::size_t last, std::size_t, double least) {
            return seek_in_blocks(*this, entries, i, last, least, scanner->step_,
                                  [&](std::size_t cut) { return score(cut) > least; });
        }
    };
    Cursor cursor() const { return {this, y_.data(), mean_, weight()}; }

    double weight() const { return static_cast<double>(ids_.size()); }
    double noise() const { return 0; }
    double gain(double score) const { return score * weight() * grid_.unit * grid_.unit; }

    std::size_t width() const { return 2; }
    void add_to(Sum* statistic, Id id) const {
        ++statistic[0];
        statistic[1] += y_[id];
    }
    double score_of(const Sum* statistic) const {
        return square_score(mean_.difference(statistic[0], statistic[1]), static_cast<double>(statistic[0]),
                            weight());
    }
    double chance_score(const Chance& chance) const {
        return square_chance(chance,
                             mean_.deviation(ids_, [](Id) { return Sum{1}; }, [&](Id id) { return y_[id]; }));
    }
    double weight_of(const Sum* statistic) const { return static_cast<double>(statistic[0]); }
    std::size_t dimensions() const { return 1; }
    void point(const Sum* statistic, double* out) const {
        out[0] = static_cast<double>(statistic[1]) / static_cast<double>(statistic[0]);
    }

  private:
    const Problem& problem_;
    std::span<const Row> rows_;
    Grid grid_;
    std::vector<Sum> y_;  // by id, on the grid
    bool are_placed_ = false, is_screened_ = false;
    std::span<const Id> ids_;  // of the node
    GridMean mean_;
    double step_ = 0;  // the largest |y − mean|
    Screen<Id> screen_;
};

}  // namespace treewright
