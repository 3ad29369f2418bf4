// Rows sent left or right by their values, beside the definition of a split.
#include <algorithm>
#include <vector>

#include "growers/sides.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

constexpr std::size_t n_rows = 200;

/// All rows but every fifth, backwards, and every other id.
void compare(const Column& column, const Split& split, const std::vector<std::uint8_t>& expected_of_row) {
    Problem problem;
    problem.columns = {Column(), column};
    problem.n_rows = n_rows;
    std::vector<Row> rows;
    for (Row row = n_rows; row-- > 0;)
        if (row % 5 != 0) rows.push_back(row);
    std::vector<std::uint16_t> ids;
    for (std::size_t id = 0; id < rows.size(); id += 2) ids.push_back(static_cast<std::uint16_t>(id));
    constexpr std::uint8_t untouched = 7;
    std::vector<std::uint8_t> goes_left(rows.size(), untouched);
    const std::size_t n_left = mark_by_value<std::uint16_t>(problem, split, rows, ids, goes_left);
    std::size_t expected = 0;
    for (std::size_t id = 0; id < rows.size(); ++id) {
        CHECK_EQUAL(int{goes_left[id]}, id % 2 == 0 ? int{expected_of_row[rows[id]]} : int{untouched});
        if (id % 2 == 0) expected += expected_of_row[rows[id]];
    }
    CHECK_EQUAL(n_left, expected);
}

}  // namespace

TEST("sides: numbers of both types, missing ones where the split sends them") {
    const auto values = tables::mixed_numbers(n_rows, 31);
    const std::vector<float> singles(values.begin(), values.end());
    for (const bool missing_left : {false, true})
        for (const double low : {-2.0, -0.0, 0.0, 1.5, std::numeric_limits<double>::infinity()}) {
            Split split;
            split.column = 1;
            split.low = low;
            split.missing_left = missing_left;
            std::vector<std::uint8_t> expected(n_rows), expected_single(n_rows);
            for (std::size_t row = 0; row < n_rows; ++row) {
                expected[row] = std::isnan(values[row]) ? missing_left : values[row] <= low;
                expected_single[row] =
                    std::isnan(values[row]) ? missing_left : static_cast<double>(singles[row]) <= low;
            }
            compare(tables::column_of(values), split, expected);
            compare(tables::column_of(singles), split, expected_single);
        }
}

TEST("sides: categories that the split names, and missing ones") {
    Random random{32};
    std::vector<std::int32_t> codes(n_rows);
    for (auto& code : codes) code = static_cast<std::int32_t>(random.below(8)) - 1;
    for (const bool missing_left : {false, true}) {
        Split split;
        split.column = 1;
        split.left_codes = {0, 3, 4};
        split.missing_left = missing_left;
        std::vector<std::uint8_t> expected;
        for (const auto code : codes)
            expected.push_back(code == missing_code ? missing_left : code == 0 || code == 3 || code == 4);
        compare(tables::column_of(codes, 7), split, expected);
    }
}
