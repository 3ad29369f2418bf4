// Searching a large node whose rows are all here: answers what a SplitSearch asks for.
#include "growers/histogram_finder.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "data/picked_rows.hpp"
#include "growers/row_sums.hpp"
#include "growers/split_search.hpp"
#include "support/portable.hpp"

namespace treewright {

namespace {

/// An excerpt of a large table may need but one.
bool needs_two_words(const Problem& problem, const Agreement& agreement) {
    return agreement.need_two_words(static_cast<std::int64_t>(problem.rows.size()));
}

template <class RowSums>
class HistogramFinder : public LargeSearcher {
  public:
    HistogramFinder(const Problem& problem, const Agreement& agreement, std::unique_ptr<SplitSearch> search,
                    Pool& pool)
        : problem_(problem),
          search_(std::move(search)),
          pool_(pool),
          in_two_words_(needs_two_words(problem, agreement)),
          block_(in_two_words_ ? static_cast<std::size_t>(agreement.word_rows) : problem.n_rows),
          sums_(pool.size(), RowSums(problem, agreement, in_two_words_)),
          spare_(pool.size()) {}

    std::size_t histogram_size() const override { return problem_.columns.size() * column_size(); }

    bool place(std::span<const Row> rows, Grids& grids) override {
        const bool were_placed = std::exchange(are_placed_, true);
        return sums_[0].place(rows, grids, were_placed);
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
            build(columns, rows, own, thread);
        });
    }

    Split search(std::span<const Row> rows, const Sum* histograms, const Grids& grids,
                 std::uint64_t key) override {
        rows_ = rows;
        search_->begin(key);
        for (bool is_entered = false; !search_->columns().empty();) {
            // Where columns are drawn, and others than at the parent, there are histograms of these alone.
            const bool are_drawn = problem_.limits.max_columns > 0;
            if (are_drawn) build_drawn();
            histograms_ = are_drawn ? drawn_.data() : histograms;
            if (!std::exchange(is_entered, true)) search_->enter(total().data(), grids);
            if (const auto mean = search_->mean())
                search_->set_squares(sums_[0].squares(rows_, *mean).rounded());
            count_columns();
            search_->open();
            look_inside();
            search_->settle();
        }
        Split split = search_->split();
        if (split.found() && search_->gap()) find_gap(split, *search_->gap());
        return split;
    }

  private:
    std::size_t width() const { return sums_[0].layout().width(); }
    std::size_t column_size() const { return n_bin_codes * width(); }

    void build_drawn() {
        const auto columns = search_->columns();
        drawn_.assign(columns.size() * column_size(), 0);
        const std::size_t n_parts = std::min(columns.size(), pool_.size());
        pool_.run(n_parts, [&](std::size_t part, std::size_t thread) {
            problem_.interrupt->check();
            const std::size_t first = columns.size() * part / n_parts;
            const ColumnChoice choice{problem_.fine_bins, problem_.columns.size(), 0,
                                      columns.size() * (part + 1) / n_parts - first, columns.data() + first};
            build(choice, rows_, drawn_.data() + first * column_size(), thread);
        });
    }
    void build(const ColumnChoice& columns, std::span<const Row> rows, Sum* histograms, std::size_t thread) {
        const std::size_t size = columns.size() * column_size();
        std::fill_n(histograms, size, 0);
        in_blocks(rows, histograms, size,
                  [&](std::span<const Row> block) { sums_[thread].build(columns, block, histograms); });
    }
    /// Work that adds rows, or what stands for them, to statistics: as many at a time as their sums hold.
    template <class Row, class Add>
    void in_blocks(std::span<const Row> rows, Sum* statistics, std::size_t size, Add add) const {
        for (std::size_t begin = 0; begin < rows.size(); begin += block_) {
            add(rows.subspan(begin, std::min(block_, rows.size() - begin)));
            if (!in_two_words_) continue;
            for (std::size_t i = 0; i < size; i += width()) sums_[0].carry(statistics + i);
        }
    }
    /// The histogram of one of the columns at hand.
    const Sum* histogram_of(std::size_t place) const {
        const bool are_drawn = problem_.limits.max_columns > 0;
        return histograms_ +
               (are_drawn ? place : static_cast<std::size_t>(search_->columns()[place])) * column_size();
    }
    /// The statistic of all rows: the histogram of every column that has bins adds up to it.
    std::vector<Sum> total() const {
        std::vector<Sum> total(width(), 0);
        const auto columns = search_->columns();
        const auto binned =
            std::ranges::find_if(columns, [&](auto column) { return problem_.columns[column].fine_bins; });
        if (binned == columns.end()) {
            in_blocks(rows_, total.data(), width(), [&](std::span<const Row> block) {
                for (const Row row : block) sums_[0].add_row(total.data(), row);
            });
            return total;
        }
        const Sum* const histogram = histogram_of(static_cast<std::size_t>(binned - columns.begin()));
        for (std::size_t i = 0; i < column_size(); ++i) total[i % width()] += histogram[i];
        return total;
    }
    void count_columns() {
        const auto columns = search_->columns();
        counted_.resize(columns.size());
        pool_.run(columns.size(), [&](std::size_t i, std::size_t thread) {
            problem_.interrupt->check();
            const auto& column = problem_.columns[columns[i]];
            search_->count(columns[i], column.fine_bins ? histogram_of(i) : count_codes(column, counted_[i]),
                           thread);
        });
    }
    const Sum* count_codes(const Column& column, std::vector<Sum>& counted) const {
        const auto n_codes = static_cast<std::size_t>(column.n_categories);
        counted.assign((n_codes + 1) * width(), 0);
        in_blocks(rows_, counted.data(), counted.size(), [&](std::span<const Row> block) {
            for (const Row row : block) {
                const auto code = column.code(row);
                const auto cell = code < 0 ? n_codes : static_cast<std::size_t>(code);
                sums_[0].add_row(counted.data() + cell * width(), row);
            }
        });
        return counted.data();
    }

    /// The rows of the open bins of one column.
    struct Opening {
        std::size_t column;
        std::array<std::uint8_t, n_bin_codes> is_open;
        std::array<std::uint32_t, n_bin_codes> end{};  // of each bin's rows in `picked`
        std::vector<PickedRow> picked{};
    };
    /// Tells the search what it wants to know of the open bins.
    void look_inside() {
        std::vector<Opening> openings;
        std::size_t n_picked = 0;
        const auto work_off = [&] {
            const auto found = pick_rows(openings);
            pool_.run(openings.size(), [&](std::size_t i, std::size_t thread) {
                for (const auto& part : found) put_in_bins(part[i], openings[i]);
                answer(openings[i], thread);
            });
            openings.clear();
            n_picked = 0;
        };
        for (std::size_t place = 0; place < search_->columns().size(); ++place) {
            if (problem_.columns[search_->columns()[place]].is_category()) continue;
            auto opening = opening_of(place);
            if (opening.picked.empty()) continue;
            n_picked += opening.picked.size();
            openings.push_back(std::move(opening));
            constexpr std::size_t most_picked = std::size_t{1} << 20;  // to bound the memory
            if (n_picked > most_picked) work_off();
        }
        work_off();
    }
    Opening opening_of(std::size_t place) const {
        const auto column = search_->columns()[place];
        const Sum* const histogram = histogram_of(place);
        Opening opening{static_cast<std::size_t>(column), search_->open_bins(column)};
        std::uint32_t n = 0;
        for (int bin = 0; bin < max_bins; ++bin) {
            if (!opening.is_open[bin]) continue;
            opening.end[bin] = n;
            n += static_cast<std::uint32_t>(sums_[0].layout().rows_of(histogram + bin * width()));
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
            sums_[thread].for_each_run(rows_.subspan(first, last - first),
                                       [&](std::size_t begin, std::size_t end, std::uint32_t tag) {
                                           pick_run(openings, rows_.subspan(first + begin, end - begin), tag,
                                                    found[part]);
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
    /// What a thread works with, kept for the next column.
    struct Spare {
        std::vector<PickedRow> picked;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted;
        std::vector<std::uint64_t> keys;
        std::vector<Sum> sums;
        std::size_t most_groups = 0;

        void clear(std::size_t n_rows) {
            keys.clear();
            sums.clear();
            most_groups = n_rows;
        }
        /// The statistic of a new group, all zeros.
        Sum* group(std::uint64_t key, std::size_t width) {
            constexpr std::size_t block = 64;  // groups made at a time
            const std::size_t n = keys.size();
            if (n * width == sums.size()) sums.resize((n + std::min(block, most_groups - n)) * width, 0);
            keys.push_back(key);
            return sums.data() + n * width;
        }
        Tally tally() const { return {keys, sums.data()}; }
    };
    /// The counts of a column by place and, where the search still wants them, by value.
    void answer(Opening& opening, std::size_t thread) {
        const auto column = static_cast<std::int32_t>(opening.column);
        Spare& spare = spare_[thread];
        sort_places(opening, spare);
        tally_places(opening.picked, sums_[thread], spare);
        search_->take_places(column, spare.tally(), thread);
        const auto places = search_->open_places(column);
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (!search_->is_open(column, places[i])) continue;
            tally_values(rows_at(opening, places[i].fine, places[i].fine), problem_.columns[column],
                         sums_[thread], spare);
            search_->take_values(column, i, spare.tally(), thread);
        }
        for (auto& cut : search_->cuts(column)) fill_gap(cut, opening);
    }
    static void sort_places(Opening& opening, Spare& spare) {
        std::uint32_t begin = 0;
        for (int bin = 0; bin < max_bins; ++bin) {
            if (!opening.is_open[bin]) continue;
            sort_by_place(std::span(opening.picked).subspan(begin, opening.end[bin] - begin), spare.picked);
            begin = opening.end[bin];
        }
    }
    void tally_places(std::span<const PickedRow> rows, const RowSums& sums, Spare& spare) const {
        spare.clear(rows.size());
        for (std::size_t begin = 0, end; begin < rows.size(); begin = end) {
            const FineBin fine = rows[begin].fine_bin();
            Sum* const statistic = spare.group(fine, width());
            for (end = begin; end < rows.size() && rows[end].fine_bin() == fine;) ++end;
            in_blocks(rows.subspan(begin, end - begin), statistic, width(), [&](auto block) {
                for (const PickedRow& each : block) sums.add(statistic, each.row(), each.tag());
            });
        }
    }
    void tally_values(std::span<const PickedRow> rows, const Column& column, const RowSums& sums,
                      Spare& spare) const {
        spare.clear(rows.size());
        auto& sorted = spare.sorted;
        sorted.clear();
        for (const auto& each : rows) sorted.emplace_back(order_key(column.value(each.row())), each.key);
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t begin = 0, end; begin < sorted.size(); begin = end) {
            Sum* const statistic = spare.group(sorted[begin].first, width());
            for (end = begin; end < sorted.size() && sorted[end].first == sorted[begin].first;) ++end;
            in_blocks(std::span(std::as_const(sorted)).subspan(begin, end - begin), statistic, width(),
                      [&](auto block) {
                          for (const auto& [key, picked] : block) {
                              const PickedRow row{picked};
                              sums.add(statistic, row.row(), row.tag());
                          }
                      });
        }
    }
    /// The picked rows of some neighbouring fine bins; they are in order.
    static std::span<const PickedRow> rows_at(const Opening& opening, FineBin first, FineBin last) {
        const auto fine = [](const PickedRow& row) { return row.fine_bin(); };
        const auto begin = std::ranges::lower_bound(opening.picked, first, {}, fine),
                   end = std::ranges::upper_bound(begin, opening.picked.end(), last, {}, fine);
        return {begin, end};
    }
    /// Fills in the values on both sides of a cut between places.
    void fill_gap(BinnedCut& cut, const Opening& opening) const {
        if (!cut.gap) return;
        const auto& column = problem_.columns[opening.column];
        cut.low = -std::numeric_limits<double>::infinity();
        cut.high = std::numeric_limits<double>::infinity();
        for (const auto& each : rows_at(opening, cut.gap->low_first, cut.gap->low_last))
            cut.low = std::max(cut.low, column.value(each.row()));
        for (const auto& each : rows_at(opening, cut.gap->high_first, cut.gap->high_last))
            cut.high = std::min(cut.high, column.value(each.row()));
        cut.gap.reset();
    }
    /// The values on both sides of a border; all known values lie left where none is above it.
    void find_gap(Split& split, const Gap& gap) const {
        const auto& source = problem_.columns[split.column];
        const int below = bin_of(gap.low_first), above = bin_of(gap.high_first);
        split.low = -std::numeric_limits<double>::infinity();
        split.high = std::numeric_limits<double>::infinity();
        for (const Row row : rows_) {
            const int bin = source.bin(row);
            if (bin == below)
                split.low = std::max(split.low, source.value(row));
            else if (bin == above)
                split.high = std::min(split.high, source.value(row));
        }
        if (above == max_bins) split.low = split.high;
    }

    const Problem& problem_;
    std::unique_ptr<SplitSearch> search_;
    Pool& pool_;
    const bool in_two_words_;
    const std::size_t block_;    // of rows, until sums are carried
    std::vector<RowSums> sums_;  // one per thread
    std::vector<Spare> spare_;   // one per thread
    std::vector<Sum> drawn_;     // histograms of drawn columns
    const Sum* histograms_ = nullptr;
    std::vector<std::vector<Sum>> counted_;  // of categories without bins
    std::span<const Row> rows_;
    bool are_placed_ = false;
};

/// Null where there are no histograms.
std::unique_ptr<SplitSearch> search_for(const Problem& problem, const Agreement& agreement,
                                        const Criterion& criterion, std::size_t n_threads) {
    if (!criterion.make_split_search || !problem.fine_bins) return nullptr;
    auto search = criterion.make_split_search(agreement, problem.limits, criterion.by_ratio,
                                              needs_two_words(problem, agreement), n_threads);
    constexpr std::size_t affordable = std::size_t{256} << 20;  // bytes for the histograms of one node
    if (!search || problem.columns.size() * n_bin_codes * search->width() * sizeof(Sum) > affordable)
        return nullptr;
    return search;
}

}  // namespace

bool has_histograms(const Problem& problem, const Agreement& agreement, const Criterion& criterion) {
    return search_for(problem, agreement, criterion, 1) != nullptr;
}

std::unique_ptr<LargeSearcher> make_histogram_finder(const Problem& problem, const Agreement& agreement,
                                                     const Criterion& criterion, Pool& pool) {
    auto search = search_for(problem, agreement, criterion, pool.size());
    if (!search) return nullptr;
    if (agreement.are_classes())
        return std::make_unique<HistogramFinder<ClassSums>>(problem, agreement, std::move(search), pool);
    return std::make_unique<HistogramFinder<SquareSums>>(problem, agreement, std::move(search), pool);
}

}  // namespace treewright
