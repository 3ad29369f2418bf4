// Packed sums of gradient boosting: nothing overflows, in tables of up to 2^31 rows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boosting/adding.hpp"
#include "boosting/sums.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;
using namespace treewright::boosting;

namespace {

constexpr double largest = 0.9999999;  // of gradients and hessians: nearly a power of two, above the unit

/// `n` times an entry, as adding it up would leave it.
std::int64_t repeated(std::int64_t entry, std::size_t n) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(entry) * n);
}
WholePair repeated(const WholePair& entry, std::size_t n) {
    return WholePair{repeated(entry[0], n), repeated(entry[1], n)};
}

/// Of `n_rows` rows with the largest gradient and hessian the packed sums of as many as are added up at a
/// time must give what they are made of, and the sums of all must fit in what nodes have for them.
template <class Form>
void check_room(std::size_t n_rows) {
    const Units units = Form::units(n_rows, largest, largest);
    const std::size_t n_packed = std::min(n_rows, most_packed);
    for (const double gradient : {largest, -largest}) {
        const auto row = Form::pack(units, gradient, largest);
        const auto entry = Form::entry(row, units.count_bits);
        const Sums one = Form::unpack(units, entry), sums = Form::unpack(units, repeated(entry, n_packed));
        const auto n = static_cast<std::int64_t>(n_packed);
        CHECK_EQUAL(sums.count, n);
        CHECK_EQUAL(sums.gradient, n * one.gradient);
        CHECK_EQUAL(sums.hessian, n * one.hessian);
        CHECK_EQUAL(one.gradient, rounded(gradient / units.gradient));
        const Int128 of_all = Int128(static_cast<std::int64_t>(n_rows)) * Int128(one.gradient);
        CHECK(of_all < Int128(std::int64_t{1} << 62) && -of_all < Int128(std::int64_t{1} << 62));
    }
}

/// The sums of both cells and of all rows as threads make them, emptying packed ones on the way.
std::vector<Sums> added_up(std::size_t n_rows, std::size_t n_threads) {
    Cells cells;
    cells.n_rows = n_rows;
    cells.columns.resize(1);
    cells.columns[0].n_values = 2;
    cells.start = {0, 2};
    cells.by_row = UnfilledVector<std::uint8_t>(n_rows);
    std::vector<double> gradient(n_rows, -largest), hessian(n_rows, largest);
    std::vector<Row> order(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) cells.by_row[i] = i % 16 == 0;
    Interrupt interrupt = tables::undisturbed();
    Pool pool(n_threads, interrupt);
    const Units units = Wide<std::int32_t>::units(n_rows, largest, largest);
    Adder<Wide<std::int32_t>, LooseSums> adder(cells, n_rows);
    std::vector<Sums> histogram(2);
    adder.use(pool, interrupt, units);
    adder.begin(histogram.data(), order.data(), n_rows);
    const Sums all = adder.pack(gradient.data(), hessian.data(), {}, order.data(), true);
    adder.finish(0, [](std::size_t, std::size_t, std::size_t) {});
    histogram.push_back(all);
    return histogram;
}

}  // namespace

TEST("boosting sums: packed sums have room for the largest rows of any table") {
    for (const std::size_t n : {1, 2, 3, 1000, 1 << 17, (1 << 20) - 1}) {
        check_room<Narrow<std::int64_t>>(n);
        check_room<Narrow<std::int32_t>>(n);
    }
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{1000}, most_packed - 1, most_packed, most_packed + 1,
          std::size_t{1} << 25, (std::size_t{1} << 31) - 1, std::size_t{1} << 31}) {
        check_room<Wide<std::int64_t>>(n);
        check_room<Wide<std::int32_t>>(n);
    }
}

TEST("boosting sums: packed sums of more rows than they have room for are emptied in time") {
    const std::size_t n = 3 * most_packed + 12345, n_few = (n + 15) / 16;
    const Units units = Wide<std::int32_t>::units(n, largest, largest);
    const auto row = Wide<std::int32_t>::pack(units, -largest, largest);
    for (const std::size_t n_threads : {1, 2}) {
        const auto sums = added_up(n, n_threads);
        const std::size_t counts[] = {n - n_few, n_few, n};
        for (std::size_t i = 0; i < 3; ++i) {
            const auto count = static_cast<std::int64_t>(counts[i]);
            CHECK_EQUAL(sums[i].count, count);
            CHECK_EQUAL(sums[i].gradient, count * row.gradient);
            CHECK_EQUAL(sums[i].hessian, count * row.hessian);
        }
    }
}
