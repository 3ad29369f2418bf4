// Sums of two words: exact where one word does not hold them.
#include <algorithm>
#include <limits>
#include <vector>

#include "growers/layouts.hpp"
#include "harness.hpp"
#include "scanners/exact_scores.hpp"
#include "support/exact_sum.hpp"

using namespace treewright;

namespace {

/// A number of up to so many bits, none of them negative.
Int128 drawn(Random& random, std::size_t bits) {
    const std::uint64_t upper = bits > 64 ? random.next() >> (128 - bits) : 0;
    return of_words(static_cast<Sum>(upper), bits < 64 ? random.next() >> (64 - bits) : random.next());
}

/// Adds a · b, times a sign, in parts of 32 bits.
void add_product(ExactSum& sum, Int128 a, Int128 b, double sign) {
    const auto parts = [](Int128 x) {
        const auto upper = static_cast<std::uint64_t>(upper_word(x)), lower = lower_word(x);
        return std::vector<double>{static_cast<double>(lower & 0xffffffff),
                                   static_cast<double>(lower >> 32) * 0x1p32,
                                   static_cast<double>(upper) * 0x1p64};
    };
    for (const double one : parts(a))
        for (const double other : parts(b)) sum.add_product(sign * one, other);
}

}  // namespace

TEST("two words: a difference of products is rounded once, whatever cancels") {
    Random random{11};
    for (int i = 0; i < 20000; ++i) {
        const std::size_t bits = 1 + random.below(92);
        const Int128 a = drawn(random, bits), b = drawn(random, bits);
        Int128 c = drawn(random, bits), d = drawn(random, bits);
        if (random.below(2) == 0) {  // products that nearly cancel
            c = a;
            d = b;
            for (Int128* const one : {&c, &d})
                if (random.below(2) == 0 && *one > 3) *one -= static_cast<Sum>(random.below(4));
        }
        ExactSum wanted;
        add_product(wanted, a, b, 1);
        add_product(wanted, c, d, -1);
        CHECK_EQUAL(difference_of_products(a, b, c, d), wanted.rounded());
        CHECK_EQUAL(difference_of_products(c, d, a, b), -wanted.rounded());
    }
}

TEST("two words: what fits one word scores the same in two") {
    Random random{12};
    for (int i = 0; i < 5000; ++i) {
        const auto total = static_cast<Sum>(random.next() >> (3 + random.below(50))) + 4;
        const auto below = [&](Sum most) {
            return static_cast<Sum>(random.below(static_cast<std::size_t>(most)));
        };
        const Sum left = 1 + below(total - 1), ones = below(total),
                  ones_left = below(std::min(left, ones) + 1);
        CHECK_EQUAL(weighted_pair_score(Int128(total), Int128(ones), Int128(left), Int128(ones_left)),
                    weighted_pair_score(total, ones, left, ones_left));
        const Sum sum = random.below(2) == 0 ? total : -total;
        const GridMean one{sum, left}, two{Int128{sum}, Int128{left}};
        CHECK_EQUAL(one.shift, two.shift);
        CHECK_EQUAL(one.rest, two.rest);
        CHECK_EQUAL(one.difference(left, -sum / 3), two.difference(Int128(left), Int128(-sum / 3)));
    }
}

TEST("two words: a quotient of sums is cut off towards zero") {
    Random random{13};
    for (int i = 0; i < 5000; ++i) {
        const Int128 weight = drawn(random, 1 + random.below(80)) + 1;
        const auto wanted = static_cast<Sum>(random.next() >> (20 + random.below(44)));
        const Int128 sum = weight * wanted + (weight > 1 && random.below(2) == 0 ? weight - 1 : Int128(0));
        CHECK_EQUAL(whole_quotient(sum, weight), wanted);
        CHECK_EQUAL(whole_quotient(-sum, weight), -wanted);
    }
}

TEST("two words: sums are carried without loss, and added and subtracted word by word") {
    const SquareLayout squares{true, true};
    const ClassLayout classes{3, true, true};
    CHECK_EQUAL(squares.width(), 7U);
    CHECK_EQUAL((SquareLayout{false, true}.width()), 5U);
    CHECK_EQUAL(classes.width(), 7U);
    Random random{14};
    std::vector<Sum> some(7), all(7);
    Int128 number = 0, weight = 0;
    for (int i = 0; i < 100000; ++i) {
        const Sum own[] = {static_cast<Sum>(random.next() >> 8), -static_cast<Sum>(random.next() >> 8)};
        std::fill(some.begin(), some.end(), 0);
        some[0] = own[0];
        some[1] = own[1];
        some[3] = 1;
        squares.carry(some.data());
        const Sum sign = i % 10 == 0 ? -1 : 1;
        for (std::size_t k = 0; k < 7; ++k) all[k] += sign * some[k];
        weight += own[0] * sign;
        number += own[1] * sign;
    }
    CHECK_EQUAL(squares.rows_of(all.data()), 80000);
    CHECK(squares.weight_of<Int128>(all.data()) == weight);
    CHECK(squares.sum_of<Int128>(all.data()) == number);
    CHECK(squares.squares_of<Int128>(all.data()) == 0);
    CHECK(weight > std::numeric_limits<Sum>::max());
    std::vector<Sum> of_classes{5, -7, Sum{1} << 40, 3, 0, 0, Sum{1} << 40};
    classes.carry(of_classes.data());
    CHECK_EQUAL(classes.rows_of(of_classes.data()), 3);
    CHECK(classes.weight_of<Int128>(of_classes.data(), 1) == -7);
    CHECK(classes.weight_of_all<Int128>(of_classes.data()) ==
          Int128(Sum{1} << 40) * ((Sum{1} << 24) + 1) - 2);
}
