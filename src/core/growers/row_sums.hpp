// The rows of a problem as statistics add them up: the rows' side of a measure (see measures.hpp).
//
// layout()               what the sums of a statistic are
// put(rows, grids)       targets on integer grids
// place(rows, grids, …)  the same once per node: on those that it inherits or on its own
// for_each_run(rows, …)  rows in canonical order as runs that share a tag: their class, if there are classes
// build(…)               the histograms of some columns, all columns of a row at a time
// add(statistic, …)      one row of a known tag
// carry(statistic)       once in so many rows, and after the last, where sums have two words (see
// layouts.hpp) squares(rows, mean)    the squared distances of the rows' numbers from a mean, where there are
// numbers
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/grids.hpp"
#include "data/problem.hpp"
#include "growers/layouts.hpp"
#include "growers/split_search.hpp"
#include "scanners/exact_scores.hpp"
#include "support/portable.hpp"

namespace treewright {

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

/// One output of classes: a row adds its weight to that of its class.
class ClassSums {
  public:
    ClassSums(const Problem& problem, const Agreement& agreement, bool in_two_words)
        : problem_(problem),
          word_rows_(agreement.word_rows),
          layout_{static_cast<std::size_t>(problem.targets.n_classes[0]), problem.is_weighted(),
                  in_two_words} {
        if (problem.is_weighted()) weight_ = std::make_shared<std::vector<Sum>>(problem.n_rows, 0);
    }

    const ClassLayout& layout() const { return layout_; }
    void put(std::span<const Row> rows, const Grids& grids) {
        if (weight_)
            put_weights(
                problem_, rows, [](Row row) { return row; }, grids.weight,
                [&](Row row) -> Sum& { return (*weight_)[row]; });
    }
    bool place(std::span<const Row> rows, Grids& grids, bool are_placed) {
        const Grid before = grids.weight;
        place_weights(
            problem_, rows, [](Row row) { return row; }, grids.weight, are_placed,
            [&](Row row) -> Sum& { return (*weight_)[row]; }, word_rows_);
        return grids.weight != before;
    }
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
                add(histograms + cell * layout_.width(), row, label);
            });
        });
    }
    void add(Sum* statistic, Row row, std::uint32_t label) const {
        statistic[label] += weight_ ? (*weight_)[row] : 1;
        if (weight_) ++statistic[layout_.n_classes];
    }
    void add_row(Sum* statistic, Row row) const {
        add(statistic, row, static_cast<std::uint32_t>(problem_.label(row)));
    }
    void carry(Sum* statistic) const { layout_.carry(statistic); }
    ExactSum squares(std::span<const Row>, const GridMean&) const { return {}; }

  private:
    /// Counts rows of one class in small counters that stay in cache, then adds them to the histograms.
    void count(const ColumnChoice& columns, std::span<const Row> rows, Sum* histograms) {
        counts_.assign(columns.size() * n_bin_codes, 0);
        std::uint32_t* const counts = counts_.data();
        columns.for_each_bin(rows, [=](Row, std::size_t cell) { ++counts[cell]; });
        for (std::size_t i = 0; i < counts_.size(); ++i) histograms[i * layout_.n_classes] += counts_[i];
    }

    const Problem& problem_;
    std::int64_t word_rows_;
    ClassLayout layout_;
    std::shared_ptr<std::vector<Sum>> weight_;  // by row, shared by all copies
    std::vector<std::uint32_t> counts_;
};

/// One number by squared error.
class SquareSums {
  public:
    SquareSums(const Problem& problem, const Agreement& agreement, bool in_two_words)
        : problem_(problem),
          n_counted_(agreement.n_counted),
          word_rows_(agreement.word_rows),
          layout_{problem.is_weighted(), in_two_words},
          values_(std::make_shared<std::vector<Sum>>(problem.n_rows * layout_.n_sums(), 1)) {}

    const SquareLayout& layout() const { return layout_; }
    void put(std::span<const Row> rows, const Grids& grids) {
        put_weights(problem_, rows, itself, grids.weight, cells(0));
        put_numbers(problem_, 0, rows, itself, grids.number, cells(1));
        put_squares(rows, grids);
    }
    bool place(std::span<const Row> rows, Grids& grids, bool are_placed) {
        const Grids before = grids;
        place_weights(problem_, rows, itself, grids.weight, are_placed, cells(0), word_rows_);
        place_numbers(problem_, 0, true, rows, itself, grids.number, are_placed, cells(0), cells(1),
                      word_rows_);
        const bool have_moved = grids.weight != before.weight || grids.number != before.number;
        if (are_placed && !have_moved) return false;
        const bool are_all = static_cast<std::int64_t>(rows.size()) == n_counted_;
        if (have_moved || !are_all) grids.square_unit = square_unit(rows);
        put_squares(rows, grids);
        return have_moved;
    }
    template <class Work>
    void for_each_run(std::span<const Row> rows, Work work) const {
        work(std::size_t{0}, rows.size(), std::uint32_t{0});
    }
    void build(const ColumnChoice& columns, std::span<const Row> rows, Sum* histograms) const {
        columns.for_each_bin(
            rows, [&](Row row, std::size_t cell) { add_row(histograms + cell * layout_.width(), row); });
    }
    void add(Sum* statistic, Row row, std::uint32_t) const { add_row(statistic, row); }
    void add_row(Sum* statistic, Row row) const {
        const Sum* const own = cell(row);
        for (std::size_t i = 0; i < 3; ++i) statistic[i] += own[i];
        if (layout_.is_weighted) ++statistic[3];
    }
    void carry(Sum* statistic) const { layout_.carry(statistic); }
    ExactSum squares(std::span<const Row> rows, const GridMean& mean) const {
        return layout_.in_two_words ? squares_of<Int128>(rows, mean) : squares_of<Sum>(rows, mean);
    }

  private:
    template <class S>
    ExactSum squares_of(std::span<const Row> rows, const GridMean& mean) const {
        ExactSum sum;
        for (const Row row : rows) sum.add(mean.square(S(cell(row)[0]), S(cell(row)[1])));
        return sum;
    }
    Sum* cell(Row row) const { return values_->data() + static_cast<std::size_t>(row) * layout_.n_sums(); }
    /// The i-th sum of each row.
    struct Cells {
        const SquareSums* sums;
        std::size_t i;
        Sum& operator()(Row row) const { return sums->cell(row)[i]; }
    };
    Cells cells(std::size_t i) const { return {this, i}; }
    static Row itself(Row row) { return row; }
    /// Squares of the numbers on the grid, per unit of weight, have a grid of their own.
    double square_unit(std::span<const Row> rows) const {
        double largest = 0;
        for (const Row row : rows) largest = std::max(largest, square_of(cell(row)[1], cell(row)[0]));
        return Grid::covering(largest, rows_of_grid(rows.size(), word_rows_)).unit;
    }
    void put_squares(std::span<const Row> rows, const Grids& grids) {
        const Grid squares{0, grids.square_unit};
        for (const Row row : rows) cell(row)[2] = squares.place(square_of(cell(row)[1], cell(row)[0])) + 1;
    }

    const Problem& problem_;
    std::int64_t n_counted_;  // rows of the whole table, on whose squares all agree
    std::int64_t word_rows_;
    SquareLayout layout_;
    std::shared_ptr<std::vector<Sum>> values_;  // by row, shared by all copies
};

}  // namespace treewright
