// Bins: they order as the values do, whatever the sample that chose their edges.
#include <vector>

#include "data/binning.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

Bins bins_of(const std::vector<Column>& columns, std::size_t n_rows, std::size_t n_threads = 1) {
    Interrupt interrupt = tables::undisturbed();
    Pool pool(n_threads, interrupt);
    return bin_columns(columns, n_rows, pool, interrupt);
}

}  // namespace

TEST("binning: fine bins order as the values, and equal values share one") {
    for (const std::size_t n : {5, 200, 5000}) {
        const auto values = tables::mixed_numbers(n, n);
        const auto bins = bins_of({tables::column_of(values)}, n);
        for (std::size_t i = 0; i + 1 < n; ++i) {
            const double a = values[i], b = values[i + 1];
            CHECK_EQUAL(bin_of(bins.fine[i]) == missing_bin, std::isnan(a));
            if (a == b) CHECK_EQUAL(bins.fine[i], bins.fine[i + 1]);
            if (a < b) CHECK(bins.fine[i] <= bins.fine[i + 1]);
            if (a > b) CHECK(bins.fine[i] >= bins.fine[i + 1]);
        }
    }
}

TEST("binning: a bin is mixed exactly where it holds a value that is not its edge") {
    std::vector<double> values(5000);
    Random random{5};
    for (auto& value : values) value = static_cast<double>(random.below(40));
    const auto few = bins_of({tables::column_of(values)}, values.size());
    for (const auto mixed : few.is_mixed) CHECK_EQUAL(static_cast<int>(mixed), 0);
    for (auto& value : values) value = random.uniform();
    const auto many = bins_of({tables::column_of(values)}, values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = i + 1; j < std::min(values.size(), i + 50); ++j)
            if (bin_of(many.fine[i]) == bin_of(many.fine[j]) && values[i] != values[j])
                CHECK(many.is_mixed[static_cast<std::size_t>(bin_of(many.fine[i]))] != 0);
}

TEST("binning: threads and floats of 32 bits change nothing") {
    const std::size_t n = 6000;
    std::vector<float> singles(n);
    Random random{11};
    for (auto& value : singles) value = static_cast<float>(random.uniform());
    const std::vector<double> doubles(singles.begin(), singles.end());
    const auto expected = bins_of({tables::column_of(doubles)}, n);
    const auto found = bins_of({tables::column_of(singles)}, n, 3);
    CHECK(expected.fine == found.fine);
    CHECK(expected.is_mixed == found.is_mixed);
}

TEST("binning: categories are their codes, and too many of them have no bins") {
    const std::vector<std::int32_t> codes{0, 7, -1, 254, 3};
    const auto bins = bins_of({tables::column_of(codes, 255), tables::column_of(codes, 256)}, codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
        CHECK_EQUAL(bin_of(bins.fine[2 * i]), codes[i] < 0 ? missing_bin : codes[i]);
        CHECK_EQUAL(bins.fine[2 * i + 1], FineBin{0});
    }
}
