// Deciding the split of a large node from counts alone: what does not depend on the criterion.
#include "growers/split_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace treewright {

SplitSearch::SplitSearch(const Agreement& agreement, const Limits& limits, bool by_ratio)
    : agreement_(agreement), limits_(limits), found_(agreement.columns.size()), by_ratio_(by_ratio) {}

void SplitSearch::begin(std::uint64_t key) {
    order_ = column_order(agreement_.columns.size(), limits_, key);
    n_tried_ = 0;
    std::size_t n = order_.size();
    if (limits_.max_columns > 0) n = std::min(n, static_cast<std::size_t>(limits_.max_columns));
    columns_ = std::span(order_).first(n);
    std::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(n));
    last_resorts_.clear(0);
    split_ = {};
    gap_.reset();
    is_entered_ = false;
}

void SplitSearch::open() {
    double largest = unreachable;
    for (const auto column : columns_) largest = std::max(largest, found_[column].largest);
    for (const auto column : columns_)
        // Two rows have one cut, which all columns share: the first one takes it, however its score is
        // rounded.
        found_[column].least =
            n_rows_ == 2 ? unreachable : least_tie(by_ratio_ ? found_[column].largest : largest, noise());
}

std::array<std::uint8_t, n_bin_codes> SplitSearch::open_bins(std::int32_t column) const {
    std::array<std::uint8_t, n_bin_codes> are_open{};
    const ColumnSearch& search = found_[column];
    for (int bin = 0; bin < max_bins; ++bin)
        are_open[bin] = search.bound[bin] != unreachable && !(search.bound[bin] < search.least);
    return are_open;
}

void SplitSearch::settle() {
    Split next = choose();
    n_tried_ += columns_.size();
    columns_ = {};
    if (limits_.max_columns > 0) {
        // Columns are drawn: where none of them can be cut, or only as a last resort, one more at a time.
        if (next.found() && next.is_last_resort()) {
            if (!last_resorts_.found()) last_resorts_.clear(noise());
            if (next.rank > last_resorts_.largest()) last_resorts_.add(next.rank, std::move(next));
            next = {};
        }
        if (!next.found() && n_tried_ < order_.size()) {
            columns_ = std::span(order_).subspan(n_tried_, 1);
            return;
        }
        if (!next.found() && last_resorts_.found()) next = std::move(last_resorts_.first());
    }
    if (next.found() && next.gain < limits_.min_gain) next.column = -1;
    split_ = std::move(next);
}

bool SplitSearch::is_superfluous(const ColumnSearch& search, const BinnedCut& cut) {
    const auto next =
        std::ranges::find_if(search.cuts, [&](const BinnedCut& other) { return cut.is_before(other); });
    return next != search.cuts.begin() && std::prev(next)->score >= cut.score;
}

BinnedCut& SplitSearch::keep(ColumnSearch& search, const BinnedCut& cut, double noise) {
    auto& cuts = search.cuts;
    const auto added = cuts.insert(
        std::ranges::find_if(cuts, [&](const BinnedCut& other) { return cut.is_before(other); }), cut);
    search.largest = std::max(search.largest, cut.score);
    const double least = least_tie(search.largest, noise);
    search.least = std::max(search.least, least);
    // Those further to the right and no better, and those that are no ties of it.
    const auto place = added - cuts.begin();
    cuts.erase(added + 1, std::find_if(added + 1, cuts.end(),
                                       [&](const BinnedCut& other) { return other.score > cut.score; }));
    const auto first =
        std::ranges::find_if(cuts, [&](const BinnedCut& other) { return other.score >= least; });
    const auto n_dropped = first - cuts.begin();
    cuts.erase(cuts.begin(), first);
    return cuts[static_cast<std::size_t>(place - n_dropped)];
}

void SplitSearch::take_category(ColumnSearch& search, GroupScorer& scorer, const Groups& groups,
                                std::span<const std::int32_t> codes, double noise) const {
    if (groups.n == 0 || (groups.n == 1 && groups.n_missing == 0)) return;
    SubsetSearch subsets(scorer, limits_, groups, static_cast<std::size_t>(n_rows_), noise);
    if (!subsets.run()) return;
    search.saw_missing = groups.n_missing > 0;
    search.largest = subsets.score();
    search.cuts = {{subsets.score(), {}, subsets.found.missing_left, subsets.found.weight_left}};
    for (std::size_t g = 0; g < groups.n; ++g)
        (subsets.found.is_left[g] ? search.left_codes : search.right_codes).push_back(codes[g]);
}

Split SplitSearch::choose() { return by_ratio_ ? choose_by_ratio() : choose_by_score(); }

Split SplitSearch::choose_by_ratio() {
    std::vector<RatioEntry> entries;
    std::vector<std::int32_t> offered;
    for (const auto column : columns_) {
        if (found_[column].cuts.empty()) continue;
        const BinnedCut& cut = found_[column].cuts.front();
        offered.push_back(column);
        entries.push_back({gain(cut.score), split_information(cut.weight_left, weight() - cut.weight_left)});
    }
    const auto place = ratio_winner(entries, gain(noise()));
    return place < 0 ? Split{} : split_of(offered[place], found_[offered[place]].cuts.front());
}

Split SplitSearch::choose_by_score() {
    if (n_rows_ == 2) {
        const auto first =
            std::ranges::find_if(columns_, [&](auto column) { return !found_[column].cuts.empty(); });
        return first == columns_.end() ? Split{} : split_of(*first, found_[*first].cuts.front());
    }
    Records<std::pair<std::int32_t, const BinnedCut*>> records;
    records.clear(noise());
    for (const auto column : columns_)
        for (const BinnedCut& cut : found_[column].cuts)
            if (cut.score > records.largest()) records.add(cut.score, {column, &cut});
    return records.found() ? split_of(records.first().first, *records.first().second) : Split{};
}

Split SplitSearch::split_of(std::int32_t column, const BinnedCut& cut) {
    auto& search = found_[column];
    const bool is_category = facts(column).is_category();
    Split split;
    split.column = column;
    split.gain = std::max(0.0, gain(cut.score));
    split.rank = is_category ? rank_of(limits_, cut.score) : 0.0;
    split.missing_left = cut.missing_left;
    split.saw_missing = search.saw_missing;
    split.is_heavier_left = cut.weight_left >= weight() - cut.weight_left;
    split.left_codes = std::move(search.left_codes);
    split.right_codes = std::move(search.right_codes);
    split.low = cut.low;
    split.high = cut.high;
    if (is_category) return split;
    split.bin = bin_of(cut.place.fine);
    split.at_border = cut.place.is_border();
    gap_ = split.at_border ? gap_of(column, split.bin) : cut.gap;
    return split;
}

/// That of the border after a bin. No bin is above it where all known values lie left of it.
Gap SplitSearch::gap_of(std::int32_t column, int bin) const {
    const Sum* const cells = found_[column].cells;
    int next = bin + 1;
    while (next < max_bins && rows_of(cells + static_cast<std::size_t>(next) * width()) == 0) ++next;
    const auto first = [](int of) { return static_cast<FineBin>(of << 8); };
    const auto last = [](int of) { return static_cast<FineBin>(of << 8 | 0xff); };
    return {first(bin), last(bin), first(next), last(next)};
}

Wishes SplitSearch::begin(std::uint64_t key, const Grids& grids) {
    begin(key);
    grids_ = grids;
    return asked_ = next_wishes();
}

Wishes SplitSearch::feed(const Answers& answers) {
    switch (asked_.kind) {
        case Wishes::Kind::nothing:
            return {};
        case Wishes::Kind::counts:
            take_counts(answers);
            if (const auto mean = this->mean())
                return asked_ = {.kind = Wishes::Kind::squares, .mean = *mean};
            return asked_ = wish_places();
        case Wishes::Kind::squares:
            set_squares(ExactSum::of_words(answers.sums).rounded());
            return asked_ = wish_places();
        case Wishes::Kind::places:
            take_places(answers);
            return asked_ = wish_values();
        case Wishes::Kind::values:
            take_values(answers);
            settle();
            return asked_ = next_wishes();
    }
    return {};
}

Wishes SplitSearch::next_wishes() {
    if (columns_.empty()) return {};
    return {.kind = Wishes::Kind::counts, .columns = {columns_.begin(), columns_.end()}};
}

void SplitSearch::take_counts(const Answers& answers) {
    cells_.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const Tally counts = answers.item(i);
        cells_[i].assign(n_cells(columns_[i]) * width(), 0);
        for (std::size_t j = 0; j < counts.keys.size(); ++j)
            std::copy_n(counts.sums + j * width(), width(), &cells_[i][counts.keys[j] * width()]);
    }
    if (std::exchange(is_entered_, true)) return;
    std::vector<Sum> total(width(), 0);
    for (std::size_t i = 0; i < cells_[0].size(); ++i) total[i % width()] += cells_[0][i];
    enter(total.data(), grids_);
}

/// Once the columns can be counted.
Wishes SplitSearch::wish_places() {
    for (std::size_t i = 0; i < columns_.size(); ++i) count(columns_[i], cells_[i].data(), 0);
    open();
    Wishes wishes{.kind = Wishes::Kind::places};
    for (const auto column : columns_) {
        if (facts(column).is_category()) continue;
        const auto are_open = open_bins(column);
        for (int bin = 0; bin < max_bins; ++bin) {
            if (!are_open[bin]) continue;
            wishes.columns.push_back(column);
            wishes.places.push_back(bin << 8);
        }
    }
    if (!wishes.columns.empty()) return wishes;
    settle();
    return next_wishes();
}

void SplitSearch::take_places(const Answers& answers) {
    const auto& columns = asked_.columns;
    for (std::size_t i = 0, end; i < columns.size(); i = end) {
        for (end = i + 1; end < columns.size() && columns[end] == columns[i];) ++end;
        const Tally first = answers.item(i);
        const auto n = static_cast<std::size_t>(answers.start[end] - answers.start[i]);
        take_places(columns[i], {std::span(first.keys.data(), n), first.sums}, 0);
    }
}

Wishes SplitSearch::wish_values() {
    Wishes wishes{.kind = Wishes::Kind::values};
    for (const auto column : columns_)
        for (const OpenPlace& place : open_places(column)) {
            wishes.columns.push_back(column);
            wishes.places.push_back(place.fine);
        }
    if (!wishes.columns.empty()) return wishes;
    settle();
    return next_wishes();
}

void SplitSearch::take_values(const Answers& answers) {
    const auto& columns = asked_.columns;
    for (std::size_t i = 0, place = 0; i < columns.size(); ++i) {
        place = i > 0 && columns[i - 1] == columns[i] ? place + 1 : 0;
        take_values(columns[i], place, answers.item(i), 0);
    }
}

Answers join(const Answers& one, const Answers& other) {
    Answers all{.width = one.width};
    for (std::size_t item = 0; item + 1 < one.start.size(); ++item) {
        const Tally a = one.item(item), b = other.item(item);
        for (std::size_t i = 0, j = 0; i < a.keys.size() || j < b.keys.size();) {
            const bool takes_a = i < a.keys.size() && (j == b.keys.size() || a.keys[i] <= b.keys[j]);
            const bool takes_b = j < b.keys.size() && (i == a.keys.size() || b.keys[j] <= a.keys[i]);
            all.add(takes_a ? a.keys[i] : b.keys[j],
                    takes_a ? a.sums + i * all.width : b.sums + j * all.width);
            Sum* const added = all.sums.data() + all.sums.size() - all.width;
            for (std::size_t k = 0; takes_a && takes_b && k < all.width; ++k)
                added[k] += b.sums[j * all.width + k];
            i += takes_a;
            j += takes_b;
        }
        all.end_item();
    }
    return all;
}

}  // namespace treewright
