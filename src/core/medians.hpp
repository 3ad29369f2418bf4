// The scanner of absolute error: weighted medians of both sides, kept in Fenwick trees, O(log n) per row.
#pragma once

#include <bit>
#include <numeric>

#include "scanning.hpp"

namespace treewright {

/// Rows by rank of their number: how many weigh below a rank, and what their numbers sum to. Integers only,
/// so that taking a row out leaves no trace. Products of weight and number need 128 bits.
class OrderedSums {
  public:
    using Wide = __int128;

    void resize(std::size_t n) {
        cells_.assign(n + 1, {});
        total_ = {};
    }
    void add(std::size_t rank, Sum weight, Wide moment) {
        total_.weight += weight;
        total_.moment += moment;
        for (std::size_t i = rank + 1; i < cells_.size(); i += i & (~i + 1)) {
            cells_[i].weight += weight;
            cells_[i].moment += moment;
        }
    }
    /// Σ w·|y − median| on the grid; y[rank] ascends.
    double deviation(const std::vector<Sum>& y) const {
        if (total_.weight == 0) return 0;
        Cell below{};
        std::size_t position = 0;
        for (std::size_t step = std::bit_floor(cells_.size() - 1); step > 0; step /= 2) {
            const std::size_t next = position + step;
            if (next >= cells_.size() ||
                2 * static_cast<Wide>(below.weight + cells_[next].weight) >= total_.weight)
                continue;
            position = next;
            below.weight += cells_[next].weight;
            below.moment += cells_[next].moment;
        }
        const Wide median = y[position];
        const Wide above = (total_.moment - below.moment) - median * (total_.weight - below.weight);
        return static_cast<double>(median * below.weight - below.moment + above);
    }

  private:
    struct Cell {
        Sum weight = 0;
        Wide moment = 0;
    };
    std::vector<Cell> cells_;
    Cell total_;
};

template <class Id>
class MedianScanner {
  public:
    static constexpr bool is_additive = false;

    explicit MedianScanner(const Problem& problem) : problem_(problem), outputs_(problem.targets.n_outputs) {}

    void load(std::span<const Row> rows) {
        const std::size_t n = rows.size();
        grid_ = weight_grid(problem_, rows);
        weight_.resize(n);
        for (std::size_t id = 0; id < n; ++id) weight_[id] = weight_on(grid_, problem_, rows[id]);
        for (std::size_t o = 0; o < outputs_.size(); ++o) load_output(outputs_[o], rows, o);
        ids_.clear();
        is_left_.assign(n, 0);
    }
    void enter(std::span<const Id> ids) {
        for (const Id id : ids_) {
            for (auto& output : outputs_)
                output.move(id, weight_[id], is_left_[id] ? &output.left : &output.right, nullptr);
            is_left_[id] = 0;
        }
        ids_.assign(ids.begin(), ids.end());
        total_ = 0;
        for (const Id id : ids_) {
            total_ += weight_[id];
            for (auto& output : outputs_) output.move(id, weight_[id], nullptr, &output.right);
        }
        risk_ = 0;
        for (auto& output : outputs_) risk_ += output.grid.unit * output.right.deviation(output.y);
    }

    struct Cursor {
        MedianScanner* scanner;
        Sum total = 0;

        void add(Id id) {
            scanner->send(id, true);
            total += scanner->weight_[id];
        }
        double score(std::size_t) const {
            double score = scanner->risk_;
            for (auto& output : scanner->outputs_)
                score -=
                    output.grid.unit * (output.left.deviation(output.y) + output.right.deviation(output.y));
            return score;
        }
        double weight(std::size_t) const { return static_cast<double>(total) * scanner->grid_.unit; }
    };
    Cursor cursor() {
        for (const Id id : ids_)
            if (is_left_[id]) send(id, false);
        return {this};
    }

    double weight() const { return static_cast<double>(total_) * grid_.unit; }
    double noise() const { return rounding_noise * risk_; }
    double gain(double score) const {
        return std::max(0.0, score) * grid_.unit / static_cast<double>(outputs_.size());
    }
    /// The best division of groups of rows: the one that `refused` does not refuse and that leaves the least
    /// deviation from two medians. For fixed medians every group goes to the nearer one, so trying every pair
    /// of values is exact; above `max_values` distinct values only that many are tried, and of several
    /// outputs only the first is looked at.
    template <class Refused>
    bool divide_groups(const std::vector<std::span<const Id>>& groups, Refused refused,
                       std::vector<char>& is_left) const {
        const auto costs = costs_of(groups);
        const std::size_t n_values = costs.size() / groups.size();
        double least = std::numeric_limits<double>::infinity();
        std::vector<char> side(groups.size());
        for (std::size_t a = 0; a < n_values; ++a)
            for (std::size_t b = a + 1; b < n_values; ++b) {
                double cost = 0;
                for (std::size_t g = 0; g < groups.size(); ++g) {
                    const double to_left = costs[g * n_values + a], to_right = costs[g * n_values + b];
                    side[g] = to_left < to_right;
                    cost += std::min(to_left, to_right);
                }
                if (cost >= least * (1 - 1e-12) || refused(side)) continue;  // ties: the first pair
                least = cost;
                is_left = side;
            }
        return least < std::numeric_limits<double>::infinity();
    }

  private:
    struct Output {
        Grid grid;
        std::vector<Sum> y;  // by rank
        std::vector<std::uint32_t> rank;
        OrderedSums left, right;

        void move(std::size_t id, Sum weight, OrderedSums* from, OrderedSums* to) {
            const auto moment = static_cast<OrderedSums::Wide>(weight) * y[rank[id]];
            if (from) from->add(rank[id], -weight, -moment);
            if (to) to->add(rank[id], weight, moment);
        }
    };

    void load_output(Output& output, std::span<const Row> rows, std::size_t o) {
        const std::size_t n = rows.size();
        std::vector<std::uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
            return problem_.number(rows[a], o) < problem_.number(rows[b], o);
        });
        const double low = problem_.number(rows[order.front()], o),
                     high = problem_.number(rows[order.back()], o);
        const double centre = low / 2 + high / 2;
        output.grid = Grid::covering(std::max(high - centre, centre - low), 1.0, centre);
        output.rank.resize(n);
        output.y.resize(n);
        for (std::size_t rank = 0; rank < n; ++rank) {
            output.rank[order[rank]] = static_cast<std::uint32_t>(rank);
            output.y[rank] = output.grid.place(problem_.number(rows[order[rank]], o));
        }
        output.left.resize(n);
        output.right.resize(n);
    }
    /// Σ w·|y − v| of each group about each value v that may be a median, in the units of a score.
    std::vector<double> costs_of(const std::vector<std::span<const Id>>& groups) const {
        constexpr std::size_t max_values = 256;
        const Output& output = outputs_[0];
        std::vector<Sum> values;
        for (const auto& group : groups)
            for (const Id id : group) values.push_back(output.y[output.rank[id]]);
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        if (values.size() > max_values) {
            for (std::size_t i = 0; i < max_values; ++i)
                values[i] = values[i * (values.size() - 1) / (max_values - 1)];
            values.resize(max_values);
        }
        std::vector<double> costs;
        for (const auto& group : groups)
            for (const Sum value : values) {
                double cost = 0;
                for (const Id id : group)
                    cost += static_cast<double>(weight_[id]) *
                            std::abs(static_cast<double>(output.y[output.rank[id]] - value));
                costs.push_back(cost * output.grid.unit);
            }
        return costs;
    }
    void send(Id id, bool to_left) {
        is_left_[id] = to_left;
        for (auto& output : outputs_)
            output.move(id, weight_[id], to_left ? &output.right : &output.left,
                        to_left ? &output.left : &output.right);
    }

    const Problem& problem_;
    Grid grid_;
    std::vector<Output> outputs_;
    std::vector<Sum> weight_;
    std::vector<Id> ids_;
    std::vector<std::uint8_t> is_left_;
    Sum total_ = 0;
    double risk_ = 0;
};

}  // namespace treewright
