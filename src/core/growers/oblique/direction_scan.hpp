// The best cut of some rows by one direction, or by the columns of the table: what a grower of lists finds in
// one step. Criterion, ties, limits and the side of missing values are therefore those of every other tree.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "criteria/criterion.hpp"
#include "data/agreement.hpp"
#include "growers/grower.hpp"
#include "growers/histogram_finder.hpp"
#include "growers/nodes.hpp"
#include "growers/oblique/directions.hpp"
#include "growers/sides.hpp"
#include "growers/significance.hpp"
#include "growers/small_nodes.hpp"
#include "growers/thresholds.hpp"

namespace treewright {

/// What one thread needs to search nodes.
class NodeSearch {
  public:
    NodeSearch(const Problem& problem, const Agreement& agreement, const Criterion& criterion)
        : problem_(problem),
          table_(copy_of(problem)),
          sums_(copy_of(problem)),
          value_(problem.n_rows),
          alone_(1, *problem.interrupt),
          significance_(problem) {
        sums_.columns = {
            Column{.data = reinterpret_cast<const std::byte*>(value_.data()), .stride = sizeof(double)}};
        sums_.limits.max_columns = 0;
        of_all_ = sums_.limits;
        by_columns_ = std::make_unique<SmallNodeGrower>(table_, criterion);
        if (!problem.limits.random_splits)
            large_ = make_histogram_finder(table_, agreement, criterion, alone_);
        by_sum_ = std::make_unique<SmallNodeGrower>(sums_, criterion);
    }
    NodeSearch(const NodeSearch&) = delete;
    NodeSearch& operator=(const NodeSearch&) = delete;

    /// The best cut by a column of the table; a leaf where there is none. `rows` are put in order: those that
    /// go left come first.
    Nodes by_columns(std::vector<Row>& rows, std::uint64_t key) {
        const auto small_rows = static_cast<std::size_t>(small_rows_of(problem_));
        return large_ && rows.size() > small_rows ? by_histograms(rows, key) : cut(*by_columns_, rows, key);
    }

    /// The best cut by a direction; `rows` may be every so many of a node's.
    Node by_direction(const Direction& direction, std::span<const Row> rows, std::size_t stride) {
        for (const Row row : rows) value_[row] = sum_at(direction, problem_.columns, row);
        return by_values(rows, stride);
    }

    /// The weight of one column of a direction at which a cut would be best, if the cut turned about the
    /// place where that column has the value `pivot`, its least or its greatest one among the rows. Every row
    /// changes sides at one weight; so the best weight is the best cut of these. NaN where there is none.
    double best_weight(const Direction& direction, const Node& node, std::size_t place, double pivot,
                       bool is_least, std::span<const Row> rows, std::size_t stride) {
        const Column& column = problem_.columns[direction.columns[place]];
        const double weight = direction.weights[place];
        const double room = middle_threshold(node.low, node.high) - weight * pivot;
        constexpr double never = std::numeric_limits<double>::infinity();
        for (const Row row : rows) {
            const double value = column.value(row);
            const double left = room - (sum_at(direction, problem_.columns, row) - weight * value);
            const double away = value - pivot;
            value_[row] = away == 0 ? ((left >= 0) == is_least ? never : -never) : left / away;
        }
        const Node found = by_values(rows, stride);
        return found.is_leaf() || !std::isfinite(found.low) || !std::isfinite(found.high)
                   ? std::numeric_limits<double>::quiet_NaN()
                   : middle_threshold(found.low, found.high);
    }

  private:
    /// The same cut of a large node: to sort its rows by every column would take longer.
    Nodes by_histograms(std::vector<Row>& rows, std::uint64_t key) {
        Nodes out;
        out.add(0, static_cast<std::uint32_t>(rows.size()));
        Grids grids;
        large_->place(rows, grids);
        histograms_.resize(problem_.limits.max_columns == 0 ? large_->histogram_size() : 0);
        if (!histograms_.empty()) large_->build(rows, histograms_.data());
        const Split split = large_->search(rows, histograms_.data(), grids, key);
        if (!split.found()) return out;
        std::vector<Row> places(rows.size());
        std::iota(places.begin(), places.end(), Row{0});
        goes_left_.resize(rows.size());
        const std::span<const Row> all(rows), some(places);
        const std::size_t n_left = mark_by_value(problem_, split, all, some, goes_left_);
        const auto row_of = [&](Row place) { return rows[place]; };
        if (!significance_.passes(some, row_of, [&](Row place) { return goes_left_[place]; })) return out;
        std::ranges::stable_partition(places, [&](Row place) { return goes_left_[place] != 0; });
        std::ranges::transform(places, places.begin(), row_of);
        rows = std::move(places);
        out.cut(0, problem_, split, static_cast<std::uint32_t>(n_left), split.is_heavier_left);
        return out;
    }
    /// The limits for a sample: as much smaller as it is, and no test that needs all rows.
    Limits of_some(std::size_t stride) const {
        Limits limits = of_all_;
        limits.min_rows_split = 2;
        limits.min_rows_leaf =
            std::max<std::int64_t>(1, limits.min_rows_leaf / static_cast<std::int64_t>(stride));
        limits.min_weight_leaf /= static_cast<double>(stride);
        limits.min_gain /= static_cast<double>(stride);
        limits.critical = {};
        return limits;
    }
    /// The problem as a grower of one cut sees it.
    static Problem copy_of(const Problem& problem) {
        Problem copy = problem;
        copy.rows.clear();
        copy.limits.max_depth = 1;
        return copy;
    }
    static Nodes cut(SmallNodeGrower& grower, std::vector<Row>& rows, std::uint64_t key) {
        Nodes out;
        out.add(0, static_cast<std::uint32_t>(rows.size()));
        grower.grow(rows.data(), {.key = key, .max_splits = 1}, out);
        return out;
    }
    Node by_values(std::span<const Row> rows, std::size_t stride) {
        sums_.limits = stride == 1 ? of_all_ : of_some(stride);
        rows_.assign(rows.begin(), rows.end());
        return cut(*by_sum_, rows_, 0).nodes[0];
    }

    const Problem& problem_;
    Problem table_, sums_;
    Limits of_all_;
    std::vector<double> value_;  // by row of the table
    std::vector<Row> rows_;
    std::unique_ptr<SmallNodeGrower> by_columns_, by_sum_;
    Pool alone_;
    std::unique_ptr<LargeSearcher> large_;  // null where all nodes are searched in lists
    std::vector<Sum> histograms_;
    std::vector<std::uint8_t> goes_left_;
    SignificanceTest significance_;
};

}  // namespace treewright
