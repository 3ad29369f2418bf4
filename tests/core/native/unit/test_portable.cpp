// 128-bit integers in two words beside those of the compiler, where it has them.
#include <algorithm>
#include <limits>
#include <vector>

#include "data/problem.hpp"
#include "harness.hpp"
#include "support/portable.hpp"

using namespace treewright;

TEST("portable: the high word of a product") {
    constexpr std::uint64_t most = ~std::uint64_t{0};
    CHECK_EQUAL(plain_high_word(most, most), most - 1);
    CHECK_EQUAL(plain_high_word(most, 1), 0U);
    CHECK_EQUAL(plain_high_word(std::uint64_t{1} << 32, std::uint64_t{1} << 32), 1U);
    CHECK_EQUAL(plain_high_word(0x123456789abcdef0, 0x0fedcba987654321), 0x0121fa00ad77d742U);
    Random random{2};
    for (int i = 0; i < 1000; ++i) {
        const auto a = random.next(), b = random.next() >> random.below(64);
        CHECK_EQUAL(plain_high_word(a, b), high_word(a, b));
    }
}

TEST("portable: two words add, multiply and compare") {
    const TwoWords big =
        TwoWords(std::numeric_limits<std::int64_t>::max()) * std::numeric_limits<std::int64_t>::max();
    CHECK(big > TwoWords(0) && -big < TwoWords(0) && big - big == TwoWords(0));
    CHECK(big + 1 > big && big - 1 < big && big + -big == 0);
    CHECK_EQUAL(static_cast<double>(big), 0x1p126);
    CHECK_EQUAL(static_cast<double>(-big), -0x1p126);
    // Ties go to even: 2^64 + 2^11 lies halfway between two doubles, one more does not.
    const TwoWords power = TwoWords(std::int64_t{1} << 32) * (std::int64_t{1} << 32);
    CHECK_EQUAL(static_cast<double>(power + 2048), 0x1p64);
    CHECK_EQUAL(static_cast<double>(power + 2049), 0x1p64 + 4096);
    CHECK_EQUAL(static_cast<double>(power + 6144), 0x1p64 + 8192);
    const TwoWords least = power * (std::int64_t{1} << 62) * 2;  // 2^127 is −2^127
    CHECK_EQUAL(static_cast<double>(least), -0x1p127);
}

#if TREEWRIGHT_GNU
namespace {

/// Numbers of all sizes, both signs, and the ends of the range.
std::vector<std::int64_t> whole_numbers() {
    using Limits = std::numeric_limits<std::int64_t>;
    std::vector<std::int64_t> numbers{0,
                                      1,
                                      -1,
                                      2,
                                      -2,
                                      0xffffffff,
                                      -0xffffffffLL,
                                      Limits::max(),
                                      Limits::min(),
                                      Limits::max() - 1,
                                      Limits::min() + 1};
    Random random{8};
    for (int i = 0; i < 200; ++i)
        numbers.push_back(static_cast<std::int64_t>(random.next()) >> random.below(64));
    return numbers;
}

}  // namespace

TEST("portable: two words are the compiler's 128 bits") {
    const auto numbers = whole_numbers();
    const auto same = [](TwoWords two, Int128 one) {
        return two == TwoWords(static_cast<std::int64_t>(one >> 64)) * TwoWords(std::int64_t{1} << 32) *
                              TwoWords(std::int64_t{1} << 32) +
                          TwoWords(static_cast<std::int64_t>(static_cast<std::uint64_t>(one) >> 1)) * 2 +
                          TwoWords(static_cast<std::int64_t>(one & 1)) &&
               static_cast<double>(two) == static_cast<double>(one);
    };
    for (const auto a : numbers)
        for (const auto b : numbers) {
            const Int128 product = static_cast<Int128>(a) * b;
            const TwoWords own = static_cast<TwoWords>(a) * b;
            CHECK(same(own, product));
            CHECK(same(own - b, product - b));
            CHECK(same(-own + a, -product + a));
            CHECK_EQUAL(own < TwoWords(b) * b, product < static_cast<Int128>(b) * b);
        }
}
#endif
