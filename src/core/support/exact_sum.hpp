// Sums of doubles without rounding: the same whatever the order of the numbers, and rounded once at the end.
//
// A small superaccumulator (R. Neal, Fast exact summation using small and large superaccumulators, 2015): the
// bits of all doubles lie side by side in chunks of 32, each kept in a word of 64 bits, so that carries can
// wait for a thousand additions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace treewright {

/// A real number as a double and what rounding took from it.
struct Rounded {
    double value = 0, rest = 0;
};

/// The sum of two numbers, and what rounding took from it (Knuth).
inline Rounded exact_sum(double a, double b) {
    const double sum = a + b, of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}

class ExactSum {
  public:
    void add(double number) {
        const auto bits = std::bit_cast<std::uint64_t>(number);
        const auto exponent = static_cast<std::uint32_t>(bits >> mantissa_bits) & special_exponent;
        if (exponent == special_exponent) {
            special_ += number;
            return;
        }
        const std::uint64_t fraction = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
        if (exponent == 0 && fraction == 0) return;
        // Subnormal numbers have the exponent of the least normal one, and no leading bit.
        const std::uint32_t place = std::max(exponent, 1U), shift = place % chunk_bits;
        const std::uint64_t mantissa = fraction | static_cast<std::uint64_t>(exponent != 0) << mantissa_bits;
        const std::size_t first = place / chunk_bits;
        const auto low = static_cast<std::int64_t>(mantissa << shift & chunk_mask),
                   high = static_cast<std::int64_t>(mantissa >> (chunk_bits - shift));
        const std::int64_t sign = bits >> 63 ? -1 : 1;
        chunks_[first] += sign * low;
        chunks_[first + 1] += sign * high;
        begin_ = std::min(begin_, first);
        end_ = std::max(end_, first + 2);
        if (--n_before_carry_ == 0) carry();
    }
    /// Adds a product without rounding it, unless it leaves the range of a double.
    void add_product(double a, double b) {
        const double product = a * b;
        add(product);
        if (std::isfinite(product)) add(std::fma(a, b, -product));
    }
    void add(const ExactSum& other) {
        carry();
        ExactSum carried = other;
        carried.carry();
        for (std::size_t i = carried.begin_; i < carried.end_; ++i) chunks_[i] += carried.chunks_[i];
        begin_ = std::min(begin_, carried.begin_);
        end_ = std::max(end_, carried.end_);
        special_ += carried.special_;
    }

    /// The double that is nearest to the sum; of two, the even one.
    double rounded() {
        if (special_ != 0) return special_;
        carry();
        if (end_ == 0) return 0;
        if (chunks_[end_ - 1] > 0) return magnitude();
        negate();
        const double size = magnitude();
        negate();
        return -size;
    }
    Rounded rounded_with_rest() {
        const double value = rounded();
        if (!std::isfinite(value)) return {value, 0.0};
        add(-value);
        const double rest = rounded();
        add(value);
        return {value, rest};
    }

    /// The sum of finite numbers as whole ones: word by word they may be added to those of other sums.
    std::span<const std::int64_t> words() {
        carry();
        return chunks_;
    }
    static ExactSum of_words(std::span<const std::int64_t> words) {
        ExactSum sum;
        std::copy(words.begin(), words.end(), sum.chunks_.begin());
        sum.begin_ = 0;
        sum.end_ = n_chunks;
        sum.carry();
        return sum;
    }

    bool is_empty() const { return end_ == 0; }
    void clear() {
        for (std::size_t i = begin_; i < end_; ++i) chunks_[i] = 0;
        begin_ = n_chunks;
        end_ = 0;
        n_before_carry_ = carry_period;
        special_ = 0;
    }

  private:
    static constexpr unsigned mantissa_bits = 52, special_exponent = 0x7ff, chunk_bits = 32;
    static constexpr std::uint64_t chunk_mask = 0xffffffff;
    /// The last ones hold the carries of 2^53 numbers of the largest exponent.
    static constexpr std::size_t n_chunks = 67;
    /// An addition changes a chunk by at most 2^52.
    static constexpr int carry_period = 1 << 10;
    /// Bit 0 of chunk 0 is worth 2 to this power: a number of exponent field e counts 2^(e − 1075) for each
    /// unit of its mantissa.
    static constexpr int lowest_bit = -1075;

    /// Brings all chunks but the last one into [0, 2^32), and that one within ±2^32; it is not 0, and has the
    /// sign of the sum.
    void carry() {
        n_before_carry_ = carry_period;
        for (std::size_t i = begin_; i < end_; ++i) {
            const bool is_last = i + 1 == end_;
            const std::int64_t over = chunks_[i] >> chunk_bits;
            if (over == 0 || (is_last && over == -1)) continue;
            chunks_[i] -= over * (std::int64_t{1} << chunk_bits);
            chunks_[i + 1] += over;
            if (is_last) ++end_;
        }
        while (end_ > begin_ && chunks_[end_ - 1] == 0) --end_;
        if (end_ == begin_) {
            begin_ = n_chunks;
            end_ = 0;
        }
    }
    void negate() {
        for (std::size_t i = begin_; i < end_; ++i) chunks_[i] = -chunks_[i];
        carry();
    }
    /// The value of chunks that are not negative.
    double magnitude() const {
        const auto chunk = [&](std::size_t below_top) {
            return below_top < end_ ? static_cast<std::uint64_t>(chunks_[end_ - 1 - below_top]) : 0;
        };
        // 64 bits from the highest one on. What lies below them matters only as being there: it decides ties.
        const auto width = static_cast<int>(std::bit_width(chunk(0))),
                   shift = static_cast<int>(chunk_bits) - width;
        const std::uint64_t third = chunk(2);
        std::uint64_t head = (chunk(0) << chunk_bits | chunk(1)) << shift | third >> width;
        bool is_more = (third & ((std::uint64_t{1} << width) - 1)) != 0;
        for (std::size_t i = begin_; i + 3 < end_; ++i) is_more = is_more || chunks_[i] != 0;
        if (is_more) head |= 1;
        const int exponent = (static_cast<int>(end_) - 2) * static_cast<int>(chunk_bits) - shift + lowest_bit;
        return std::ldexp(static_cast<double>(head), exponent);
    }

    std::array<std::int64_t, n_chunks> chunks_{};
    std::size_t begin_ = n_chunks, end_ = 0;  // of the chunks that may not be 0
    int n_before_carry_ = carry_period;
    double special_ = 0;  // infinities and what is not a number
};

/// The quotient of two sums, to about twice the precision of a double.
inline Rounded quotient(const Rounded& above, const Rounded& below) {
    const double first = above.value / below.value;
    const double left = std::fma(-first, below.value, above.value) + above.rest - first * below.rest;
    const double more = left / below.value, value = first + more;
    return {value, more - (value - first)};
}

}  // namespace treewright
