/* What both exact sums share: sums over sets of parents, in logs.
 *
 * A table has one log weight for each set of k things: bit j of the number of a set says whether
 * thing j is in it. Log weights differ by thousands, and -inf is the weight zero. So sums stay in
 * logs here. All terms are positive, so no digits cancel.
 */
#ifndef ENGINE_EXACT_SUMS_H
#define ENGINE_EXACT_SUMS_H

#include "engine.h"

enum { MOST_VARIABLES = 62 }; /* of a set that is a number of 64 bits with a sign */

/* The possible parent sets by child, each child's from the heaviest to the lightest. */
typedef struct {
    const int64_t *begin; /* n + 1; families of child v: begin[v] to begin[v + 1] */
    int64_t n_begin;
    const double *log_weight;
    int64_t n_log_weight;
    const int64_t *parents; /* bit u says whether variable u is a parent */
    int64_t n_parents;
} SortedFamilies;

INLINE bool contains(int64_t set, int64_t variable) {
    return set >> variable & 1;
}

/* Return the lowest member of a set that is not empty. */
INLINE int64_t find_lowest_member(int64_t set) {
    return __builtin_ctzll((uint64_t) set);
}

/* Return a set as a number without the place of variable `bit`, which is not in the set. */
INLINE int64_t remove_bit(int64_t set, int64_t bit) {
    int64_t low = set & ((INT64_C(1) << bit) - 1);
    return low | ((set >> (bit + 1)) << bit);
}

/* Replace the log weight of each set by that of the sum over all its subsets. */
ENGINE_API void sum_subsets(double *table, int64_t n_table);

/* Replace the log weight of each set by that of the sum over all sets that contain it. */
ENGINE_API void sum_supersets(double *table, int64_t n_table);

/* Add to totals[j] the weights of the sets that contain thing j; return that of all sets.
 *
 * The log weight of a set is the sum of its entries in the two tables. */
ENGINE_API double add_member_weights(
    const double *one, int64_t n_one, const double *other, int64_t n_other, double *totals,
    int64_t n_totals
);

/* Draw the parents of each child of each DAG; set adjacency[draw, parent, child].
 *
 * The parents are a subset of bounds[draw, child, 0] and no subset of bounds[draw, child, 1],
 * unless that is -1. lots[draw, child] has a random number between 0 and 1, and the log of the sum
 * of the weights of all these sets. There is at least one. */
ENGINE_API void draw_families(
    const SortedFamilies *families, const int64_t *bounds, int64_t n_bounds, int64_t bounds_width,
    int64_t bounds_depth, const double *lots, int64_t n_lots, int64_t lots_width,
    int64_t lots_depth, bool *adjacency, int64_t n_adjacency, int64_t adjacency_width,
    int64_t adjacency_depth
);

#endif
