/* The cycles of two permutations, for cycle crossover.
 *
 * The position after i in a cycle is where the first permutation holds what the second one holds at
 * i. Cycles are numbered by their first positions.
 */
#ifndef ENGINE_CYCLE_H
#define ENGINE_CYCLE_H

#include "engine.h"

/* Overwrite numbers[p, i] with the number of the cycle of position i of pair p.
 *
 * Return whether all rows are permutations; the numbers are worthless if one is not. `place` is
 * scratch, of one row. */
ENGINE_API int64_t number_pairs(
    const int64_t *first, int64_t n_first, int64_t first_width, const int64_t *second,
    int64_t n_second, int64_t second_width, int64_t *place, int64_t n_place, int64_t *numbers,
    int64_t n_numbers, int64_t numbers_width
);

#endif
