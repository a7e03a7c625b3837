#include "bits.h"

#if defined(__AVX512VPOPCNTDQ__) || !defined(__x86_64__)

/* The compiler turns these loops into counts of vectors. */

int64_t and_count(const uint64_t *restrict left, const uint64_t *restrict right, int64_t n_words) {
    int64_t total = 0;
    for (int64_t i = 0; i < n_words; i++) total += __builtin_popcountll(left[i] & right[i]);
    return total;
}

int64_t and_store(
    const uint64_t *restrict left, const uint64_t *restrict right, int64_t n_words,
    uint64_t *restrict both
) {
    int64_t total = 0;
    for (int64_t i = 0; i < n_words; i++) {
        both[i] = left[i] & right[i];
        total += __builtin_popcountll(both[i]);
    }
    return total;
}

#else

#include <immintrin.h>

/* A vector of words, and how many it has. */
#ifdef __AVX2__
typedef __m256i Vector;
enum { WORDS = 4 };
#else
typedef __m128i Vector;
enum { WORDS = 2 };
#endif

/* Return the number of bits in each word of a vector. */
INLINE Vector count_bits(Vector v) {
#ifdef __AVX2__
    /* Each half of a byte looks up its number of bits; then the bytes of a word are added up. */
    const __m128i of_half = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const Vector table = _mm256_broadcastsi128_si256(of_half), half = _mm256_set1_epi8(0x0F);
    Vector low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, half));
    Vector high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), half));
    return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
#else
    /* Neighbouring bits are added up, then pairs, then halves of bytes, then bytes. */
    const Vector one = _mm_set1_epi8(0x55), two = _mm_set1_epi8(0x33), four = _mm_set1_epi8(0x0F);
    v = _mm_sub_epi8(v, _mm_and_si128(_mm_srli_epi64(v, 1), one));
    v = _mm_add_epi8(_mm_and_si128(v, two), _mm_and_si128(_mm_srli_epi64(v, 2), two));
    v = _mm_and_si128(_mm_add_epi8(v, _mm_srli_epi64(v, 4)), four);
    return _mm_sad_epu8(v, _mm_setzero_si128());
#endif
}

/* Return what `left` and `right` share at word i; `both` gets it, too, if it is not NULL. */
INLINE Vector and_at(const uint64_t *left, const uint64_t *right, int64_t i, uint64_t *both) {
    Vector a, b;
    memcpy(&a, left + i, sizeof a);
    memcpy(&b, right + i, sizeof b);
    a &= b;
    if (both) memcpy(both + i, &a, sizeof a);
    return a;
}

/* A full adder for each bit: a + b + *sum becomes 2 * (the result) + *sum. */
INLINE Vector add_bits(Vector a, Vector b, Vector *sum) {
    Vector half = a ^ b, carry = (a & b) | (half & *sum);
    *sum ^= half;
    return carry;
}

/* Return the number of bits that two sets share, in each word of a vector, for whole rounds of
 * eight vectors.
 *
 * Seven adders add eight vectors bit by bit, so that only one of eight must be counted (the method
 * of Harley and Seal; Mula, Kurz and Lemire 2018). */
enum { ROUND = 8 * WORDS };

INLINE Vector
count_rounds(const uint64_t *left, const uint64_t *right, int64_t n_rounds, uint64_t *both) {
    Vector ones = {0}, twos = {0}, fours = {0}, eights = {0};
    for (int64_t i = 0; i < n_rounds * ROUND; i += ROUND) {
        Vector v[8];
        for (int k = 0; k < 8; k++) v[k] = and_at(left, right, i + k * WORDS, both);
        Vector a = add_bits(v[0], v[1], &ones), b = add_bits(v[2], v[3], &ones);
        Vector c = add_bits(v[4], v[5], &ones), d = add_bits(v[6], v[7], &ones);
        Vector e = add_bits(a, b, &twos), f = add_bits(c, d, &twos);
        eights += count_bits(add_bits(e, f, &fours));
    }
    return 8 * eights + 4 * count_bits(fours) + 2 * count_bits(twos) + count_bits(ones);
}

INLINE int64_t
and_words(const uint64_t *left, const uint64_t *right, int64_t n_words, uint64_t *both) {
    int64_t n_rounds = n_words / ROUND, i = n_rounds * ROUND;
    Vector totals = {0};
    if (n_rounds) totals = count_rounds(left, right, n_rounds, both);
    for (; i + WORDS <= n_words; i += WORDS) totals += count_bits(and_at(left, right, i, both));
    int64_t total = 0;
    for (int k = 0; k < WORDS; k++) total += totals[k];
    for (; i < n_words; i++) {
        uint64_t word = left[i] & right[i];
        if (both) both[i] = word;
        total += __builtin_popcountll(word);
    }
    return total;
}

int64_t and_count(const uint64_t *restrict left, const uint64_t *restrict right, int64_t n_words) {
    return and_words(left, right, n_words, NULL);
}

int64_t and_store(
    const uint64_t *restrict left, const uint64_t *restrict right, int64_t n_words,
    uint64_t *restrict both
) {
    return and_words(left, right, n_words, both);
}

#endif
