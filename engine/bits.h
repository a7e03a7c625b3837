/* Bit sets: AND two of them and count the bits.
 *
 * AVX-512 counts the bits of whole vectors, and so does NEON. Other processors count one word at a
 * time, or none at all, which costs three times as much as the AND. Then the bits are counted by
 * vectors of adders (see bits.c).
 */
#ifndef ENGINE_BITS_H
#define ENGINE_BITS_H

#include "engine.h"

/* Return the number of bits that two sets share. */
int64_t and_count(const uint64_t *left, const uint64_t *right, int64_t n_words);

/* Overwrite `both` with the bits that two sets share; return their number. */
int64_t and_store(const uint64_t *left, const uint64_t *right, int64_t n_words, uint64_t *both);

#endif
