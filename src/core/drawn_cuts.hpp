// Growing a subtree whose cuts are drawn: of each column one threshold between the least and the largest
// value of the node. That takes no order of the rows, so none is kept: a column costs one look at each row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "column_draw.hpp"
#include "nodes.hpp"
#include "problem.hpp"
#include "random_cuts.hpp"
#include "scanning.hpp"
#include "sides.hpp"
#include "significance.hpp"
#include "splitting.hpp"
#include "subsets.hpp"

namespace treewright {

template <class Id, class Scanner>
class DrawnCutGrower {
  public:
    explicit DrawnCutGrower(const Problem& problem)
        : problem_(problem),
          limits_(problem.limits),
          scanner_(problem),
          significance_(problem),
          draw_(problem) {}

    void grow(Row* rows, const Job& job, Nodes& out) {
        out_ = &out;
        rows_.assign(rows, rows + (out.nodes[job.node].end - out.nodes[job.node].begin));
        ids_.resize(rows_.size());
        std::iota(ids_.begin(), ids_.end(), Id{0});
        goes_left_.resize(rows_.size());
        spill_.resize(rows_.size());
        node_rows_.resize(rows_.size());
        scanner_.load(rows_);
        best_first_ = job.max_splits >= 0;
        // Values of the rows of a node lie scattered over a large table; in an excerpt they stay in cache.
        leaves_excerpts_ = !best_first_ && problem_.fine_bins && rows_.size() > 2 * excerpt_rows;
        frontier_.clear();
        consider({job.node, 0, static_cast<std::uint32_t>(rows_.size()), job.depth, job.key, job.grids});
        for (std::int64_t n = 0; !frontier_.empty() && (job.max_splits < 0 || n < job.max_splits); ++n) {
            problem_.interrupt->check();
            split(take());
        }
        std::vector<Row> sorted(rows_.size());
        for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = rows_[ids_[i]];
        std::copy(sorted.begin(), sorted.end(), rows);
    }

  private:
    static constexpr std::size_t excerpt_rows = 8192;

    /// A cut of one column.
    struct ColumnCut {
        Split split{};
        double weight_left = 0;
    };
    /// A leaf that can be split, with its best split.
    struct Candidate {
        std::int32_t node = -1;
        std::uint32_t begin = 0, end = 0;  // its part of the ids
        std::int64_t depth = 0;
        std::uint64_t key = 0;
        Grids grids{};  // first those that it inherits, then its own
        Split split{};
        double weight_left = 0, weight = 0;

        std::size_t size() const { return end - begin; }
        /// Order of a heap whose top has the largest gain; the node made first wins a tie.
        bool operator<(const Candidate& other) const {
            const double mine = ranked(split.gain), others = ranked(other.split.gain);
            return mine != others ? mine < others : node > other.node;
        }
    };

    std::span<Id> ids_of(const Candidate& node) { return {ids_.data() + node.begin, node.size()}; }
    Candidate take() {
        if (best_first_) std::pop_heap(frontier_.begin(), frontier_.end());
        Candidate candidate = std::move(frontier_.back());
        frontier_.pop_back();
        return candidate;
    }
    bool is_open(const Candidate& node) {
        if (!may_split(limits_, node.size(), node.depth)) return false;
        const auto ids = ids_of(node);
        if (!problem_.same_target(rows_[ids.front()], rows_[ids.back()])) return true;
        return problem_.targets.n_outputs > 1 && !std::all_of(ids.begin(), ids.end(), [&](Id id) {
                   return problem_.same_target(rows_[id], rows_[ids.back()]);
               });
    }
    void consider(Candidate&& candidate) {
        if (!is_open(candidate)) return;
        if (leaves_excerpts_ && candidate.size() <= excerpt_rows) {
            out_->pending.push_back({candidate.node, candidate.depth, candidate.key, -1, candidate.grids});
            return;
        }
        if (!search(candidate)) return;
        frontier_.push_back(std::move(candidate));
        if (best_first_) std::push_heap(frontier_.begin(), frontier_.end());
    }

    bool search(Candidate& node) {
        enter_node(scanner_, std::span<const Id>(ids_of(node)), node.grids);
        node.weight = scanner_.weight();
        std::ranges::transform(ids_of(node), node_rows_.begin(), [&](Id id) { return rows_[id]; });
        cuts_.clear(scanner_.noise());
        for (auto columns = draw_.first(node.key); !columns.empty();
             columns = cuts_.found() ? std::span<const std::int32_t>() : draw_.next())
            for (const auto column : columns) {
                if (is_settled(node)) break;
                constexpr std::size_t many = 10000;
                if (node.size() > many) problem_.interrupt->check();
                try_column(node, static_cast<std::size_t>(column));
            }
        if (!cuts_.found()) return false;
        node.split = std::move(cuts_.first().split);
        node.weight_left = cuts_.first().weight_left;
        if (node.split.gain < limits_.min_gain) return false;
        if (!problem_.columns[node.split.column].is_category()) find_gap(node);
        if (limits_.critical.empty()) return true;
        mark_sides(node);
        return significance_.passes(
            std::span<const Id>(ids_of(node)), [&](Id id) { return rows_[id]; },
            [&](Id id) { return goes_left_[id]; });
    }
    /// Whether no further column can do better: two rows have one cut only, and a cut that leaves no risk is
    /// as good as any. The first column wins a tie.
    bool is_settled(const Candidate& node) const {
        if (!cuts_.found()) return false;
        if constexpr (requires { scanner_.most(); })
            if (cuts_.ties_with(scanner_.most())) return true;
        return node.size() == 2;
    }
    void try_column(const Candidate& node, std::size_t column) {
        if (problem_.columns[column].is_category())
            try_category(node, column);
        else if (problem_.columns[column].type == Column::Type::float32)
            try_number(node, column, floats_);
        else
            try_number(node, column, doubles_);
    }
    /// A cut that scores more than all before it.
    void offer(std::size_t column, double score, ColumnCut&& cut) {
        cut.split.column = static_cast<std::int32_t>(column);
        cut.split.gain = scanner_.gain(score);
        cuts_.add(score, std::move(cut));
    }

    /// The values are copied as they are stored, in the order of the rows, so that the loops over them have
    /// no branches and take several at a time.
    template <class Number>
    void try_number(const Candidate& node, std::size_t column, std::vector<Number>& values) {
        const auto ids = ids_of(node);
        const std::size_t n = ids.size();
        values.resize(rows_.size());
        for (std::size_t i = 0; i < n; ++i)
            values[i] = problem_.columns[column].template at<Number>(node_rows_[i]);
        Number low = std::numeric_limits<Number>::infinity(), high = -low;
        std::size_t n_known = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Number v = values[i];
            low = v < low ? v : low;
            high = v > high ? v : high;
            n_known += v == v;
        }
        const std::size_t n_missing = n - n_known;
        if (n_known == 0 || (n_missing == 0 && low == high)) return;
        const bool one_value = low == high;  // then the only cut is between it and the missing ones
        const bool missing_left = n_missing > 0 && !one_value && draws_missing_left(node.key, column);
        const double drawn =
            one_value ? high
                      : drawn_threshold(node, column, {low, high}, std::span<const Number>(values).first(n));
        const Number cut = rounded_down<Number>(drawn);
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Number v = values[i];
            spill_[n_left] = ids[i];
            n_left += static_cast<std::size_t>(v <= cut) | (missing_left & (v != v));
        }
        if (std::cmp_less(std::min(n_left, n - n_left), limits_.min_rows_leaf)) return;
        auto cursor = scanner_.cursor();
        for (std::size_t i = 0; i + 1 < n_left; ++i) cursor.add(spill_[i]);
        if (seek(cursor, spill_.data(), n_left, n_left, std::size_t{0}, cuts_.largest()) > n_left) return;
        ColumnCut found;
        found.weight_left = cursor.weight(n_left);
        if (std::min(found.weight_left, node.weight - found.weight_left) < limits_.min_weight_leaf) return;
        found.split.missing_left = missing_left;
        found.split.saw_missing = n_missing > 0;
        // where all known values lie left, the missing ones alone go right
        found.split.low = one_value ? std::numeric_limits<double>::infinity() : drawn;
        offer(column, cursor.score(n_left), std::move(found));
        if constexpr (requires { scanner_.rounds_scores(); })
            if (scanner_.rounds_scores()) cuts_.last().split.gain = plain_gain(n_left);
    }
    /// The gain of the cut at hand, whose left rows lie in the spill, whichever way the scanner came to it.
    double plain_gain(std::size_t n_left) {
        std::vector<Sum> left(scanner_.width(), 0);
        for (std::size_t i = 0; i < n_left; ++i) scanner_.add_to(left.data(), spill_[i]);
        return scanner_.gain(scanner_.score_of(left.data()));
    }
    /// The largest number of a type that is not above a value: it lies left of the same numbers.
    template <class Number>
    static Number rounded_down(double value) {
        const auto near = static_cast<Number>(value);
        return near <= value ? near : std::nextafter(near, -std::numeric_limits<Number>::infinity());
    }
    /// The values on both sides of the drawn threshold.
    void find_gap(Candidate& node) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double drawn = node.split.low;
        double below = -infinity, above = infinity;
        with_values(problem_.columns[node.split.column], [&](auto value) {
            for (const Id id : ids_of(node)) {
                const double v = value(rows_[id]);
                const double left = v <= drawn ? v : -infinity, right = v > drawn ? v : infinity;
                below = left > below ? left : below;
                above = right < above ? right : above;
            }
        });
        node.split.low = drawn == infinity ? infinity : below;
        node.split.high = above;
    }
    /// A number drawn between the smallest and the largest value; below the largest, from the smallest on.
    template <class Number>
    double drawn_threshold(const Candidate& node, std::size_t column, const Range& range,
                           std::span<const Number> values) {
        const double drawn = drawn_number(threshold_stream(node.key, column), range, [&] {
            Range finite;
            for (const Number value : values)
                if (std::isfinite(value)) finite.take(value);
            return finite;
        });
        const auto [low, high] = range;
        return drawn >= low && drawn < high ? drawn : drawn >= high ? std::nextafter(high, low) : low;
    }

    void try_category(const Candidate& node, std::size_t column) {
        const auto ids = ids_of(node);
        const auto& source = problem_.columns[column];
        by_code_.clear();
        for (const Id id : ids) {
            const auto code = std::max(source.code(rows_[id]), missing_code);
            // the missing ones come last
            by_code_.push_back(static_cast<std::uint64_t>(static_cast<std::uint32_t>(code)) << 32 | id);
        }
        std::sort(by_code_.begin(), by_code_.end());
        const std::size_t width = scanner_.width();
        groups_ = {};
        groups_.missing.assign(width, 0);
        std::vector<std::int32_t> codes;
        for (const auto each : by_code_) {
            const auto code = static_cast<std::int32_t>(each >> 32);
            const auto id = static_cast<Id>(each);
            if (code == missing_code) {
                scanner_.add_to(groups_.missing.data(), id);
                ++groups_.n_missing;
                continue;
            }
            if (codes.empty() || codes.back() != code) {
                codes.push_back(code);
                groups_.statistics.resize(codes.size() * width, 0);
                groups_.counts.push_back(0);
            }
            scanner_.add_to(groups_.statistics.data() + (codes.size() - 1) * width, id);
            ++groups_.counts.back();
        }
        groups_.n = codes.size();
        if (groups_.n == 0 || (groups_.n == 1 && groups_.n_missing == 0)) return;
        SubsetSearch<Scanner> search(scanner_, limits_, groups_, ids.size(), scanner_.noise(),
                                     cuts_.largest());
        Random random = subset_stream(node.key, column);
        if (!(groups_.n > 1 ? search.run_random(random) : search.run())) return;
        ColumnCut cut;
        cut.weight_left = search.found.weight_left;
        cut.split.missing_left = search.found.missing_left;
        cut.split.saw_missing = groups_.n_missing > 0;
        for (std::size_t g = 0; g < groups_.n; ++g)
            (search.found.is_left[g] ? cut.split.left_codes : cut.split.right_codes).push_back(codes[g]);
        offer(column, search.score(), std::move(cut));
    }

    void split(const Candidate& parent) {
        const std::size_t n_left = mark_sides(parent);
        const bool heavier_left = parent.weight_left >= parent.weight - parent.weight_left;
        out_->cut(parent.node, problem_, parent.split, static_cast<std::uint32_t>(n_left), heavier_left);
        const std::int32_t left = out_->nodes[parent.node].left;
        divide(parent);
        const auto middle = parent.begin + static_cast<std::uint32_t>(n_left);
        // The right child first, so that a stack yields the left one first.
        const auto depth = parent.depth + 1;
        consider({left + 1, middle, parent.end, depth, Random::child(parent.key, false), parent.grids});
        consider({left, parent.begin, middle, depth, Random::child(parent.key, true), parent.grids});
    }
    /// Notes for each row of a node on which side it goes; returns how many go left.
    std::size_t mark_sides(const Candidate& parent) {
        return mark_by_value(problem_, parent.split, std::span<const Row>(rows_),
                             std::span<const Id>(ids_of(parent)), goes_left_);
    }
    /// Moves the rows that go left to the front, keeping the order on both sides; no branches.
    void divide(const Candidate& parent) {
        const auto ids = ids_of(parent);
        std::size_t n_left = 0, n_right = 0;
        for (const Id id : ids) {
            const std::size_t left = goes_left_[id];
            ids[n_left] = id;
            spill_[n_right] = id;
            n_left += left;
            n_right += 1 - left;
        }
        std::memcpy(ids.data() + n_left, spill_.data(), n_right * sizeof(Id));
    }

    const Problem& problem_;
    const Limits& limits_;
    Scanner scanner_;
    SignificanceTest significance_;
    ColumnDraw draw_;
    Nodes* out_ = nullptr;
    std::vector<Row> rows_;  // by local id
    std::vector<Id> ids_, spill_;
    std::vector<Row> node_rows_;  // the rows of the node that is searched
    std::vector<float> floats_;   // and their values in one column
    std::vector<double> doubles_;
    std::vector<std::uint8_t> goes_left_;
    std::vector<std::uint64_t> by_code_;
    std::vector<Candidate> frontier_;
    Records<ColumnCut> cuts_;  // of the node that is searched
    Groups groups_;
    bool best_first_ = false, leaves_excerpts_ = false;
};

}  // namespace treewright
