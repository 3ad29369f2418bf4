// An excerpt says of its rows what the whole table says of them.
#include <cstring>
#include <vector>

#include "data/binning.hpp"
#include "data/excerpt.hpp"

#include "data/agreement.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

/// A table of all kinds of columns, with targets of two outputs, weights and bins.
struct Whole {
    static constexpr std::size_t n = 1500;  // several blocks of rows
    std::vector<double> doubles = tables::mixed_numbers(n, 41), weight, numbers;
    std::vector<float> singles;
    std::vector<std::int32_t> codes, labels;
    Bins bins;
    Interrupt interrupt = tables::undisturbed();
    Problem problem;
    std::vector<Row> rows;

    Whole() {
        Random random{42};
        for (const double value : tables::mixed_numbers(n, 43)) singles.push_back(static_cast<float>(value));
        for (std::size_t row = 0; row < n; ++row) {
            codes.push_back(static_cast<std::int32_t>(random.below(6)) - 1);
            weight.push_back(random.uniform() + 0.5);
            if (random.below(3) == 0) rows.push_back(static_cast<Row>(n - 1 - row));
        }
        for (std::size_t i = 0; i < 2 * n; ++i) {
            labels.push_back(static_cast<std::int32_t>(random.below(4)));
            numbers.push_back(random.uniform());
        }
        problem.columns = {tables::column_of(doubles), tables::column_of(singles),
                           tables::column_of(codes, 5)};
        problem.n_rows = n;
        problem.interrupt = &interrupt;
        problem.targets.n_outputs = 2;
        problem.targets.weight = weight.data();
        Pool pool(1, interrupt);
        bins = bin_columns(problem.columns, n, pool, interrupt);
        problem.fine_bins = bins.fine.data();
        for (std::size_t i = 0; i < problem.columns.size(); ++i) {
            problem.columns[i].fine_bins = bins.fine.data() + i;
            problem.columns[i].fine_stride = problem.columns.size();
            problem.columns[i].is_mixed = bins.is_mixed.data() + i * 256;
        }
    }
};

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

TEST("excerpt: cells, bins and weights are those of the rows behind it") {
    Whole whole;
    whole.problem.targets.labels = whole.labels.data();
    const Excerpt excerpt(whole.problem, whole.rows);
    const Problem& part = excerpt.problem;
    CHECK_EQUAL(part.n_rows, whole.rows.size());
    for (Row row = 0; row < part.n_rows; ++row) {
        const Row original = whole.rows[row];
        CHECK_EQUAL(excerpt.original(row), original);
        CHECK_EQUAL(part.rows[row], row);
        CHECK_EQUAL(part.weight(row), whole.weight[original]);
        CHECK(same_bits(part.columns[0].value(row), whole.doubles[original]));
        CHECK(same_bits(part.columns[1].value(row), static_cast<double>(whole.singles[original])));
        CHECK_EQUAL(part.columns[2].code(row), whole.codes[original]);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK_EQUAL(part.columns[i].fine_bin(row), whole.bins.fine[original * 3 + i]);
            CHECK_EQUAL(part.fine_bins[row * 3 + i], whole.bins.fine[original * 3 + i]);
        }
        for (std::size_t output = 0; output < 2; ++output)
            CHECK_EQUAL(part.label(row, output), whole.labels[output * Whole::n + original]);
    }
    // as many rows of 22 bytes as fit into 16 MB, but at most 65,536 and half of them
    const Agreement agreement = agree_on(whole.problem, {});
    CHECK_EQUAL(agreement.most_excerpted(1000), std::size_t{500});
    CHECK_EQUAL(agreement.most_excerpted(1000000), std::size_t{65536});
}

TEST("excerpt: targets of numbers, no bins where cuts are drawn") {
    Whole whole;
    whole.problem.targets.numbers = whole.numbers.data();
    whole.problem.limits.random_splits = true;
    const Excerpt excerpt(whole.problem, whole.rows);
    CHECK(!excerpt.problem.targets.are_classes());
    CHECK(excerpt.problem.fine_bins == nullptr && excerpt.problem.columns[0].fine_bins == nullptr);
    for (Row row = 0; row < excerpt.problem.n_rows; ++row)
        for (std::size_t output = 0; output < 2; ++output)
            CHECK_EQUAL(excerpt.problem.number(row, output),
                        whole.numbers[output * Whole::n + whole.rows[row]]);
}
