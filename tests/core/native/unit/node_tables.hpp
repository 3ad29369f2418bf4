// Random tables of all kinds of columns and targets, in bins, and blocks of their rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/agreement.hpp"
#include "data/binning.hpp"
#include "data/excerpt.hpp"
#include "data/problem.hpp"
#include "tables.hpp"

namespace tables {

enum class Weights : std::uint8_t { none, counts, real };

/// A table with the memory behind its problem; `n_classes` 0: numbers. Where it is flat, no column of numbers
/// can be cut.
class RandomTable {
  public:
    RandomTable(std::size_t n, std::int32_t n_classes, Weights weights, std::uint64_t seed,
                bool is_flat = false)
        : random_{seed}, interrupt_(undisturbed()), pool_(1, interrupt_) {
        mixed_ = mixed_numbers(n, random_.next());
        for (std::size_t row = 0; row < n; ++row) draw_row(n_classes, weights);
        if (is_flat) {
            for (auto* const column : {&real_, &few_, &mixed_}) column->assign(n, 1.5);
            single_.assign(n, 1.5F);
        }
        problem.n_rows = n;
        problem.interrupt = &interrupt_;
        problem.columns = {column_of(real_),      column_of(few_),     column_of(single_),
                           column_of(mixed_),     column_of(five_, 5), column_of(many_, 90),
                           column_of(names_, 300)};
        if (n_classes > 0) {
            problem.targets.labels = labels_.data();
            problem.targets.n_classes = {n_classes};
        } else {
            problem.targets.numbers = numbers_.data();
        }
        if (weights != Weights::none) problem.targets.weight = weight_.data();
        bins_ = bin_columns(problem.columns, n, pool_, interrupt_);
        problem.fine_bins = bins_.fine.data();
        for (std::size_t i = 0; i < problem.columns.size(); ++i) {
            if (problem.columns[i].n_categories > max_bins) continue;
            problem.columns[i].fine_bins = bins_.fine.data() + i;
            problem.columns[i].fine_stride = problem.columns.size();
            problem.columns[i].is_mixed = bins_.is_mixed.data() + i * 256;
        }
        sort_rows(problem, pool_);
    }
    RandomTable(const RandomTable&) = delete;

    Problem problem;

    Pool& pool() { return pool_; }
    Random& random() { return random_; }
    /// The rows as tables of their own: at random, in order of the target, one by one, or few and the rest.
    std::vector<std::unique_ptr<Excerpt>> blocks() {
        const std::size_t n = problem.rows.size(), kind = random_.below(4), n_blocks = 1 + random_.below(7);
        std::vector<std::vector<Row>> rows(kind == 2 ? n : n_blocks);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t block = kind == 0   ? random_.below(n_blocks)
                                      : kind == 1 ? i * n_blocks / n
                                      : kind == 2 ? i
                                                  : (random_.below(20) == 0 ? n_blocks - 1 : 0);
            rows[block].push_back(problem.rows[i]);
        }
        std::vector<std::unique_ptr<Excerpt>> made;
        for (const auto& some : rows) made.push_back(std::make_unique<Excerpt>(problem, some));
        return made;
    }

  private:
    void draw_row(std::int32_t n_classes, Weights weights) {
        const std::size_t row = real_.size();
        real_.push_back(std::ldexp(random_.uniform(), 3));
        few_.push_back(random_.below(8) == 0 ? missing : static_cast<double>(random_.below(5)));
        single_.push_back(static_cast<float>(random_.uniform()));
        five_.push_back(static_cast<std::int32_t>(random_.below(5)));
        many_.push_back(random_.below(9) == 0 ? -1 : static_cast<std::int32_t>(random_.below(90)));
        names_.push_back(static_cast<std::int32_t>(random_.below(301)) - 1);
        double level = real_[row] + five_[row] + random_.uniform() * 4 + many_[row] % 3;
        if (few_[row] == few_[row]) level += few_[row] * (single_[row] > 0.4F ? 1 : -1);
        numbers_.push_back(random_.below(200) == 0 ? level * 1e6 : level);
        labels_.push_back(n_classes > 0 ? static_cast<std::int32_t>(level + 8) % n_classes : 0);
        weight_.push_back(weights == Weights::counts
                              ? static_cast<double>(random_.below(4))
                              : std::ldexp(random_.uniform() + 0.01, static_cast<int>(random_.below(20))));
    }

    Random random_;
    std::vector<double> real_, few_, mixed_, numbers_, weight_;
    std::vector<float> single_;
    std::vector<std::int32_t> five_, many_, names_, labels_;
    Interrupt interrupt_;
    Pool pool_;
    Bins bins_;
};

/// What a criterion needs of the grids of a problem.
inline NumberGrids grids_for(const Problem& problem) {
    const bool are_numbers = !problem.targets.are_classes();
    return {are_numbers, are_numbers, are_numbers};
}

}  // namespace tables
