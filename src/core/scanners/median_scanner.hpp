// The scanner of absolute error: weighted medians of both sides, kept in Fenwick trees, O(log n) per row.
#pragma once

#include <bit>
#include <numeric>
#include <utility>

#include "data/grids.hpp"
#include "scanners/median_pairs.hpp"
#include "scanners/scanner.hpp"

namespace treewright {

/// Rows by rank of their number: how many weigh below a rank, and what their numbers sum to. Integers only,
/// so that taking a row out leaves no trace. Products of weight and number need 128 bits.
class OrderedSums {
  public:
    using Wide = Int128;

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
        const std::size_t position = descend([&](Wide twice) { return twice < total_.weight; }, below);
        const Wide median = y[position];
        const Wide above = (total_.moment - below.moment) - median * (total_.weight - below.weight);
        return static_cast<double>(median * below.weight - below.moment + above);
    }
    /// The ranks that the median lies between: one and the same, unless exactly half of the weight lies on
    /// each side.
    std::pair<std::size_t, std::size_t> middle() const {
        Cell below{}, at{};
        return {descend([&](Wide twice) { return twice < total_.weight; }, below),
                descend([&](Wide twice) { return twice <= total_.weight; }, at)};
    }

  private:
    struct Cell {
        Sum weight = 0;
        Wide moment = 0;
    };
    /// How many ranks from the lowest on have a weight that, twice, is still before; and what they hold.
    template <class Before>
    std::size_t descend(Before is_before, Cell& held) const {
        std::size_t position = 0;
        for (std::size_t step = std::bit_floor(cells_.size() - 1); step > 0; step /= 2) {
            const std::size_t next = position + step;
            if (next >= cells_.size() || !is_before(2 * static_cast<Wide>(held.weight + cells_[next].weight)))
                continue;
            position = next;
            held.weight += cells_[next].weight;
            held.moment += cells_[next].moment;
        }
        return position;
    }
    std::vector<Cell> cells_;
    Cell total_;
};

template <class Id>
class MedianScanner {
  public:
    explicit MedianScanner(const Problem& problem) : problem_(problem), outputs_(problem.targets.n_outputs) {}

    void load(std::span<const Row> rows) {
        const std::size_t n = rows.size();
        grid_ = weight_grid(problem_, rows);
        weight_.resize(n);
        for (std::size_t id = 0; id < n; ++id) weight_[id] = weight_on(grid_, problem_, rows[id]);
        for (std::size_t o = 0; o < outputs_.size(); ++o) load_output(outputs_[o], rows, o);
        set_units();
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
        for (auto& output : outputs_) risk_ += output.unit * output.right.deviation(output.y);
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
                score -= output.unit * (output.left.deviation(output.y) + output.right.deviation(output.y));
            return score;
        }
        double weight(std::size_t) const { return static_cast<double>(total) * scanner->grid_.unit; }
        /// The weight of what was not sent left.
        double rest() const { return static_cast<double>(scanner->total_ - total) * scanner->grid_.unit; }
    };
    Cursor cursor() {
        for (const Id id : ids_)
            if (is_left_[id]) send(id, false);
        return {this};
    }

    /// The medians of what the cursor has sent left and of the rest, for each output; neither may be empty.
    void put_medians(double* left, double* right) const {
        for (const auto& output : outputs_) {
            *left++ = output.median(output.left);
            *right++ = output.median(output.right);
        }
    }

    double weight() const { return static_cast<double>(total_) * grid_.unit; }
    double noise() const { return rounding_noise * risk_; }
    double gain(double score) const {
        return std::max(0.0, score) * unit_ * grid_.unit / static_cast<double>(outputs_.size());
    }
    /// What groups of such sizes score by chance: each is above the node's median or below. How far that
    /// moves the medians of the two sides depends on how dense the numbers are there, here as if they were
    /// normal.
    double chance_score(const Chance& chance) const {
        const double share = chance.roots() / chance.total();
        return risk_ * share * share / 2;
    }
    /// The best division of groups of rows: the one that `refused` does not refuse and that leaves the least
    /// deviation from two medians. For fixed medians every group goes to the nearer one, so trying every pair
    /// of values is exact; above `max_values` distinct values only that many are tried, and of several
    /// outputs only the first is looked at. `limits` are those of a leaf, which `refused` knows as well.
    template <class Refused>
    bool divide_groups(const std::vector<std::span<const Id>>& groups, const Limits& limits, Refused refused,
                       std::vector<char>& is_left) const {
        MedianPairs pairs(candidates(groups));
        for (const auto& group : groups) pairs.add(rows_of(group));
        const MedianPairs::Least least{limits.min_rows_leaf,
                                       static_cast<Sum>(limits.min_weight_leaf / grid_.unit * (1 - 1e-9))};
        for (pairs.finish(least); const auto pair = pairs.best();) {
            for (std::size_t g = 0; g < groups.size(); ++g)
                is_left[g] = pairs.goes_left(rows_of(groups[g]), *pair);
            if (!refused(is_left)) return true;
            pairs.drop(*pair);
        }
        return false;
    }

  private:
    struct Output {
        Grid grid;
        double unit = 1;             // of the grid, in units of a score
        std::vector<Sum> y;          // by rank
        std::vector<double> number;  // the same, not on the grid
        std::vector<std::uint32_t> rank;
        OrderedSums left, right;

        void move(std::size_t id, Sum weight, OrderedSums* from, OrderedSums* to) {
            const auto moment = static_cast<OrderedSums::Wide>(weight) * y[rank[id]];
            if (from) from->add(rank[id], -weight, -moment);
            if (to) to->add(rank[id], weight, moment);
        }
        double median(const OrderedSums& side) const {
            const auto [lower, upper] = side.middle();
            return number[lower] == number[upper] ? number[lower] : number[lower] / 2 + number[upper] / 2;
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
        output.number.resize(n);
        for (std::size_t rank = 0; rank < n; ++rank) {
            output.rank[order[rank]] = static_cast<std::uint32_t>(rank);
            output.number[rank] = problem_.number(rows[order[rank]], o);
            output.y[rank] = output.grid.place(output.number[rank]);
        }
        output.left.resize(n);
        output.right.resize(n);
    }
    /// The values that may be medians.
    std::vector<Sum> candidates(const std::vector<std::span<const Id>>& groups) const {
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
        return values;
    }
    /// The rows of a group as weights at numbers of the first output.
    std::span<const WeightAt> rows_of(std::span<const Id> group) const {
        const Output& output = outputs_[0];
        group_.clear();
        for (const Id id : group) group_.push_back({output.y[output.rank[id]], weight_[id]});
        return group_;
    }
    /// Scores count in the largest unit of the outputs that are not constant: tiny numbers keep their digits.
    void set_units() {
        const auto varies = [](const Output& output) { return output.y.front() != output.y.back(); };
        unit_ = 0;
        for (const auto& output : outputs_)
            if (varies(output)) unit_ = std::max(unit_, output.grid.unit);
        for (auto& output : outputs_) output.unit = varies(output) ? output.grid.unit / unit_ : 1.0;
        if (unit_ == 0) unit_ = 1;
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
    mutable std::vector<WeightAt> group_;
    Sum total_ = 0;
    double unit_ = 1, risk_ = 0;
};

}  // namespace treewright
