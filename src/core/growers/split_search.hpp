// Deciding the split of a large node from counts alone: exact at the price of histograms.
//
// Every column has a histogram over its bins. Each border between bins is scored; each bin that holds several
// values is bounded from above; only bins whose bound reaches the best border are opened. Of an open bin the
// search asks for the counts by position, bounds the positions in turn, and of those that remain it asks for
// the counts by value. It never touches rows: whoever has them answers, be it a HistogramFinder that has them
// all or several, each with some rows, whose answers are added up (join).
//
// A node is decided step by step,
//     begin(key)
//     while columns() are left:  enter(total) once; count(column, …) for each; open();
//                                 take_places(column, …), take_values(column, …) for each; settle()
//     split()
// where steps of different columns may be taken by different threads; or in messages,
//     wishes = begin(key, grids); while (!wishes.is_empty()) wishes = feed(answers to the wishes); split().
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/agreement.hpp"
#include "data/problem.hpp"
#include "growers/split.hpp"
#include "growers/subsets.hpp"
#include "scanners/exact_scores.hpp"
#include "scanners/group_scorer.hpp"
#include "scanners/scanner.hpp"

namespace treewright {

constexpr std::size_t n_bin_codes = 256;

/// The statistics of groups of rows, by ascending key.
struct Tally {
    std::span<const std::uint64_t> keys;
    const Sum* sums;  // a statistic for each key
};

/// What the search wants to know, one item after the other.
struct Wishes {
    enum class Kind : std::uint8_t {
        nothing,
        counts,   // by bin of the columns `columns`; of categories without bins by code. The last key is of
                  // missing values: 255, or the number of categories
        squares,  // the words of the exact sum of `mean.square` over all rows, under key 0
        places,   // by fine bin of the bins `places` (bin · 256) of the columns
        values    // by value (its order_key) of the fine bins `places`
    };

    Kind kind = Kind::nothing;
    std::vector<std::int32_t> columns{};  // of each item
    std::vector<std::int32_t> places{};   // of each item, if it is part of a column
    GridMean mean{};                      // of squares

    bool is_empty() const { return kind == Kind::nothing; }
};

/// Answers of some rows to wishes. Those to item i are [start[i], start[i + 1]).
struct Answers {
    std::vector<std::int64_t> start{0};
    std::vector<std::uint64_t> keys{};  // ascending within an item
    std::vector<std::int64_t> sums{};   // `width` for each key
    std::size_t width = 0;

    void add(std::uint64_t key, const Sum* statistic) {
        keys.push_back(key);
        sums.insert(sums.end(), statistic, statistic + width);
    }
    void end_item() { start.push_back(static_cast<std::int64_t>(keys.size())); }
    Tally item(std::size_t i) const {
        const auto first = static_cast<std::size_t>(start[i]);
        return {std::span(keys).subspan(first, static_cast<std::size_t>(start[i + 1]) - first),
                sums.data() + first * width};
    }
};
/// Answers of all rows from those of two parts of them, to the same wishes.
Answers join(const Answers& one, const Answers& other);

/// The fine bins on both sides of a cut: the gap of its threshold is from the largest value of the first ones
/// to the least of the others.
struct Gap {
    FineBin low_first, low_last, high_first, high_last;
};

/// Where a column is cut: after the fine bin `fine`, or before that, after so many of its values. The last
/// fine bin of a bin stands for the border after the bin.
struct CutPlace {
    FineBin fine = 0;
    std::uint32_t n_values = 0;
    auto operator<=>(const CutPlace&) const = default;

    static constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();
    static CutPlace after_bin(int bin) { return {static_cast<FineBin>(bin << 8 | 0xff), all}; }
    bool is_border() const { return place_of(fine) == 0xff && n_values == all; }
};

/// A cut of a column of a large node.
struct BinnedCut {
    double score = 0;
    CutPlace place{};
    bool missing_left = false;
    double weight_left = 0, low = 0, high = 0;
    std::optional<Gap> gap{};  // where the values on both sides are not known: between places of a bin

    /// From left to right, and at one place with the missing rows on the left first.
    bool is_before(const BinnedCut& other) const {
        return place != other.place ? place < other.place : missing_left && !other.missing_left;
    }
};

/// A position within an open bin that may hide a cut.
struct OpenPlace {
    FineBin fine;
    double bound[2];  // with the missing rows on the right, and on the left
};

class SplitSearch {
  public:
    SplitSearch(const Agreement& agreement, const Limits& limits, bool by_ratio);
    virtual ~SplitSearch() = default;
    SplitSearch(const SplitSearch&) = delete;
    SplitSearch& operator=(const SplitSearch&) = delete;

    virtual std::size_t width() const = 0;
    virtual std::int64_t rows_of(const Sum* statistic) const = 0;

    // Step by step.
    /// A node, whose columns are drawn by `key`.
    void begin(std::uint64_t key);
    /// The columns to be counted next, in order; none where the split is decided.
    std::span<const std::int32_t> columns() const { return columns_; }
    /// The statistic of all rows of the node, before its first column is counted.
    virtual void enter(const Sum* total, const Grids& grids) = 0;
    /// The mean of the numbers, where the sum of their squared distances from it is still needed to count
    /// these columns.
    virtual std::optional<GridMean> mean() const = 0;
    virtual void set_squares(double sum) = 0;
    /// The statistics of a column's bins, or of its codes and then of missing ones. They are looked at until
    /// the node is settled.
    virtual void count(std::int32_t column, const Sum* cells, std::size_t thread) = 0;
    /// All columns are counted: decides which bins are open.
    void open();
    std::array<std::uint8_t, n_bin_codes> open_bins(std::int32_t column) const;
    /// The statistics of the fine bins of all open bins of a column.
    virtual void take_places(std::int32_t column, const Tally& places, std::size_t thread) = 0;
    std::span<const OpenPlace> open_places(std::int32_t column) const { return found_[column].places; }
    /// Whether a place that was open still is, after what has been told since.
    bool is_open(std::int32_t column, const OpenPlace& place) const {
        return !is_closed(found_[column], place);
    }
    /// The statistics of the values of an open place, which is one of open_places.
    virtual void take_values(std::int32_t column, std::size_t place, const Tally& values,
                             std::size_t thread) = 0;
    /// The cuts of which one may be chosen, so that gaps can be filled in while the rows are at hand.
    std::span<BinnedCut> cuts(std::int32_t column) { return found_[column].cuts; }
    /// Ends with these columns: the split is decided, or others have to be looked at.
    void settle();
    const Split& split() const { return split_; }
    /// Between which fine bins the split's values `low` and `high` are to be found; none if they are known.
    const std::optional<Gap>& gap() const { return gap_; }

    // In messages.
    Wishes begin(std::uint64_t key, const Grids& grids);
    Wishes feed(const Answers& answers);

  protected:
    /// What a column has to offer: the cuts that may be its choice, and how much each of its bins could hide.
    struct ColumnSearch {
        std::vector<BinnedCut> cuts{};  // each further to the right scores more, and all tie with the best
        double largest = unreachable;
        double least = unreachable;  // bins and places that cannot reach it stay closed
        const Sum* cells = nullptr;
        std::vector<std::int32_t> left_codes{}, right_codes{};
        bool saw_missing = false;
        std::array<double, n_bin_codes> bound;
        std::vector<OpenPlace> places{};
        std::vector<Sum> before{};  // the statistics of the rows before each, without missing ones

        void clear() {
            for (auto* const list : {&left_codes, &right_codes}) list->clear();
            cuts.clear();
            places.clear();
            before.clear();
            largest = least = unreachable;
            saw_missing = false;
        }
    };

    virtual double noise() const = 0;
    virtual double weight() const = 0;
    virtual double gain(double score) const = 0;

    const ColumnFacts& facts(std::int32_t column) const { return agreement_.columns[column]; }
    /// How many cells a column's counts have: its bins, or its codes; the last one is of missing values.
    std::size_t n_cells(std::int32_t column) const {
        return facts(column).has_bins ? n_bin_codes
                                      : static_cast<std::size_t>(facts(column).n_categories) + 1;
    }
    static bool is_closed(const ColumnSearch& search, const OpenPlace& place) {
        return std::max(place.bound[0], place.bound[1]) < search.least;
    }
    /// Whether a cut further to the left is as good as this one.
    static bool is_superfluous(const ColumnSearch& search, const BinnedCut& cut);
    /// Adds a cut that may be the choice, and drops those that it leaves behind.
    static BinnedCut& keep(ColumnSearch& search, const BinnedCut& cut, double noise);
    void take_category(ColumnSearch& search, GroupScorer& scorer, const Groups& groups,
                       std::span<const std::int32_t> codes, double noise) const;

    const Agreement& agreement_;
    const Limits& limits_;
    std::vector<ColumnSearch> found_;
    std::int64_t n_rows_ = 0;  // of the node

  private:
    Split choose();
    Split choose_by_ratio();
    Split choose_by_score();
    Split split_of(std::int32_t column, const BinnedCut& cut);
    Gap gap_of(std::int32_t column, int bin) const;

    void take_counts(const Answers& answers);
    void take_places(const Answers& answers);
    void take_values(const Answers& answers);
    Wishes next_wishes();
    Wishes wish_places();
    Wishes wish_values();

    const bool by_ratio_;
    std::vector<std::int32_t> order_;  // of all columns that may be tried
    std::size_t n_tried_ = 0;
    std::span<const std::int32_t> columns_;
    Records<Split> last_resorts_;
    Split split_;
    std::optional<Gap> gap_;
    // Of messages: what was asked for, and the cells that were told.
    Wishes asked_;
    Grids grids_;
    std::vector<std::vector<Sum>> cells_;
    bool is_entered_ = false;
};

}  // namespace treewright
