// Several numbers at once: vectors of numbers, and what PairScanner needs of four lanes.
//
// Every form gives the same bits: lanes do not mix but where the text says so, nothing is fused, and sums
// have one order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "support/portable.hpp"

#if defined(TREEWRIGHT_PLAIN)
#elif defined(__SSE2__) || defined(_M_X64)
#define TREEWRIGHT_SSE2 1
#include <emmintrin.h>
#elif defined(__aarch64__) || defined(_M_ARM64)
#define TREEWRIGHT_NEON 1
#include <arm_neon.h>
#endif

namespace treewright {

// --- vectors of any length: arithmetic lane by lane ---

/// In standard C++.
template <class T, std::size_t N>
struct alignas(N * sizeof(T)) PlainVector {
    T lane[N];

    constexpr T& operator[](std::size_t i) { return lane[i]; }
    constexpr const T& operator[](std::size_t i) const { return lane[i]; }

    template <class Other, class Work>
    static constexpr PlainVector zip(const PlainVector& a, const Other& b, Work work) {
        PlainVector out{};
        for (std::size_t i = 0; i < N; ++i) {
            if constexpr (std::is_same_v<Other, PlainVector>)
                out[i] = static_cast<T>(work(a[i], b[i]));
            else
                out[i] = static_cast<T>(work(a[i], b));
        }
        return out;
    }
    static constexpr PlainVector all(T x) {
        return zip({}, x, [](T, T b) { return b; });
    }

    friend constexpr PlainVector operator+(const PlainVector& a, const PlainVector& b) {
        return zip(a, b, [](T x, T y) { return x + y; });
    }
    friend constexpr PlainVector operator-(const PlainVector& a, const PlainVector& b) {
        return zip(a, b, [](T x, T y) { return x - y; });
    }
    friend constexpr PlainVector operator*(const PlainVector& a, const PlainVector& b) {
        return zip(a, b, [](T x, T y) { return x * y; });
    }
    friend constexpr PlainVector operator/(const PlainVector& a, const PlainVector& b) {
        return zip(a, b, [](T x, T y) { return x / y; });
    }
    friend constexpr PlainVector operator&(const PlainVector& a, const PlainVector& b) {
        return zip(a, b, [](T x, T y) { return x & y; });
    }
    friend constexpr PlainVector operator|(const PlainVector& a, const PlainVector& b) {
        return zip(a, b, [](T x, T y) { return x | y; });
    }
    friend constexpr PlainVector operator>>(const PlainVector& a, int n) {
        return zip(a, n, [](T x, int places) { return x >> places; });
    }
    friend constexpr PlainVector operator+(const PlainVector& a, T b) { return a + all(b); }
    friend constexpr PlainVector operator-(const PlainVector& a, T b) { return a - all(b); }
    friend constexpr PlainVector operator-(T a, const PlainVector& b) { return all(a) - b; }
    friend constexpr PlainVector operator*(T a, const PlainVector& b) { return all(a) * b; }
    friend constexpr PlainVector operator*(const PlainVector& a, T b) { return a * all(b); }
    constexpr PlainVector& operator+=(const PlainVector& other) { return *this = *this + other; }
    constexpr PlainVector& operator-=(const PlainVector& other) { return *this = *this - other; }
    constexpr PlainVector& operator|=(const PlainVector& other) { return *this = *this | other; }

    friend constexpr PlainVector larger(const PlainVector& a, const PlainVector& b) {
        return zip(a, b, [](T x, T y) { return x > y ? x : y; });
    }
    friend constexpr PlainVector smaller(const PlainVector& a, const PlainVector& b) {
        return zip(a, b, [](T x, T y) { return x < y ? x : y; });
    }
    friend constexpr PlainVector where_at_most(const PlainVector& a, const PlainVector& bound,
                                               PlainVector then, const PlainVector& otherwise) {
        for (std::size_t i = 0; i < N; ++i)
            if (!(a[i] <= bound[i])) then[i] = otherwise[i];
        return then;
    }
    friend constexpr PlainVector magnitude(const PlainVector& a) {
        return zip(a, a, [](T x, T) { return x < 0 ? -x : x; });
    }
    friend constexpr PlainVector where_positive(const PlainVector& condition, const PlainVector& value) {
        return zip(condition, value, [](T x, T y) { return x > 0 ? y : T{}; });
    }
};

/// All bits in the lanes that are not zero, none in the others.
template <std::size_t N>
constexpr PlainVector<std::uint64_t, N> not_zero(const PlainVector<double, N>& a) {
    PlainVector<std::uint64_t, N> out{};
    for (std::size_t i = 0; i < N; ++i) out[i] = a[i] != 0 ? ~std::uint64_t{0} : 0;
    return out;
}

#if TREEWRIGHT_GNU

/// As compilers have it, who choose the instructions.
template <class T, std::size_t N>
struct VectorOf {
    typedef T Type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, std::size_t N>
using SimdVector = typename VectorOf<T, N>::Type;

/// In each lane the larger number.
template <class V>
inline V larger(const V& a, const V& b) {
    return a > b ? a : b;
}
/// In each lane the smaller number; the second one where one of them is NaN.
template <class V>
inline V smaller(const V& a, const V& b) {
    return a < b ? a : b;
}
/// In each lane `then` where a is at most the bound, otherwise the last one.
template <class V>
inline V where_at_most(const V& a, const V& bound, const V& then, const V& otherwise) {
    return a <= bound ? then : otherwise;
}
/// The absolute values; a zero keeps its sign.
template <class V>
inline V magnitude(V a) {
    return a < 0.0 ? -a : a;
}
/// The value in the lanes whose condition is above zero, 0 in the others.
template <class V>
inline V where_positive(V condition, V value) {
    return condition > 0.0 ? value : V{};
}
template <class V>
inline auto not_zero(V a) {
    return std::bit_cast<SimdVector<std::uint64_t, sizeof(V) / sizeof(double)>>(a != 0.0);
}

#else

template <class T, std::size_t N>
using SimdVector = PlainVector<T, N>;

#endif

// --- four lanes: whole numbers of 32 bits and floats ---

/// In standard C++, and the definition of the other forms.
struct PlainLanes {
    using Whole = PlainVector<std::int32_t, 4>;
    using Real = PlainVector<float, 4>;

    static Whole all(std::int32_t x) { return Whole::all(x); }
    static Real all(float x) { return Real::all(x); }
    static Real load(const float* four) { return {four[0], four[1], four[2], four[3]}; }
    /// `then` in the lanes whose entry is at least `least`, 0 in the others.
    static Whole where_from(const std::uint16_t* entries, std::uint16_t least, Whole then) {
        for (std::size_t i = 0; i < 4; ++i)
            if (entries[i] < least) then[i] = 0;
        return then;
    }
    static Whole add(Whole a, Whole b) { return a + b; }
    static Whole subtract(Whole a, Whole b) { return a - b; }
    static Real multiply(Real a, Real b) { return a * b; }
    /// The first lane, the first two, three, all four added up.
    static Whole running_sums(Whole x) {
        for (std::size_t i = 1; i < 4; ++i) x[i] += x[i - 1];
        return x;
    }
    static Real to_real(Whole x) {
        Real out{};
        for (std::size_t i = 0; i < 4; ++i) out[i] = static_cast<float>(x[i]);
        return out;
    }
    static bool any_above(Real a, Real b) {
        bool any = false;
        for (std::size_t i = 0; i < 4; ++i) any |= a[i] > b[i];
        return any;
    }
    /// The last lane in all lanes; the first lane as a number.
    static Whole spread_last(Whole x) { return Whole::all(x[3]); }
    static std::int32_t first(Whole x) { return x[0]; }
};

#if defined(TREEWRIGHT_SSE2)

struct Sse2Lanes {
    using Whole = __m128i;
    using Real = __m128;

    static Whole all(std::int32_t x) { return _mm_set1_epi32(x); }
    static Real all(float x) { return _mm_set1_ps(x); }
    static Real load(const float* four) { return _mm_loadu_ps(four); }
    static Whole where_from(const std::uint16_t* entries, std::uint16_t least, Whole then) {
        const Whole four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(entries));
        const Whole short_of = _mm_subs_epu16(_mm_set1_epi16(static_cast<short>(least)), four);
        const Whole is_in = _mm_cmpeq_epi16(short_of, _mm_setzero_si128());
        return _mm_and_si128(_mm_unpacklo_epi16(is_in, is_in), then);
    }
    static Whole add(Whole a, Whole b) { return _mm_add_epi32(a, b); }
    static Whole subtract(Whole a, Whole b) { return _mm_sub_epi32(a, b); }
    static Real multiply(Real a, Real b) { return _mm_mul_ps(a, b); }
    static Whole running_sums(Whole x) {
        x = _mm_add_epi32(x, _mm_slli_si128(x, 4));
        return _mm_add_epi32(x, _mm_slli_si128(x, 8));
    }
    static Real to_real(Whole x) { return _mm_cvtepi32_ps(x); }
    static bool any_above(Real a, Real b) { return _mm_movemask_ps(_mm_cmpgt_ps(a, b)) != 0; }
    static Whole spread_last(Whole x) { return _mm_shuffle_epi32(x, 0xff); }
    static std::int32_t first(Whole x) { return _mm_cvtsi128_si32(x); }
};
using Lanes4 = Sse2Lanes;

#elif defined(TREEWRIGHT_NEON)

struct NeonLanes {
    using Whole = int32x4_t;
    using Real = float32x4_t;

    static Whole all(std::int32_t x) { return vdupq_n_s32(x); }
    static Real all(float x) { return vdupq_n_f32(x); }
    static Real load(const float* four) { return vld1q_f32(four); }
    static Whole where_from(const std::uint16_t* entries, std::uint16_t least, Whole then) {
        const uint16x4_t is_in = vcge_u16(vld1_u16(entries), vdup_n_u16(least));
        return vandq_s32(vmovl_s16(vreinterpret_s16_u16(is_in)), then);
    }
    static Whole add(Whole a, Whole b) { return vaddq_s32(a, b); }
    static Whole subtract(Whole a, Whole b) { return vsubq_s32(a, b); }
    static Real multiply(Real a, Real b) { return vmulq_f32(a, b); }
    static Whole running_sums(Whole x) {
        const Whole zero = vdupq_n_s32(0);
        x = vaddq_s32(x, vextq_s32(zero, x, 3));
        return vaddq_s32(x, vextq_s32(zero, x, 2));
    }
    static Real to_real(Whole x) { return vcvtq_f32_s32(x); }
    static bool any_above(Real a, Real b) { return vmaxvq_u32(vcgtq_f32(a, b)) != 0; }
    static Whole spread_last(Whole x) { return vdupq_laneq_s32(x, 3); }
    static std::int32_t first(Whole x) { return vgetq_lane_s32(x, 0); }
};
using Lanes4 = NeonLanes;

#else

using Lanes4 = PlainLanes;

#endif

}  // namespace treewright
