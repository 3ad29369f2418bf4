// The search for the split of a large node by a measure: what is done for each bin, position and value.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "growers/split_search.hpp"
#include "scanners/group_scorer.hpp"

namespace treewright {

template <class Measure>
class SplitSearchOf final : public SplitSearch {
  public:
    SplitSearchOf(const Agreement& agreement, const Limits& limits, bool by_ratio, std::size_t n_threads)
        : SplitSearch(agreement, limits, by_ratio), measures_(n_threads, Measure(agreement)) {}

    std::size_t width() const override { return measures_[0].width(); }
    std::int64_t rows_of(const Sum* statistic) const override { return measures_[0].rows_of(statistic); }

    void enter(const Sum* total, const Grids& grids) override {
        n_rows_ = rows_of(total);
        for (auto& measure : measures_) measure.enter(total, grids);
        has_squares_ = false;
    }
    std::optional<GridMean> mean() const override {
        if constexpr (by_squares)
            if (!has_squares_ && limits_.correction != Correction::none &&
                std::ranges::any_of(columns(), [&](auto column) { return facts(column).is_category(); }))
                return measures_[0].mean();
        return std::nullopt;
    }
    void set_squares([[maybe_unused]] double sum) override {
        if constexpr (by_squares)
            for (auto& measure : measures_) measure.set_squares(sum);
        has_squares_ = true;
    }

    void count(std::int32_t column, const Sum* cells, std::size_t thread) override {
        ColumnSearch& search = found_[column];
        search.clear();
        search.cells = cells;
        if (facts(column).is_category())
            count_category(search, column, measures_[thread]);
        else
            count_bins(search, column, measures_[thread]);
    }

    void take_places(std::int32_t column, const Tally& places, std::size_t thread) override {
        Measure& measure = measures_[thread];
        ColumnSearch& search = found_[column];
        const std::size_t width = measure.width();
        std::vector<Sum> left(width, 0);
        Inside inside{search, measure, left, width};
        for (std::size_t begin = 0, end, bin = 0; begin < places.keys.size(); begin = end) {
            const auto next = places.keys[begin] >> 8;
            for (end = begin + 1; end < places.keys.size() && places.keys[end] >> 8 == next;) ++end;
            for (; bin < next; ++bin)
                for (std::size_t i = 0; i < width; ++i) left[i] += search.cells[bin * width + i];
            take_bin(inside, {places.keys.subspan(begin, end - begin), places.sums + begin * width});
        }
        drop_closed(search);
    }
    void take_values(std::int32_t column, std::size_t place, const Tally& values,
                     std::size_t thread) override {
        Measure& measure = measures_[thread];
        ColumnSearch& search = found_[column];
        const std::size_t width = measure.width();
        const OpenPlace& open = search.places[place];
        for (const bool missing_left : {false, true}) {
            if (open.bound[missing_left] < search.least || (missing_left && !search.saw_missing)) continue;
            std::vector<Sum> left(search.before.begin() + static_cast<std::ptrdiff_t>(place * width),
                                  search.before.begin() + static_cast<std::ptrdiff_t>((place + 1) * width));
            if (missing_left) add(left, search.cells + missing_bin * width);
            for (std::size_t i = 0; i + 1 < values.keys.size(); ++i) {
                add(left, values.sums + i * width);
                const CutPlace after{open.fine, static_cast<std::uint32_t>(i)};
                BinnedCut* const cut = offer(search, measure, left.data(), after, missing_left);
                if (!cut) continue;
                cut->low = value_of_key(values.keys[i]);
                cut->high = value_of_key(values.keys[i + 1]);
            }
        }
    }

  private:
    static constexpr bool by_squares = requires(const Measure measure) { measure.mean(); };

    double noise() const override { return measures_[0].noise(); }
    double weight() const override { return measures_[0].weight(); }
    double gain(double score) const override { return measures_[0].gain(score); }

    static void add(std::vector<Sum>& to, const Sum* statistic) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += statistic[i];
    }

    /// Takes a cut if it may be the choice, and returns it; null if not. Cuts come in any order.
    BinnedCut* offer(ColumnSearch& search, Measure& measure, const Sum* left, CutPlace place,
                     bool missing_left) const {
        const auto n_left = measure.rows_of(left);
        if (std::min(n_left, n_rows_ - n_left) < limits_.min_rows_leaf) return nullptr;
        const double score = measure.score_of(left);
        if (!(score > unreachable) || score < least_tie(search.largest, measure.noise())) return nullptr;
        BinnedCut cut{score, place, missing_left};
        if (is_superfluous(search, cut)) return nullptr;
        cut.weight_left = measure.weight_of(left);
        if (std::min(cut.weight_left, measure.weight() - cut.weight_left) < limits_.min_weight_leaf)
            return nullptr;
        return &keep(search, cut, measure.noise());
    }

    /// Whether the limits allow a cut here; the two ends, where nothing is cut, refuse nothing.
    bool is_legal(const Measure& measure, const Sum* left) const {
        const auto n_left = measure.rows_of(left);
        if (n_left == 0 || n_left == n_rows_) return true;
        const double weight = measure.weight_of(left);
        return std::min(n_left, n_rows_ - n_left) >= limits_.min_rows_leaf &&
               std::min(weight, measure.weight() - weight) >= limits_.min_weight_leaf;
    }
    /// The most that a legal cut inside a bin can score. A measure's bound may leave out the borders, because
    /// they are scored themselves; where the limits refuse one, a cut beside it may be the best.
    double bound_of(Measure& measure, const Sum* before, const Sum* bin, std::vector<Sum>& after) const {
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

    void count_bins(ColumnSearch& search, std::int32_t column, Measure& measure) {
        const std::size_t width = measure.width();
        const Sum *const histogram = search.cells, *const missing = histogram + missing_bin * width;
        const std::uint8_t* const is_mixed = agreement_.is_mixed_of(column);
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
            if (is_mixed[bin]) {
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
                offer(search, measure, with_missing.data(), CutPlace::after_bin(bin), true);
            if (bin < last || search.saw_missing)
                offer(search, measure, left.data(), CutPlace::after_bin(bin), false);
        }
    }

    void count_category(ColumnSearch& search, std::int32_t column, Measure& measure) const {
        const std::size_t width = measure.width();
        const auto n_codes = static_cast<std::size_t>(facts(column).n_categories);
        Groups groups;
        std::vector<std::int32_t> codes;
        for (std::size_t code = 0; code < n_codes; ++code) {
            const Sum* const cell = search.cells + code * width;
            if (measure.rows_of(cell) == 0) continue;
            codes.push_back(static_cast<std::int32_t>(code));
            groups.statistics.insert(groups.statistics.end(), cell, cell + width);
            groups.counts.push_back(static_cast<std::size_t>(measure.rows_of(cell)));
        }
        groups.n = codes.size();
        const Sum* const missing = search.cells + (n_cells(column) - 1) * width;
        groups.missing.assign(missing, missing + width);
        groups.n_missing = static_cast<std::size_t>(measure.rows_of(missing));
        GroupScorerOf<Measure> scorer(measure);
        take_category(search, scorer, groups, codes, measure.noise());
    }

    /// Where the places of a column are looked at; `left` is the statistic of the rows before the bin.
    struct Inside {
        ColumnSearch& search;
        Measure& measure;
        const std::vector<Sum>& before_bin;
        std::size_t width;
        std::vector<Sum> left{}, with_missing{}, after{};
    };
    /// Scores every border between the places of a bin, and keeps the places that could hide a better cut.
    void take_bin(Inside& inside, const Tally& places) const {
        auto& [search, measure, before_bin, width, left, with_missing, after] = inside;
        left = before_bin;
        after.resize(width);
        if (search.saw_missing) {
            with_missing = left;
            add(with_missing, search.cells + missing_bin * width);
        }
        for (std::size_t i = 0; i < places.keys.size(); ++i) {
            const auto fine = static_cast<FineBin>(places.keys[i]);
            const Sum* const own = places.sums + i * width;
            if (measure.rows_of(own) > 1) open_place(inside, {fine, {unreachable, unreachable}}, own);
            add(left, own);
            if (search.saw_missing) add(with_missing, own);
            if (i + 1 == places.keys.size()) break;
            const auto next = static_cast<FineBin>(places.keys[i + 1]);
            const CutPlace place{fine, CutPlace::all};
            if (BinnedCut* const cut = offer(search, measure, left.data(), place, false))
                cut->gap = {fine, fine, next, next};
            if (!search.saw_missing) continue;
            if (BinnedCut* const cut = offer(search, measure, with_missing.data(), place, true))
                cut->gap = {fine, fine, next, next};
        }
    }
    void open_place(Inside& inside, OpenPlace place, const Sum* own) const {
        auto& [search, measure, before_bin, width, left, with_missing, after] = inside;
        place.bound[0] = bound_of(measure, left.data(), own, after);
        if (search.saw_missing) place.bound[1] = bound_of(measure, with_missing.data(), own, after);
        if (std::max(place.bound[0], place.bound[1]) < search.least) return;
        search.places.push_back(place);
        search.before.insert(search.before.end(), left.begin(), left.end());
    }

    /// Drops the places that cuts found after them have closed.
    void drop_closed(ColumnSearch& search) const {
        std::size_t n = 0;
        for (std::size_t i = 0; i < search.places.size(); ++i) {
            if (is_closed(search, search.places[i])) continue;
            search.places[n] = search.places[i];
            const auto before = search.before.begin() + static_cast<std::ptrdiff_t>(i * width());
            std::copy_n(before, width(), search.before.begin() + static_cast<std::ptrdiff_t>(n++ * width()));
        }
        search.places.resize(n);
    }

    std::vector<Measure> measures_;  // one per thread
    bool has_squares_ = false;       // of this node
};

/// By a measure, of sums of one word or of two.
template <class Measure, class LongMeasure>
std::unique_ptr<SplitSearch> make_split_search(const Agreement& agreement, const Limits& limits,
                                               bool by_ratio, bool in_two_words, std::size_t n_threads) {
    if (!Measure::fits(agreement)) return nullptr;
    if (in_two_words)
        return std::make_unique<SplitSearchOf<LongMeasure>>(agreement, limits, by_ratio, n_threads);
    return std::make_unique<SplitSearchOf<Measure>>(agreement, limits, by_ratio, n_threads);
}

}  // namespace treewright
