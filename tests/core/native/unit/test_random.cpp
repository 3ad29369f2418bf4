// The stream of random numbers: splitmix64, and draws from it.
#include <algorithm>
#include <array>
#include <vector>

#include "data/problem.hpp"
#include "growers/column_draw.hpp"
#include "harness.hpp"

using namespace treewright;

TEST("random: the stream is splitmix64") {
    // The first numbers of Vigna's splitmix64.c from the seed 1234567.
    Random random{1234567};
    for (const std::uint64_t expected :
         {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL, 4593380528125082431ULL,
          16408922859458223821ULL})
        CHECK_EQUAL(random.next(), expected);
}

TEST("random: below(n) is the high word of a product") {
    Random random{1};
    Random same{1};
    for (const std::size_t n : {1UL, 2UL, 3UL, 10UL, 1000003UL}) {
        const auto drawn = random.below(n);
        CHECK(drawn < n);
        // n is small: the product of the 32 high bits decides, unless the rest carries over.
        const double share = static_cast<double>(same.next()) * 0x1p-64 * static_cast<double>(n);
        CHECK(static_cast<double>(drawn) <= share * (1 + 1e-15));
        CHECK(share * (1 - 1e-15) < static_cast<double>(drawn) + 1);
    }
}

TEST("random: draws are uniform") {
    Random random{7};
    std::array<int, 7> counts{};
    constexpr int n = 70000;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        ++counts[random.below(counts.size())];
        const double x = random.uniform();
        CHECK(x >= 0 && x < 1);
        sum += x;
    }
    for (const int count : counts) CHECK(std::abs(count - n / 7) < 500);  // five standard deviations
    CHECK(std::abs(sum / n - 0.5) < 0.0055);
}

TEST("random: the streams of two children differ from each other and from their parent's") {
    const std::uint64_t key = 99, left = Random::child(key, true), right = Random::child(key, false);
    CHECK(left != right);
    CHECK(left != key && right != key);
}

TEST("random: columns are drawn without repeats, and the same ones for the same key") {
    Problem problem;
    problem.columns.resize(20);
    problem.limits.max_columns = 5;
    ColumnDraw draw(problem);
    const auto all_of = [&](std::uint64_t key) {
        std::vector<std::int32_t> drawn;
        for (auto batch = draw.first(key); !batch.empty(); batch = draw.next())
            drawn.insert(drawn.end(), batch.begin(), batch.end());
        return drawn;
    };
    const auto once = all_of(3);
    CHECK(all_of(4) != once);
    CHECK(all_of(3) == once);
    auto sorted = once;
    std::sort(sorted.begin(), sorted.end());
    CHECK_EQUAL(sorted.size(), problem.columns.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) CHECK_EQUAL(sorted[i], static_cast<std::int32_t>(i));
}
