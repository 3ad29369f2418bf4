// The split of a large node from counts alone: added up over blocks of rows it is that of all rows in one
// place.
#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "criteria/criterion.hpp"
#include "growers/histogram_finder.hpp"
#include "growers/row_sums.hpp"
#include "growers/split_search.hpp"
#include "harness.hpp"
#include "node_tables.hpp"

using namespace treewright;

namespace {

/// Some rows of a table that answer for themselves, as plainly as can be.
template <class RowSums>
class Block {
  public:
    Block(Excerpt& excerpt, const Agreement& agreement, const Grids& grids)
        : problem_(excerpt.problem),
          sums_(problem_, agreement, agreement.need_two_words(agreement.n_counted)),
          in_two_words_(agreement.need_two_words(agreement.n_counted)) {
        sums_.put(problem_.rows, grids);
    }

    Answers answer(const Wishes& wishes, std::size_t width) const {
        Answers answers{.width = width};
        if (wishes.kind == Wishes::Kind::squares) {
            ExactSum sum = sums_.squares(problem_.rows, wishes.mean);
            answers.width = sum.words().size();
            answers.add(0, sum.words().data());
            answers.end_item();
            return answers;
        }
        for (std::size_t i = 0; i < wishes.columns.size(); ++i) {
            std::map<std::uint64_t, std::vector<Sum>> groups;
            for (const Row row : problem_.rows)
                if (const auto key = key_of(wishes, i, row); key != none) {
                    auto& statistic = groups[key];
                    statistic.resize(width, 0);
                    sums_.add_row(statistic.data(), row);
                    if (in_two_words_) sums_.carry(statistic.data());
                }
            for (const auto& [key, statistic] : groups) answers.add(key, statistic.data());
            answers.end_item();
        }
        return answers;
    }
    /// Takes part in the search for the values on both sides of a cut.
    void widen(const Gap& gap, std::int32_t column, double& low, double& high) const {
        const Column& source = problem_.columns[column];
        for (const Row row : problem_.rows) {
            const FineBin fine = source.fine_bin(row);
            if (fine >= gap.low_first && fine <= gap.low_last) low = std::max(low, source.value(row));
            if (fine >= gap.high_first && fine <= gap.high_last && bin_of(fine) != missing_bin)
                high = std::min(high, source.value(row));
        }
    }

  private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    std::uint64_t key_of(const Wishes& wishes, std::size_t i, Row row) const {
        const Column& column = problem_.columns[wishes.columns[i]];
        if (wishes.kind == Wishes::Kind::counts) {
            if (column.fine_bins) return static_cast<std::uint64_t>(column.bin(row));
            return static_cast<std::uint64_t>(column.code(row) < 0 ? column.n_categories : column.code(row));
        }
        const FineBin fine = column.fine_bin(row), place = static_cast<FineBin>(wishes.places[i]);
        if (wishes.kind == Wishes::Kind::places) return bin_of(fine) == bin_of(place) ? fine : none;
        return fine == place ? order_key(column.value(row)) : none;
    }

    const Problem& problem_;
    RowSums sums_;
    bool in_two_words_;
};

/// The split from the answers of blocks.
template <class RowSums>
Split split_by_blocks(SplitSearch& search, tables::RandomTable& table, const Agreement& agreement,
                      const Grids& grids, std::uint64_t key, int& n_rounds) {
    const auto excerpts = table.blocks();
    std::vector<std::unique_ptr<Block<RowSums>>> blocks;
    for (const auto& excerpt : excerpts)
        blocks.push_back(std::make_unique<Block<RowSums>>(*excerpt, agreement, grids));
    Wishes wishes = search.begin(key, grids);
    for (n_rounds = 0; !wishes.is_empty(); ++n_rounds) {
        Answers all = blocks.front()->answer(wishes, search.width());
        for (std::size_t i = 1; i < blocks.size(); ++i)
            all = join(all, blocks[i]->answer(wishes, search.width()));
        wishes = search.feed(all);
    }
    Split split = search.split();
    if (!split.found() || !search.gap()) return split;
    split.low = -std::numeric_limits<double>::infinity();
    split.high = std::numeric_limits<double>::infinity();
    for (const auto& block : blocks) block->widen(*search.gap(), split.column, split.low, split.high);
    if (bin_of(search.gap()->high_first) == missing_bin) split.low = split.high;
    return split;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value + 0.0); }

void compare(const Split& wanted, const Split& found) {
    CHECK_EQUAL(found.column, wanted.column);
    if (!wanted.found() || found.column != wanted.column) return;
    CHECK_EQUAL(bits(found.gain), bits(wanted.gain));
    CHECK_EQUAL(bits(found.rank), bits(wanted.rank));
    CHECK_EQUAL(bits(found.low), bits(wanted.low));
    CHECK_EQUAL(bits(found.high), bits(wanted.high));
    CHECK_EQUAL(found.bin, wanted.bin);
    CHECK_EQUAL(found.at_border, wanted.at_border);
    CHECK_EQUAL(found.missing_left, wanted.missing_left);
    CHECK_EQUAL(found.saw_missing, wanted.saw_missing);
    CHECK_EQUAL(found.is_heavier_left, wanted.is_heavier_left);
    CHECK(found.left_codes == wanted.left_codes);
    CHECK(found.right_codes == wanted.right_codes);
}

/// Limits at random.
std::function<void(Limits&)> drawn_by(Random& random) {
    return [&](Limits& limits) {
        if (random.below(3) == 0) limits.min_rows_leaf = 1 + static_cast<std::int64_t>(random.below(20));
        if (random.below(4) == 0) limits.min_weight_leaf = random.uniform() * 30;
        if (random.below(6) == 0) limits.min_gain = random.uniform() * 20;
        if (random.below(3) == 0) limits.max_columns = 1 + static_cast<std::int64_t>(random.below(4));
        if (random.below(2) == 0)
            limits.correction = random.below(2) == 0 ? Correction::by_weight : Correction::by_rows;
    };
}

/// What the tests have met: they would tell nothing of what they never see.
struct Seen {
    int borders = 0, insides = 0, categories = 0, none = 0, most_rounds = 0;
};

Split split_by_finder(LargeSearcher& finder, const Problem& problem, Grids& grids, std::uint64_t key) {
    finder.place(problem.rows, grids);
    std::vector<Sum> histograms(finder.histogram_size());
    finder.build(problem.rows, histograms.data());
    return finder.search(problem.rows, histograms.data(), grids, key);
}

template <class RowSums>
void compare_on(tables::RandomTable& table, const Criterion& criterion, Seen& seen,
                const std::function<void(Limits&)>& limit, std::int64_t word_rows = any_number) {
    Problem& problem = table.problem;
    if (problem.rows.size() < 2 || problem.is_pure(problem.rows)) return;
    limit(problem.limits);
    const std::uint64_t key = table.random().next();
    const Agreement agreement = agree_on(problem, tables::grids_for(problem), word_rows);
    const auto finder = make_histogram_finder(problem, agreement, criterion, table.pool());
    Grids grids = agreement.grids;
    const Split wanted = split_by_finder(*finder, problem, grids, key);

    const auto search = criterion.make_split_search(agreement, problem.limits, criterion.by_ratio,
                                                    agreement.need_two_words(agreement.n_counted), 1);
    int n_rounds = 0;
    compare(wanted, split_by_blocks<RowSums>(*search, table, agreement, grids, key, n_rounds));
    const bool is_number = wanted.found() && wanted.left_codes.empty();
    ++(!wanted.found()    ? seen.none
       : !is_number       ? seen.categories
       : wanted.at_border ? seen.borders
                          : seen.insides);
    seen.most_rounds = std::max(seen.most_rounds, n_rounds);
}

void check_seen(const Seen& seen) {
    CHECK(seen.borders > 0);
    CHECK(seen.insides > 0);
    CHECK(seen.categories > 0);
    CHECK(seen.most_rounds >= 3);
}

constexpr tables::Weights all_weights[] = {tables::Weights::none, tables::Weights::counts,
                                           tables::Weights::real};

}  // namespace

TEST("split search: blocks of rows find the split of classes that all rows find") {
    std::uint64_t seed = 0;
    for (const auto* name : {"gini", "entropy", "gain_ratio", "error", "sqrt"}) {
        Seen seen;
        for (const std::int32_t n_classes : {2, 3, 10})
            for (const auto weights : all_weights)
                for (const std::size_t n : {3, 30, 300, 700, 1500}) {
                    tables::RandomTable table(n + seed % 7, n_classes, weights, seed);
                    ++seed;
                    compare_on<ClassSums>(table, criterion_named(name), seen, drawn_by(table.random()));
                }
        check_seen(seen);
    }
}

TEST("split search: blocks of rows find the split of numbers that all rows find") {
    std::uint64_t seed = 1000;
    Seen seen;
    for (const auto weights : all_weights)
        for (const std::size_t n : {2, 3, 5, 30, 70, 300, 500, 700, 1500, 3000}) {
            tables::RandomTable table(n, 0, weights, ++seed);
            compare_on<SquareSums>(table, criterion_named("squared_error"), seen, drawn_by(table.random()));
        }
    check_seen(seen);
}

TEST("split search: sums of two words of blocks of rows add up to those of all rows") {
    std::uint64_t seed = 2000;
    for (const std::int64_t word_rows : {1, 8, 64}) {
        Seen seen;
        for (const auto weights : all_weights)
            for (const std::size_t n : {70, 300, 700, 1500, 3000}) {
                tables::RandomTable numbers(n, 0, weights, ++seed);
                compare_on<SquareSums>(numbers, criterion_named("squared_error"), seen,
                                       drawn_by(numbers.random()), word_rows);
                for (const auto* name : {"gini", "entropy"})
                    for (const std::int32_t n_classes : {2, 3}) {
                        tables::RandomTable classes(n, n_classes, weights, ++seed);
                        compare_on<ClassSums>(classes, criterion_named(name), seen,
                                              drawn_by(classes.random()), word_rows);
                    }
            }
        check_seen(seen);
    }
}

TEST("split search: sums of one word and of two find the same split to the last bit") {
    constexpr std::int64_t word_rows = 64;  // on their grid one word holds the sums of 300 rows, too
    std::uint64_t seed = 3000;
    for (const auto weights : all_weights)
        for (const std::int32_t n_classes : {0, 2, 3, 10})
            for (const auto* name : {"gini", "entropy", "gain_ratio", "error", "sqrt"})
                for (int repeat = 0; repeat < 4; ++repeat) {
                    ++seed;
                    tables::RandomTable table(300 - seed % 100, n_classes, weights, seed);
                    Problem& problem = table.problem;
                    drawn_by(table.random())(problem.limits);
                    const Criterion& criterion = criterion_named(n_classes > 0 ? name : "squared_error");
                    Agreement agreement = agree_on(problem, tables::grids_for(problem), word_rows);
                    const std::uint64_t key = table.random().next();
                    std::vector<Split> splits;
                    for (const auto rows : {word_rows, any_number}) {
                        agreement.word_rows = rows;
                        const auto finder =
                            make_histogram_finder(problem, agreement, criterion, table.pool());
                        Grids grids = agreement.grids;
                        splits.push_back(split_by_finder(*finder, problem, grids, key));
                    }
                    compare(splits[1], splits[0]);
                }
}

TEST("split search: columns that are drawn later are corrected for chance like the first ones") {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        tables::RandomTable table(60, 0, tables::Weights::none, seed, true);
        Seen seen;
        compare_on<SquareSums>(table, criterion_named("squared_error"), seen, [](Limits& limits) {
            limits.max_columns = 1;
            limits.correction = Correction::by_rows;
        });
    }
}

TEST("split search: answers join by key") {
    Answers one{.width = 2}, other{.width = 2};
    const Sum sums[] = {1, 2, 3, 4, 5, 6};
    one.add(3, sums);
    one.add(7, sums + 2);
    one.end_item();
    one.end_item();
    other.add(5, sums);
    other.add(7, sums + 4);
    other.end_item();
    other.add(1, sums);
    other.end_item();
    const Answers all = join(one, other);
    CHECK((all.start == std::vector<std::int64_t>{0, 3, 4}));
    CHECK((all.keys == std::vector<std::uint64_t>{3, 5, 7, 1}));
    CHECK((all.sums == std::vector<std::int64_t>{1, 2, 1, 2, 8, 10, 1, 2}));
}
