// What compilers offer each in its own way, behind one name: 128-bit integers, hints to the optimizer and to
// the processor, code for newer processors. Vectors are in simd.hpp.
//
// TREEWRIGHT_PLAIN leaves out every extension, so that what a compiler without them would get is tested with
// one that has them (`make portable`). Every form gives the same bits.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <thread>

#if defined(__GNUC__) && !defined(TREEWRIGHT_PLAIN)  // Clang says so, too
#define TREEWRIGHT_GNU 1
#else
#define TREEWRIGHT_GNU 0
#endif

/// Before a function: it may use the instructions for which has_avx2() asks. (On Windows what Clang asks the
/// processor with is in no library that all toolchains bring.)
#if TREEWRIGHT_GNU && defined(__x86_64__) && !(defined(__clang__) && defined(_WIN32))
#define TREEWRIGHT_AVX2 __attribute__((target("avx2")))
#endif

#if defined(TREEWRIGHT_AVX2)
/// Before a function: it may use the instructions for which has_bit_counts() asks.
#define TREEWRIGHT_BIT_COUNTS __attribute__((target("popcnt,bmi2")))
#else
#define TREEWRIGHT_BIT_COUNTS
#endif

#if TREEWRIGHT_GNU
/// Before a function: it stays a function of its own, with all that it calls inside.
#define TREEWRIGHT_FLATTEN [[gnu::noinline, gnu::flatten]]
/// After the asterisk of a pointer: no other pointer leads to what is read or written by way of it.
#define TREEWRIGHT_RESTRICT __restrict
#else
#define TREEWRIGHT_FLATTEN
#define TREEWRIGHT_RESTRICT
#endif

namespace treewright {

/// The high word of a product of two words, from four products of halves.
constexpr std::uint64_t plain_high_word(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t half = 0xffffffff;
    const std::uint64_t low = (a & half) * (b & half), one = (a >> 32) * (b & half),
                        other = (a & half) * (b >> 32), high = (a >> 32) * (b >> 32);
    const std::uint64_t middle = (low >> 32) + (one & half) + (other & half);
    return high + (one >> 32) + (other >> 32) + (middle >> 32);
}

/// A signed integer of 128 bits in two words.
class TwoWords {
  public:
    constexpr TwoWords() = default;
    constexpr TwoWords(std::int64_t value)
        : high_(value < 0 ? -1 : 0), low_(static_cast<std::uint64_t>(value)) {}

    /// Rounded to the nearest, to even where two are as near: digits beyond the first 64 only break ties.
    explicit constexpr operator double() const {
        const TwoWords size = high_ < 0 ? -*this : *this;
        const std::uint64_t high = word(size.high_), low = size.low_;
        const int zeros = std::countl_zero(high);
        double magnitude = static_cast<double>(low);
        if (high != 0) {
            const std::uint64_t first = zeros == 0 ? high : high << zeros | low >> (64 - zeros);
            const bool has_rest = low << zeros != 0;
            const auto power = static_cast<std::uint64_t>(1023 + 64 - zeros)
                               << 52;  // the bits of 2^(64 - zeros)
            magnitude = static_cast<double>(first | (has_rest ? 1U : 0U)) * std::bit_cast<double>(power);
        }
        return high_ < 0 ? -magnitude : magnitude;
    }

    constexpr TwoWords operator-() const { return {~word(high_) + (low_ == 0 ? 1U : 0U), ~low_ + 1}; }
    friend constexpr TwoWords operator+(TwoWords a, TwoWords b) {
        const std::uint64_t low = a.low_ + b.low_;
        return {word(a.high_) + word(b.high_) + (low < a.low_ ? 1U : 0U), low};
    }
    friend constexpr TwoWords operator-(TwoWords a, TwoWords b) { return a + -b; }
    friend constexpr TwoWords operator*(TwoWords a, TwoWords b) {
        return {plain_high_word(a.low_, b.low_) + word(a.high_) * b.low_ + a.low_ * word(b.high_),
                a.low_ * b.low_};
    }
    constexpr TwoWords& operator+=(TwoWords other) { return *this = *this + other; }
    constexpr TwoWords& operator-=(TwoWords other) { return *this = *this - other; }

    friend constexpr auto operator<=>(const TwoWords&, const TwoWords&) = default;
    static constexpr TwoWords of_words(std::int64_t upper, std::uint64_t lower) {
        return {word(upper), lower};
    }
    friend constexpr std::int64_t upper_word(TwoWords value) { return value.high_; }
    friend constexpr std::uint64_t lower_word(TwoWords value) { return value.low_; }

  private:
    constexpr TwoWords(std::uint64_t high, std::uint64_t low)
        : high_(static_cast<std::int64_t>(high)), low_(low) {}
    static constexpr std::uint64_t word(std::int64_t signed_word) {
        return static_cast<std::uint64_t>(signed_word);
    }

    std::int64_t high_ = 0;  // compared first
    std::uint64_t low_ = 0;
};

#if TREEWRIGHT_GNU

__extension__ typedef __int128 Int128;

/// upper · 2^64 + lower.
constexpr Int128 of_words(std::int64_t upper, std::uint64_t lower) {
    return static_cast<Int128>(upper) * (static_cast<Int128>(1) << 64) + lower;
}
constexpr std::int64_t upper_word(Int128 value) { return static_cast<std::int64_t>(value >> 64); }
constexpr std::uint64_t lower_word(Int128 value) { return static_cast<std::uint64_t>(value); }

constexpr std::uint64_t high_word(std::uint64_t a, std::uint64_t b) {
    __extension__ typedef unsigned __int128 Wide;
    return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
}

/// Says that memory will be read soon.
inline void prefetch(const void* address) { __builtin_prefetch(address); }

#else

using Int128 = TwoWords;

constexpr Int128 of_words(std::int64_t upper, std::uint64_t lower) { return Int128::of_words(upper, lower); }

constexpr std::uint64_t high_word(std::uint64_t a, std::uint64_t b) { return plain_high_word(a, b); }

inline void prefetch(const void*) {}

#endif

#if defined(TREEWRIGHT_AVX2)
inline bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#endif

/// Tells the processor that a loop waits for another thread.
inline void spin_pause() {
#if TREEWRIGHT_GNU && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif TREEWRIGHT_GNU && defined(__aarch64__)
    asm volatile("isb");
#else
    std::this_thread::yield();
#endif
}

/// The bits of a word that a mask has, drawn together at the low end.
constexpr std::uint64_t plain_drawn_bits(std::uint64_t bits, std::uint64_t mask) {
    std::uint64_t out = 0;
    for (std::uint64_t place = 1; mask != 0; mask &= mask - 1, place <<= 1)
        if (bits & mask & (~mask + 1)) out |= place;
    return out;
}
#if defined(TREEWRIGHT_AVX2)
inline bool has_bit_counts() { return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi2"); }
TREEWRIGHT_BIT_COUNTS inline std::uint64_t drawn_bits(std::uint64_t bits, std::uint64_t mask) {
    return __builtin_ia32_pext_di(bits, mask);
}
#else
inline bool has_bit_counts() { return true; }
inline std::uint64_t drawn_bits(std::uint64_t bits, std::uint64_t mask) {
    return plain_drawn_bits(bits, mask);
}
#endif

}  // namespace treewright
