/* Sets of variables as rows of bits, of any length. */
#ifndef ENGINE_BIT_ROWS_H
#define ENGINE_BIT_ROWS_H

#include "engine.h"

enum { BITS = 64 }; /* of a word */

INLINE void add_bit(uint64_t *bits, int64_t i) {
    bits[i / BITS] |= (uint64_t) 1 << (i % BITS);
}

INLINE void drop_bit(uint64_t *bits, int64_t i) {
    bits[i / BITS] &= ~((uint64_t) 1 << (i % BITS));
}

/* Overwrite the numbers in a bit set, ascending; return how many there are. */
INLINE int64_t list_bits(const uint64_t *bits, int64_t n_words, int64_t *numbers) {
    int64_t n = 0;
    for (int64_t word = 0; word < n_words; word++) {
        for (uint64_t left = bits[word]; left; left &= left - 1) {
            numbers[n++] = word * BITS + __builtin_ctzll(left);
        }
    }
    return n;
}

INLINE int64_t count_bits(const uint64_t *bits, int64_t n_words) {
    int64_t n = 0;
    for (int64_t word = 0; word < n_words; word++) n += __builtin_popcountll(bits[word]);
    return n;
}

#endif
