// Searching a large node: exact at the price of histograms.
//
// Every column has a histogram over its bins. Each border between bins is scored; each bin that holds several
// values is bounded from above; only bins whose bound reaches the best border are opened: their rows are
// sorted by value and every cut between them is scored.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data/picked_rows.hpp"
#include "data/problem.hpp"
#include "growers/measures.hpp"
#include "growers/nodes.hpp"
#include "growers/split.hpp"
#include "growers/subsets.hpp"
#include "scanners/group_scorer.hpp"
#include "support/portable.hpp"
#include "support/threads.hpp"

namespace treewright {

template <class Measure>
class HistogramSearcher : public LargeSearcher {
  public:
    HistogramSearcher(const Problem& problem, Pool& pool, bool by_ratio)
        : problem_(problem),
          limits_(problem.limits),
          by_ratio_(by_ratio),
          pool_(pool),
          measures_(pool.size(), Measure(problem)),
          found_(problem.columns.size()),
          place_(problem.columns.size()) {
        std::iota(place_.begin(), place_.end(), std::size_t{0});
    }

    std::size_t histogram_size() const override { return problem_.columns.size() * column_size(); }

    bool place(std::span<const Row> rows, Grids& grids) override {
        const bool were_placed = std::exchange(are_placed_, true);
        return measures_[0].place(rows, grids, were_placed);
    }
    void build(std::span<const Row> rows, Sum* histograms) override {
        // As many columns at a time as keep their counters in the first cache.
        constexpr std::size_t most_columns = 24;
        const std::size_t n_columns = problem_.columns.size();
        const std::size_t n_parts =
            std::max(std::min(n_columns, pool_.size()), (n_columns + most_columns - 1) / most_columns);
        pool_.run(n_parts, [&](std::size_t part, std::size_t thread) {
            problem_.interrupt->check();
            const ColumnChoice columns{problem_.fine_bins, n_columns, n_columns * part / n_parts,
                                       n_columns * (part + 1) / n_parts};
            Sum* const own = histograms + columns.first * column_size();
            std::fill_n(own, columns.size() * column_size(), 0);
            measures_[thread].build(columns, rows, own);
        });
    }

    Split search(std::span<const Row> rows, const Sum* histograms, const Grids& grids,
                 std::uint64_t key) override {
        rows_ = rows;
        grids_ = grids;
        auto order = column_order(problem_, key);
        if (limits_.max_columns > 0) return kept(search_drawn(order));
        enter(order, histograms);
        return kept(search_among(order, histograms));
    }

  private:
    Split kept(Split split) const {
        if (split.found() && split.gain < limits_.min_gain) split.column = -1;
        return split;
    }
    void enter(std::span<const std::int32_t> columns, const Sum* histograms) {
        const auto total = total_of(columns, histograms);
        for (auto& measure : measures_) measure.enter(total.data(), rows_, grids_);
    }
    /// Columns are drawn, and others than at the parent: histograms of these alone; of one more at a time
    /// where none of them can be cut.
    Split search_drawn(std::span<std::int32_t> order) {
        Records<Split> last_resorts;
        for (std::size_t n_tried = 0; n_tried < order.size();) {
            const auto n =
                n_tried > 0 ? 1 : std::min(order.size(), static_cast<std::size_t>(limits_.max_columns));
            const auto columns = order.subspan(n_tried, n);
            std::sort(columns.begin(), columns.end());
            build_drawn(columns);
            if (n_tried == 0) {
                enter(columns, drawn_.data());
                last_resorts.clear(measures_[0].noise());
            }
            Split next = search_among(columns, drawn_.data());
            if (next.found() && !next.is_last_resort()) return next;
            if (next.found() && next.rank > last_resorts.largest())
                last_resorts.add(next.rank, std::move(next));
            n_tried += n;
        }
        return last_resorts.found() ? std::move(last_resorts.first()) : Split{};
    }
    void build_drawn(std::span<const std::int32_t> columns) {
        drawn_.assign(columns.size() * column_size(), 0);
        for (std::size_t i = 0; i < columns.size(); ++i) place_[columns[i]] = i;
        const std::size_t n_parts = std::min(columns.size(), pool_.size());
        pool_.run(n_parts, [&](std::size_t part, std::size_t thread) {
            problem_.interrupt->check();
            const std::size_t first = columns.size() * part / n_parts;
            const ColumnChoice choice{problem_.fine_bins, problem_.columns.size(), 0,
                                      columns.size() * (part + 1) / n_parts - first, columns.data() + first};
            measures_[thread].build(choice, rows_, drawn_.data() + first * column_size());
        });
    }

    /// A place in a column's order: a cut inside a bin, or (last) the border after it.
    struct Place {
        int bin = -1;
        std::size_t index = 0;
        auto operator<=>(const Place&) const = default;
    };
    static constexpr std::size_t after_bin = std::numeric_limits<std::size_t>::max();

    /// A cut of a column; the values on both sides of one inside a bin.
    struct ColumnCut {
        double score = 0;
        Place place{};
        bool missing_left = false;
        double weight_left = 0, low = 0, high = 0;

        /// From left to right, and at one place with the missing rows on the left first.
        bool is_before(const ColumnCut& other) const {
            return place != other.place ? place < other.place : missing_left && !other.missing_left;
        }
    };
    /// What a column has to offer: the cuts that may be its choice, and how much each of its bins could hide.
    struct ColumnSearch {
        std::vector<ColumnCut> cuts;  // each further to the right scores more, and all tie with the best
        double largest = unreachable;
        double least = unreachable;  // bins and places that cannot reach it stay closed
        std::vector<std::int32_t> left_codes, right_codes;
        bool saw_missing = false;
        std::array<double, n_bin_codes> bound;

        bool has_any() const { return !cuts.empty(); }
    };

    std::size_t column_size() const { return n_bin_codes * measures_[0].width(); }
    /// The statistic of all rows: the histogram of every column that has bins adds up to it.
    std::vector<Sum> total_of(std::span<const std::int32_t> columns, const Sum* histograms) const {
        const std::size_t width = measures_[0].width();
        std::vector<Sum> total(width, 0);
        const auto binned = std::find_if(columns.begin(), columns.end(),
                                         [&](auto column) { return problem_.columns[column].fine_bins; });
        if (binned == columns.end()) {
            for (const Row row : rows_) measures_[0].add_row(total.data(), row);
            return total;
        }
        const Sum* const histogram = histogram_of(histograms, static_cast<std::size_t>(*binned));
        for (std::size_t i = 0; i < column_size(); ++i) total[i % width] += histogram[i];
        return total;
    }

    /// `columns` in order, each with its histogram.
    Split search_among(std::span<const std::int32_t> columns, const Sum* histograms) {
        const auto in_parallel = [&](auto&& work) {
            pool_.run(columns.size(), [&](std::size_t i, std::size_t thread) {
                problem_.interrupt->check();
                work(static_cast<std::size_t>(columns[i]), measures_[thread]);
            });
        };
        in_parallel([&](std::size_t column, Measure& measure) {
            found_[column] = ColumnSearch{};
            if (problem_.columns[column].is_category())
                try_category(column, histogram_of(histograms, column), measure);
            else
                try_borders(column, histogram_of(histograms, column), measure);
        });
        double largest = unreachable;
        for (const auto column : columns) largest = std::max(largest, found_[column].largest);
        open_bins(columns, histograms, largest);
        return choose(columns, histograms);
    }
    const Sum* histogram_of(const Sum* histograms, std::size_t column) const {
        return histograms + place_[column] * column_size();
    }

    /// Takes a cut if it may be the choice, and returns it; null if not. Cuts come in any order.
    ColumnCut* offer(ColumnSearch& search, Measure& measure, const Sum* left, Place place,
                     bool missing_left) {
        const auto n_left = measure.rows_of(left);
        if (std::min(n_left, static_cast<std::int64_t>(rows_.size()) - n_left) < limits_.min_rows_leaf)
            return nullptr;
        const ColumnCut cut{measure.score_of(left), place, missing_left};
        if (!(cut.score > unreachable) || cut.score < least_tie(search.largest, measure.noise()))
            return nullptr;
        auto& cuts = search.cuts;
        const auto next =
            std::ranges::find_if(cuts, [&](const ColumnCut& other) { return cut.is_before(other); });
        if (next != cuts.begin() && std::prev(next)->score >= cut.score) return nullptr;
        const double weight = measure.weight_of(left);
        if (std::min(weight, measure.weight() - weight) < limits_.min_weight_leaf) return nullptr;
        const auto here = cuts.insert(next, cut);
        here->weight_left = weight;
        return keep_ties(search, here, measure.noise());
    }
    /// Drops those that a new cut leaves behind: further to the right and no better, or no tie of it.
    ColumnCut* keep_ties(ColumnSearch& search, typename std::vector<ColumnCut>::iterator added,
                         double noise) {
        auto& cuts = search.cuts;
        search.largest = std::max(search.largest, added->score);
        const double least = least_tie(search.largest, noise), score = added->score;
        search.least = std::max(search.least, least);
        const auto place = static_cast<std::size_t>(added - cuts.begin());
        const auto right =
            std::find_if(added + 1, cuts.end(), [&](const ColumnCut& other) { return other.score > score; });
        cuts.erase(added + 1, right);
        const auto first =
            std::ranges::find_if(cuts, [&](const ColumnCut& other) { return other.score >= least; });
        const auto n_dropped = static_cast<std::size_t>(first - cuts.begin());
        cuts.erase(cuts.begin(), first);
        return &cuts[place - n_dropped];
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

    /// The open bins of one column.
    struct Opening {
        std::size_t column;
        std::array<std::uint8_t, n_bin_codes> is_open{};
        std::array<std::uint32_t, n_bin_codes> end{};  // of each bin's rows in `picked`
        std::vector<PickedRow> picked{};
    };
    /// Opens the bins that could hide a cut as good as the largest score known: their rows are ordered by
    /// place, and every border between places is scored.
    void open_bins(std::span<const std::int32_t> columns, const Sum* histograms, double largest) {
        std::vector<Opening> openings;
        std::size_t n_picked = 0;
        const auto work_off = [&] {
            const auto found = pick_rows(openings);
            pool_.run(openings.size(), [&](std::size_t i, std::size_t thread) {
                for (const auto& part : found) put_in_bins(part[i], openings[i]);
                scan_bins(openings[i], histograms, measures_[thread]);
            });
            openings.clear();
            n_picked = 0;
        };
        for (const auto column : columns) {
            if (problem_.columns[column].is_category()) continue;
            found_[column].least =
                least_tie(by_ratio_ ? found_[column].largest : largest, measures_[0].noise());
            auto opening = opening_of(static_cast<std::size_t>(column), histograms);
            if (opening.picked.empty()) continue;
            n_picked += opening.picked.size();
            openings.push_back(std::move(opening));
            constexpr std::size_t most_picked = std::size_t{1} << 20;  // to bound the memory
            if (n_picked > most_picked) work_off();
        }
        work_off();
    }
    Opening opening_of(std::size_t column, const Sum* histograms) const {
        const ColumnSearch& search = found_[column];
        const Sum* const histogram = histogram_of(histograms, column);
        Opening opening{column};
        std::uint32_t n = 0;
        for (int bin = 0; bin < max_bins; ++bin) {
            if (search.bound[bin] == unreachable || search.bound[bin] < search.least) continue;
            opening.is_open[bin] = 1;
            opening.end[bin] = n;
            n += static_cast<std::uint32_t>(measures_[0].rows_of(histogram + bin * measures_[0].width()));
        }
        opening.picked.resize(n);
        return opening;
    }
    using Picked = std::vector<PickedRow>;
    /// Finds the rows of the open bins, of each opening, in each part of the rows.
    std::vector<std::vector<Picked>> pick_rows(std::span<const Opening> openings) {
        constexpr std::size_t worth_threads = 10000;
        const bool is_shared = pool_.size() > 1 && rows_.size() >= worth_threads;
        const std::size_t n_parts = openings.empty() ? 0 : is_shared ? 4 * pool_.size() : 1;
        std::vector<std::vector<Picked>> found(n_parts, std::vector<Picked>(openings.size()));
        pool_.run(n_parts, [&](std::size_t part, std::size_t thread) {
            const std::size_t first = rows_.size() * part / n_parts,
                              last = rows_.size() * (part + 1) / n_parts;
            measures_[thread].for_each_run(rows_.subspan(first, last - first),
                                           [&](std::size_t begin, std::size_t end, std::uint32_t tag) {
                                               pick_run(openings, rows_.subspan(first + begin, end - begin),
                                                        tag, found[part]);
                                           });
        });
        return found;
    }
    /// All columns in one pass, a block of rows at a time, so that each row's bins are fetched once; without
    /// branches, because which rows these are cannot be foreseen.
    void pick_run(std::span<const Opening> openings, std::span<const Row> run, std::uint32_t tag,
                  std::vector<Picked>& found) const {
        constexpr std::size_t block = 128;  // rows whose bins stay in the first cache
        std::array<PickedRow, block> picked;
        const std::uint64_t shifted_tag = static_cast<std::uint64_t>(tag) << 32;
        const std::size_t n_columns = problem_.columns.size();
        for (std::size_t begin = 0; begin < run.size(); begin += block) {
            problem_.interrupt->check();
            const auto rows = run.subspan(begin, std::min(block, run.size() - begin));
            for (const Row row : rows) {
                const FineBin* const bins = problem_.fine_bins + row * n_columns;
                prefetch(bins + openings.front().column);
                prefetch(bins + openings.back().column);
            }
            for (std::size_t i = 0; i < openings.size(); ++i) {
                const FineBin* const bins = problem_.fine_bins + openings[i].column;
                std::size_t n = 0;
                for (const Row row : rows) {
                    const std::uint64_t fine = bins[row * n_columns];
                    picked[n] = {fine << 48 | shifted_tag | row};
                    n += openings[i].is_open[fine >> 8];
                }
                found[i].insert(found[i].end(), picked.begin(),
                                picked.begin() + static_cast<std::ptrdiff_t>(n));
            }
        }
    }
    void put_in_bins(const Picked& found, Opening& opening) const {
        for (const auto& each : found)
            opening.picked[opening.end[static_cast<std::size_t>(bin_of(each.fine_bin()))]++] = each;
    }
    void scan_bins(Opening& opening, const Sum* histograms, Measure& measure) {
        ColumnSearch& search = found_[opening.column];
        const Sum* const histogram = histogram_of(histograms, opening.column);
        const std::size_t width = measure.width();
        const Sum* const missing = histogram + missing_bin * width;
        std::vector<Sum> left(width, 0);
        std::vector<PickedRow> spare;
        std::uint32_t begin = 0;
        for (int bin = 0; bin < max_bins; ++bin) {
            if (opening.is_open[bin]) {
                const std::span inside(opening.picked.data() + begin, opening.end[bin] - begin);
                sort_by_place(inside, spare);
                const auto& source = problem_.columns[opening.column];
                scan_bin(search, measure, source, inside, bin, left, nullptr);
                if (search.saw_missing) scan_bin(search, measure, source, inside, bin, left, missing);
                begin = opening.end[bin];
            }
            for (std::size_t i = 0; i < width; ++i) left[i] += histogram[bin * width + i];
        }
    }
    /// Scores every border between places; a place that could hide a better cut is ordered by value.
    void scan_bin(ColumnSearch& search, Measure& measure, const Column& source,
                  std::span<const PickedRow> inside, int bin, std::vector<Sum> left, const Sum* missing) {
        for (std::size_t i = 0; missing && i < left.size(); ++i) left[i] += missing[i];
        std::vector<Sum> own(left.size()), after(left.size());
        for (std::size_t begin = 0, end; begin < inside.size(); begin = end) {
            for (end = begin + 1; end < inside.size() && inside[end].fine_bin() == inside[begin].fine_bin();)
                ++end;
            std::fill(own.begin(), own.end(), 0);
            for (std::size_t i = begin; i < end; ++i)
                measure.add(own.data(), inside[i].row(), inside[i].tag());
            if (end - begin > 1 && bound_of(measure, left.data(), own.data(), after) >= search.least)
                scan_place(search, measure, source, inside.subspan(begin, end - begin), {bin, begin}, left,
                           missing != nullptr);
            for (std::size_t i = 0; i < left.size(); ++i) left[i] += own[i];
            if (end == inside.size()) continue;
            ColumnCut* const cut = offer(search, measure, left.data(), {bin, end - 1}, missing != nullptr);
            if (!cut) continue;
            cut->low = -std::numeric_limits<double>::infinity();
            cut->high = std::numeric_limits<double>::infinity();
            for (std::size_t i = begin; i < end; ++i)
                cut->low = std::max(cut->low, source.value(inside[i].row()));
            for (std::size_t i = end; i < inside.size() && inside[i].fine_bin() == inside[end].fine_bin();
                 ++i)
                cut->high = std::min(cut->high, source.value(inside[i].row()));
        }
    }
    void scan_place(ColumnSearch& search, Measure& measure, const Column& source,
                    std::span<const PickedRow> inside, Place first, std::vector<Sum> left,
                    bool missing_left) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted;
        sorted.reserve(inside.size());
        for (const auto& each : inside) sorted.emplace_back(order_key(source.value(each.row())), each.key);
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
            const PickedRow here{sorted[i].second}, next{sorted[i + 1].second};
            measure.add(left.data(), here.row(), here.tag());
            if (sorted[i].first == sorted[i + 1].first) continue;
            ColumnCut* const cut =
                offer(search, measure, left.data(), {first.bin, first.index + i}, missing_left);
            if (!cut) continue;
            cut->low = source.value(here.row());
            cut->high = source.value(next.row());
        }
    }

    void try_category(std::size_t column, const Sum* histogram, Measure& measure) {
        const auto& source = problem_.columns[column];
        const std::size_t width = measure.width();
        std::vector<Sum> counted;
        std::size_t n_codes = static_cast<std::size_t>(source.n_categories), missing_at = missing_bin;
        if (!source.fine_bins) {
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
        GroupScorerOf<Measure> scorer(measure);
        SubsetSearch subsets(scorer, limits_, groups, rows_.size(), measure.noise());
        if (!subsets.run()) return;
        search.saw_missing = groups.n_missing > 0;
        search.largest = subsets.score();
        search.cuts = {{subsets.score(), {}, subsets.found.missing_left, subsets.found.weight_left}};
        for (std::size_t g = 0; g < groups.n; ++g)
            (subsets.found.is_left[g] ? search.left_codes : search.right_codes).push_back(codes[g]);
    }

    Split choose(std::span<const std::int32_t> columns, const Sum* histograms) {
        return by_ratio_ ? choose_by_ratio(columns, histograms) : choose_by_score(columns, histograms);
    }
    Split choose_by_ratio(std::span<const std::int32_t> columns, const Sum* histograms) {
        const Measure& measure = measures_[0];
        std::vector<RatioEntry> entries;
        std::vector<std::int32_t> offered;
        for (const auto column : columns) {
            if (!found_[column].has_any()) continue;
            const ColumnCut& cut = found_[column].cuts.front();
            offered.push_back(column);
            entries.push_back({measure.gain(cut.score),
                               split_information(cut.weight_left, measure.weight() - cut.weight_left)});
        }
        const auto place = ratio_winner(entries, measure.gain(measure.noise()));
        return place < 0 ? Split{}
                         : split_of(offered[place], found_[offered[place]].cuts.front(), histograms);
    }
    Split choose_by_score(std::span<const std::int32_t> columns, const Sum* histograms) {
        Records<std::pair<std::int32_t, const ColumnCut*>> records;
        records.clear(measures_[0].noise());
        for (const auto column : columns)
            for (const ColumnCut& cut : found_[column].cuts)
                if (cut.score > records.largest()) records.add(cut.score, {column, &cut});
        return records.found() ? split_of(records.first().first, *records.first().second, histograms)
                               : Split{};
    }
    Split split_of(std::int32_t column, const ColumnCut& cut, const Sum* histograms) {
        const Measure& measure = measures_[0];
        auto& search = found_[column];
        Split split;
        split.column = column;
        split.gain = std::max(0.0, measure.gain(cut.score));
        split.rank = problem_.columns[column].is_category() ? rank_of(limits_, cut.score) : 0.0;
        split.missing_left = cut.missing_left;
        split.saw_missing = search.saw_missing;
        split.is_heavier_left = cut.weight_left >= measure.weight() - cut.weight_left;
        split.left_codes = std::move(search.left_codes);
        split.right_codes = std::move(search.right_codes);
        split.low = cut.low;
        split.high = cut.high;
        if (problem_.columns[column].is_category()) return split;
        split.bin = cut.place.bin;
        split.at_border = cut.place.index == after_bin;
        if (split.at_border) find_gap(split, histogram_of(histograms, column));
        return split;
    }
    /// The values on both sides of a border; all known values lie left where none is above it.
    void find_gap(Split& split, const Sum* histogram) const {
        const auto& source = problem_.columns[split.column];
        int next = split.bin + 1;
        while (next < max_bins && measures_[0].rows_of(histogram + next * measures_[0].width()) == 0) ++next;
        split.low = -std::numeric_limits<double>::infinity();
        split.high = std::numeric_limits<double>::infinity();
        for (const Row row : rows_) {
            const int bin = source.bin(row);
            if (bin == split.bin)
                split.low = std::max(split.low, source.value(row));
            else if (bin == next)
                split.high = std::min(split.high, source.value(row));
        }
        if (next == max_bins) split.low = split.high;
    }

    const Problem& problem_;
    const Limits& limits_;
    const bool by_ratio_;
    Pool& pool_;
    std::vector<Measure> measures_;  // one per thread
    std::vector<ColumnSearch> found_;
    std::vector<std::size_t> place_;  // of each column's histogram
    std::vector<Sum> drawn_;          // histograms of drawn columns
    std::span<const Row> rows_;
    Grids grids_;
    bool are_placed_ = false;
};

}  // namespace treewright
