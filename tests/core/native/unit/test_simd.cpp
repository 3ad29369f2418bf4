// Every form of the vectors gives the bits of the plain one.
#include <array>
#include <bit>
#include <vector>

#include "data/grids.hpp"
#include "harness.hpp"
#include "scanners/linear_scanners.hpp"
#include "support/simd.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

template <class Whole>
auto numbers_of(const Whole& lanes) {
    return std::bit_cast<std::array<std::int32_t, 4>>(lanes);
}

/// Problems of two classes: the scores that count are found at the same cuts by any form.
struct TwoClasses {
    std::vector<std::int32_t> labels;
    Problem problem;

    TwoClasses(std::size_t n, std::uint64_t seed, std::size_t one_in) : labels(n) {
        Random random{seed};
        for (auto& label : labels) label = random.below(one_in) == 0;
        labels[0] = 0;
        labels[n - 1] = 1;
        problem.n_rows = n;
        problem.targets.labels = labels.data();
        problem.targets.n_classes = {2};
        Interrupt interrupt = tables::undisturbed();
        Pool alone(1, interrupt);
        sort_rows(problem, alone);
    }
};

template <class Lanes>
std::vector<std::size_t> cuts_found(const PairScanner<std::uint16_t>& scanner,
                                    const std::vector<std::uint16_t>& list, double least) {
    std::vector<std::size_t> cuts;
    auto cursor = scanner.cursor();
    for (std::size_t i = 1; i < list.size(); ++i) {
        if constexpr (std::is_void_v<Lanes>) {
            for (; i < list.size(); ++i) {
                cursor.add(list[i - 1]);
                if (cursor.score(i) > least) break;
            }
        } else {
            i = cursor.template seek<Lanes>(list.data(), i, list.size() - 1, 0, least);
        }
        if (i < list.size()) cuts.push_back(i);
    }
    return cuts;
}

}  // namespace

TEST("simd: four lanes are those of the plain form") {
    Random random{4};
    for (int round = 0; round < 2000; ++round) {
        std::uint16_t entries[4];
        for (auto& entry : entries) entry = static_cast<std::uint16_t>(random.next() >> random.below(64));
        const auto least = static_cast<std::uint16_t>(random.next() >> random.below(64));
        const auto then = static_cast<std::int32_t>(random.below(60000)) - 30000,
                   less = static_cast<std::int32_t>(random.below(1000));
        const auto sums = [&]<class Lanes>(Lanes) {
            return Lanes::running_sums(
                Lanes::subtract(Lanes::where_from(entries, least, Lanes::all(then)), Lanes::all(less)));
        };
        const auto plain = sums(PlainLanes{});
        const auto fast = sums(Lanes4{});
        CHECK(numbers_of(plain) == numbers_of(fast));
        const float four[] = {1.0F / static_cast<float>(1 + random.below(1000)), 0.1F, 0.7F,
                              static_cast<float>(random.uniform())};
        const float limit = static_cast<float>(random.uniform() * 1e9);
        const auto is_above = [&]<class Lanes>(Lanes, typename Lanes::Whole whole) {
            const auto real = Lanes::to_real(whole);
            return Lanes::any_above(Lanes::multiply(Lanes::multiply(real, real), Lanes::load(four)),
                                    Lanes::all(limit));
        };
        CHECK_EQUAL(is_above(PlainLanes{}, plain), is_above(Lanes4{}, fast));
    }
}

TEST("simd: the scanner of two classes finds the same cuts in any form, and in none") {
    for (const std::size_t n : {5, 64, 1000, 60000})
        for (const std::size_t one_in : {2, 30}) {
            const TwoClasses data(n, n, one_in);
            PairScanner<std::uint16_t> scanner(data.problem);
            scanner.load(data.problem.rows);
            std::vector<std::uint16_t> list(n);
            for (std::size_t i = 0; i < n; ++i) list[i] = static_cast<std::uint16_t>(i);
            scanner.enter(list);
            Random random{n};
            for (std::size_t i = 0; i + 1 < n; ++i) std::swap(list[i], list[i + random.below(n - i)]);
            auto cursor = scanner.cursor();
            double most = 0;
            for (std::size_t i = 1; i < n; ++i) {
                cursor.add(list[i - 1]);
                most = std::max(most, cursor.score(i));
            }
            for (const double share : {0.0, 0.5, 0.99, 1.0}) {
                const auto expected = cuts_found<void>(scanner, list, share * most);
                CHECK(cuts_found<PlainLanes>(scanner, list, share * most) == expected);
                CHECK(cuts_found<Lanes4>(scanner, list, share * most) == expected);
            }
        }
}

TEST("simd: vectors are those of standard C++, bit by bit") {
    using Own = PlainVector<double, 2>;
    using Fast = SimdVector<double, 2>;
    using OwnWhole = PlainVector<std::int64_t, 2>;
    using FastWhole = SimdVector<std::int64_t, 2>;
    Random random{6};
    const auto draw = [&] {
        return std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(40)) - 20);
    };
    for (int round = 0; round < 1000; ++round) {
        const double a[] = {draw(), draw()}, b[] = {draw(), draw()}, c = draw();
        const auto work = [&]<class V>(V* out) {
            const V x{a[0], a[1]}, y{b[0], b[1]};
            V sum = larger(x, y) * c + c * y - x / y;
            sum += c - x;
            sum -= y;
            sum += magnitude(x - c) + where_positive(y, x);
            *out = sum;
        };
        Own own;
        Fast fast;
        work(&own);
        work(&fast);
        for (std::size_t i = 0; i < 2; ++i)
            CHECK_EQUAL(std::bit_cast<std::uint64_t>(own[i]),
                        std::bit_cast<std::uint64_t>(static_cast<double>(fast[i])));
        const double zero = round % 2 == 0 ? -0.0 : b[0];
        const auto own_bits = not_zero(Own{a[0], zero});
        const auto fast_bits = not_zero(Fast{a[0], zero});
        for (std::size_t i = 0; i < 2; ++i) CHECK_EQUAL(own_bits[i], std::uint64_t{fast_bits[i]});
        const auto m = static_cast<std::int64_t>(random.next()),
                   k = static_cast<std::int64_t>(random.next() >> 2);
        const auto whole = [&]<class V>(V) { return (((V{m, k} & V{k, k}) + V{k, 1}) >> 5) - V{1, k >> 1}; };
        const OwnWhole own_whole = whole(OwnWhole{});
        const FastWhole fast_whole = whole(FastWhole{});
        for (std::size_t i = 0; i < 2; ++i)
            CHECK_EQUAL(own_whole[i], static_cast<std::int64_t>(fast_whole[i]));
    }
}
