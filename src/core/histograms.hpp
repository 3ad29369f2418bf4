// Searching a large node: exact at the price of histograms.
//
// Every column has a histogram over its bins. Each border between bins is scored; each bin that holds several
// values is bounded from above; only bins whose bound reaches the best border are opened: their rows are
// sorted by value and every cut between them is scored.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "measuring.hpp"
#include "nodes.hpp"
#include "problem.hpp"
#include "splitting.hpp"
#include "subsets.hpp"
#include "threads.hpp"

namespace treewright {

constexpr std::size_t n_bin_codes = 256;

template <class Measure, bool ratio>
class HistogramSearcher : public LargeSearcher {
  public:
    HistogramSearcher(const Problem& problem, Pool& pool)
        : problem_(problem),
          limits_(problem.limits),
          pool_(pool),
          measures_(pool.size(), Measure(problem)),
          found_(problem.columns.size()) {}

    std::size_t histogram_size() const override { return problem_.columns.size() * column_size(); }

    void build(std::span<const Row> rows, Sum* histograms) override {
        pool_.run(problem_.columns.size(), [&](std::size_t column, std::size_t thread) {
            problem_.interrupt->check();
            Sum* const histogram = histograms + column * column_size();
            std::fill(histogram, histogram + column_size(), 0);
            if (problem_.columns[column].bins)
                measures_[thread].build(histogram, problem_.columns[column].bins, rows);
        });
    }

    Split search(std::span<const Row> rows, const Sum* histograms, std::uint64_t key) override {
        rows_ = rows;
        std::vector<Sum> total(measures_[0].width(), 0);
        for (const Row row : rows) measures_[0].add_row(total.data(), row);
        for (auto& measure : measures_) measure.enter(total.data());
        auto order = column_order(problem_, key);
        std::size_t n_drawn = order.size();
        if (limits_.max_columns > 0)
            n_drawn = std::min(n_drawn, static_cast<std::size_t>(limits_.max_columns));
        Split split = search_among({order.data(), n_drawn}, histograms);
        for (std::size_t i = n_drawn; i < order.size() && !split.found(); ++i)
            split = search_among({order.data() + i, 1}, histograms);
        if (split.found() && split.gain < limits_.min_gain) split.column = -1;
        return split;
    }

  private:
    /// A place in a column's order: a cut inside a bin, or (last) the border after it.
    struct Place {
        int bin = -1;
        std::size_t index = 0;
        auto operator<=>(const Place&) const = default;
    };
    static constexpr std::size_t after_bin = std::numeric_limits<std::size_t>::max();

    /// What a column has to offer: its best cut so far, and how much each of its bins could hide.
    struct ColumnSearch {
        Best best;
        Place place;
        bool missing_left = false;
        double low = 0, high = 0, weight_left = 0;
        std::vector<std::int32_t> left_codes, right_codes;
        bool saw_missing = false;
        std::array<double, n_bin_codes> bound;
    };

    std::size_t column_size() const { return n_bin_codes * measures_[0].width(); }

    Split search_among(std::span<std::int32_t> columns, const Sum* histograms) {
        std::sort(columns.begin(), columns.end());
        const auto in_parallel = [&](auto&& work) {
            pool_.run(columns.size(), [&](std::size_t i, std::size_t thread) {
                problem_.interrupt->check();
                work(static_cast<std::size_t>(columns[i]), measures_[thread]);
            });
        };
        in_parallel([&](std::size_t column, Measure& measure) {
            found_[column] = ColumnSearch{};
            found_[column].best.noise = measure.noise();
            if (problem_.columns[column].is_category())
                try_category(column, histogram_of(histograms, column), measure);
            else
                try_borders(column, histogram_of(histograms, column), measure);
        });
        Best standing;
        standing.noise = measures_[0].noise();
        for (const auto column : columns)
            if (standing.beaten_by(found_[column].best.score)) standing.set(found_[column].best.score);
        in_parallel([&](std::size_t column, Measure& measure) {
            if (!problem_.columns[column].is_category())
                open_bins(column, histogram_of(histograms, column), measure,
                          ratio ? found_[column].best : standing);
        });
        return choose(columns);
    }
    const Sum* histogram_of(const Sum* histograms, std::size_t column) const {
        return histograms + column * column_size();
    }

    /// Takes a cut if it is better, or as good and further to the left.
    bool offer(ColumnSearch& search, Measure& measure, const Sum* left, Place place, bool missing_left) {
        const auto n_left = measure.rows_of(left);
        if (std::min(n_left, static_cast<std::int64_t>(rows_.size()) - n_left) < limits_.min_rows_leaf)
            return false;
        const double score = measure.score_of(left);
        const bool better = search.best.beaten_by(score);
        if (!better &&
            !(search.best.is_set() && search.best.ties_with(score) &&
              (place < search.place || (place == search.place && missing_left && !search.missing_left))))
            return false;
        const double weight = measure.weight_of(left);
        if (std::min(weight, measure.weight() - weight) < limits_.min_weight_leaf) return false;
        if (better) search.best.set(score);
        search.place = place;
        search.missing_left = missing_left;
        search.weight_left = weight;
        return true;
    }

    /// Whether the limits allow a cut here; the two ends, where nothing is cut, refuse nothing.
    bool is_legal(const Measure& measure, const Sum* left) const {
        const auto n_left = measure.rows_of(left), n = static_cast<std::int64_t>(rows_.size());
        if (n_left == 0 || n_left == n) return true;
        const double weight = measure.weight_of(left);
        return std::min(n_left, n - n_left) >= limits_.min_rows_leaf &&
               std::min(weight, measure.weight() - weight) >= limits_.min_weight_leaf;
    }
    /// The most that a legal cut inside a bin can score. A measure's bound may leave out the borders, because
    /// they are scored themselves; where the limits refuse one, a cut beside it may be the best.
    double bound_of(Measure& measure, const Sum* before, const Sum* bin, std::vector<Sum>& after) {
        for (std::size_t i = 0; i < after.size(); ++i) after[i] = before[i] + bin[i];
        double bound = unreachable;
        bool are_scored = true;
        for (const Sum* const border : {before, static_cast<const Sum*>(after.data())}) {
            if (is_legal(measure, border)) continue;
            are_scored = false;
            bound = std::max(bound, measure.score_of(border));
        }
        if (are_scored && measure.hides_nothing(bin)) return unreachable;
        return std::max(bound, measure.bound(before, bin));
    }

    void try_borders(std::size_t column, const Sum* histogram, Measure& measure) {
        ColumnSearch& search = found_[column];
        const std::size_t width = measure.width();
        const Sum* const missing = histogram + missing_bin * width;
        search.saw_missing = measure.rows_of(missing) > 0;
        std::vector<Sum> left(width, 0), with_missing(missing, missing + width), after(width);
        int last = -1;
        for (int bin = 0; bin < max_bins; ++bin) {
            search.bound[bin] = unreachable;
            if (measure.rows_of(histogram + bin * width) > 0) last = bin;
        }
        for (int bin = 0; bin <= last; ++bin) {
            const Sum* const cell = histogram + bin * width;
            if (measure.rows_of(cell) == 0) continue;
            if (problem_.columns[column].is_mixed[bin]) {
                search.bound[bin] = bound_of(measure, left.data(), cell, after);
                if (search.saw_missing)
                    search.bound[bin] =
                        std::max(search.bound[bin], bound_of(measure, with_missing.data(), cell, after));
            }
            for (std::size_t i = 0; i < width; ++i) {
                left[i] += cell[i];
                with_missing[i] += cell[i];
            }
            if (search.saw_missing && bin < last)
                offer(search, measure, with_missing.data(), {bin, after_bin}, true);
            if (bin < last || search.saw_missing)
                offer(search, measure, left.data(), {bin, after_bin}, false);
        }
    }

    /// Opens the bins that could hide a better cut than the standing one, or an equal one further left.
    void open_bins(std::size_t column, const Sum* histogram, Measure& measure, const Best& standing) {
        ColumnSearch& search = found_[column];
        const double least =
            standing.is_set() ? standing.score - (standing.cut - standing.score) : unreachable;
        std::array<std::uint32_t, n_bin_codes> start{};
        std::array<bool, n_bin_codes> is_open{};
        std::uint32_t n_cells = 0;
        for (int bin = 0; bin < max_bins; ++bin) {
            if (search.bound[bin] == unreachable || search.bound[bin] < least) continue;
            is_open[bin] = true;
            start[bin] = n_cells;
            n_cells += static_cast<std::uint32_t>(measure.rows_of(histogram + bin * measure.width()));
        }
        if (n_cells == 0) return;
        std::vector<std::pair<std::uint64_t, Row>> cells(n_cells);
        const auto& source = problem_.columns[column];
        with_values(source, [&](auto value) {
            for (const Row row : rows_)
                if (const auto bin = source.bins[row]; is_open[bin])
                    cells[start[bin]++] = {order_key(value(row)), row};
        });
        const std::size_t width = measure.width();
        const Sum* const missing = histogram + missing_bin * width;
        std::vector<Sum> left(width, 0);
        std::uint32_t begin = 0;
        for (int bin = 0; bin < max_bins; ++bin) {
            if (is_open[bin]) {
                const std::span<std::pair<std::uint64_t, Row>> inside(cells.data() + begin,
                                                                      start[bin] - begin);
                std::sort(inside.begin(), inside.end());
                scan_bin(search, measure, source, inside, bin, left, nullptr);
                if (search.saw_missing) scan_bin(search, measure, source, inside, bin, left, missing);
                begin = start[bin];
            }
            for (std::size_t i = 0; i < width; ++i) left[i] += histogram[bin * width + i];
        }
    }
    void scan_bin(ColumnSearch& search, Measure& measure, const Column& source,
                  std::span<const std::pair<std::uint64_t, Row>> inside, int bin, std::vector<Sum> left,
                  const Sum* missing) {
        for (std::size_t i = 0; missing && i < left.size(); ++i) left[i] += missing[i];
        for (std::size_t i = 0; i + 1 < inside.size(); ++i) {
            measure.add_row(left.data(), inside[i].second);
            if (inside[i].first == inside[i + 1].first) continue;
            if (!offer(search, measure, left.data(), {bin, i}, missing != nullptr)) continue;
            search.low = source.value(inside[i].second);
            search.high = source.value(inside[i + 1].second);
        }
    }

    void try_category(std::size_t column, const Sum* histogram, Measure& measure) {
        const auto& source = problem_.columns[column];
        const std::size_t width = measure.width();
        std::vector<Sum> counted;
        std::size_t n_codes = static_cast<std::size_t>(source.n_categories), missing_at = missing_bin;
        if (!source.bins) {
            counted.assign((n_codes + 1) * width, 0);
            missing_at = n_codes;
            for (const Row row : rows_) {
                const auto code = source.code(row);
                measure.add_row(
                    counted.data() + (code < 0 ? n_codes : static_cast<std::size_t>(code)) * width, row);
            }
            histogram = counted.data();
        }
        Groups groups;
        std::vector<std::int32_t> codes;
        for (std::size_t code = 0; code < n_codes; ++code) {
            const Sum* const cell = histogram + code * width;
            if (measure.rows_of(cell) == 0) continue;
            codes.push_back(static_cast<std::int32_t>(code));
            groups.statistics.insert(groups.statistics.end(), cell, cell + width);
            groups.counts.push_back(static_cast<std::size_t>(measure.rows_of(cell)));
        }
        groups.n = codes.size();
        groups.missing.assign(histogram + missing_at * width, histogram + (missing_at + 1) * width);
        groups.n_missing = static_cast<std::size_t>(measure.rows_of(groups.missing.data()));
        if (groups.n == 0 || (groups.n == 1 && groups.n_missing == 0)) return;
        ColumnSearch& search = found_[column];
        SubsetSearch<Measure> subsets(measure, limits_, groups, rows_.size(), search.best);
        if (!subsets.run()) return;
        search.saw_missing = groups.n_missing > 0;
        search.missing_left = subsets.found.missing_left;
        search.weight_left = subsets.found.weight_left;
        for (std::size_t g = 0; g < groups.n; ++g)
            (subsets.found.is_left[g] ? search.left_codes : search.right_codes).push_back(codes[g]);
    }

    Split choose(std::span<const std::int32_t> columns) {
        const Measure& measure = measures_[0];
        std::int32_t winner = -1;
        if constexpr (ratio) {
            std::vector<RatioEntry> entries;
            std::vector<std::int32_t> offered;
            for (const auto column : columns) {
                const auto& search = found_[column];
                if (!search.best.is_set()) continue;
                offered.push_back(column);
                entries.push_back(
                    {measure.gain(search.best.score),
                     split_information(search.weight_left, measure.weight() - search.weight_left)});
            }
            const auto place = ratio_winner(entries, measure.gain(measure.noise()));
            if (place >= 0) winner = offered[place];
        } else {
            Best best;
            best.noise = measure.noise();
            for (const auto column : columns)
                if (found_[column].best.is_set() && best.beaten_by(found_[column].best.score)) {
                    best.set(found_[column].best.score);
                    winner = column;
                }
        }
        return winner < 0 ? Split{} : split_of(winner);
    }
    Split split_of(std::int32_t column) {
        auto& search = found_[column];
        Split split;
        split.column = column;
        split.gain = measures_[0].gain(search.best.score);
        split.missing_left = search.missing_left;
        split.saw_missing = search.saw_missing;
        split.left_codes = std::move(search.left_codes);
        split.right_codes = std::move(search.right_codes);
        split.low = search.low;
        split.high = search.high;
        if (!problem_.columns[column].is_category() && search.place.index == after_bin)
            find_gap(split, search.place.bin);
        return split;
    }
    /// The values on both sides of a border; all known values lie left where none is above it.
    void find_gap(Split& split, int bin) {
        const auto& source = problem_.columns[split.column];
        double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
        bool any_right = false;
        with_values(source, [&](auto value) {
            for (const Row row : rows_) {
                const auto code = source.bins[row];
                if (code == missing_bin) continue;
                if (code == bin)
                    low = std::max(low, value(row));
                else if (code > bin) {
                    high = std::min(high, value(row));
                    any_right = true;
                }
            }
        });
        split.low = any_right ? low : std::numeric_limits<double>::infinity();
        split.high = high;
    }

    const Problem& problem_;
    const Limits& limits_;
    Pool& pool_;
    std::vector<Measure> measures_;  // one per thread
    std::vector<ColumnSearch> found_;
    std::span<const Row> rows_;
};

}  // namespace treewright
