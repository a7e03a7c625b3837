/* Orders and masks become families, under constraints.
 *
 * This is the one place where an order and a mask become a structure. Without constraints it is
 * algorithm 2 of the 2011 paper (coevo.search.ccga). With constraints, the pair is *read* so that
 * they hold. The order and the mask stay unchanged. No cycle can arise, so nothing is repaired:
 *
 * - The order is read as its first rearrangement in which the parents of every required arc come
 *   before their children: repeatedly take the first variable that has no required parent left.
 *   Without required arcs it is the order itself.
 * - A required arc is present whatever its bit is. The bit of an arc is ignored if the arc is
 *   forbidden or excluded by tiers.
 * - The bits are read in the order of the string, position by position. A bit is ignored if it
 *   would give its child too many parents, or a table with too many cells. Required parents count
 *   first.
 *
 * Every structure that satisfies the constraints can still be reached: its topological order is
 * read unchanged, and so are all its arcs.
 *
 * The solutions of a generation share most families with each other and with those of earlier
 * generations. Duplicates are found here, where a parent set is still a bit set, so that each
 * family is requested once.
 */
#ifndef ENGINE_DECODE_H
#define ENGINE_DECODE_H

#include "engine.h"

/* Pairs of individuals: solution s combines order order_of[s] with mask mask_of[s].
 *
 * The bits of a mask are the pairs of positions (i, j) with i < j, row by row. */
typedef struct {
    const int64_t *orders; /* permutations */
    int64_t n_orders;
    int64_t orders_width;
    const int64_t *order_of;
    int64_t n_order_of;
    const bool *masks;
    int64_t n_masks;
    int64_t masks_width;
    const int64_t *mask_of;
    int64_t n_mask_of;
} Solutions;

/* The rules for arcs, [parent, child]. */
typedef struct {
    const bool *allowed;
    int64_t n_allowed;
    int64_t allowed_width;
    const bool *required;
    int64_t n_required;
    int64_t required_width;
    int64_t any_required; /* whether any arc is required */
    int64_t any_rule;     /* whether there is any rule, or a limit that can be reached */
} DecodeRules;

/* What limits the parents of a child: their number, and the cells of its table. */
typedef struct {
    const double *arities;
    int64_t n_arities;
    double max_cells;
    int64_t max_parents;
} ParentLimits;

/* A hash table of the families decoded so far, with room for more. */
typedef struct {
    int32_t *slots; /* numbers of families; a power of two, at most half full; -1 empty */
    int64_t n_slots;
    uint64_t *families; /* of each the child, and the parents as a bit set */
    int64_t n_families;
    int64_t families_width;
} FamilyTable;

/* Bit sets lie word by word: the first words of all variables, then their second words. */
typedef struct {
    uint64_t *required_sets; /* of each variable, the required parents */
    int64_t n_required_sets;
    int64_t required_sets_width;
    uint64_t *sets; /* the parents in a solution */
    int64_t n_sets;
    int64_t sets_width;
    int64_t *required_counts; /* the number of required parents */
    int64_t n_required_counts;
    int64_t *counts; /* of parents so far */
    int64_t n_counts;
    double *required_cells; /* of a table with the required parents */
    int64_t n_required_cells;
    double *cells; /* with the parents so far */
    int64_t n_cells;
    int64_t *order; /* as it is read */
    int64_t n_order;
    uint64_t *hashes; /* of families */
    int64_t n_hashes;
} DecodeScratch;

/* Overwrite each row of `read` with the order in which required parents come first.
 *
 * `counts` is scratch, two rows of n. The required arcs have no cycle. */
ENGINE_API void read_orders(
    const int64_t *orders, int64_t n_orders, int64_t orders_width, const bool *required,
    int64_t n_required, int64_t required_width, int64_t *counts, int64_t n_counts,
    int64_t counts_width, int64_t *read, int64_t n_read, int64_t read_width
);

/* Add the new families of all solutions; return how many families there are then.
 *
 * which[s, v] is overwritten with the number of the family of variable v in `known`, which holds
 * `n_known` families and has room for all families of all solutions. start[f] is overwritten with
 * the place of the new family f in the members of a FamilyBatch: those are the families of
 * `list_members`. */
ENGINE_API int64_t read_families(
    const Solutions *solutions, const DecodeRules *rules, const ParentLimits *limits,
    const FamilyTable *known, const DecodeScratch *scratch, int64_t n_known, int32_t *which,
    int64_t n_which, int64_t which_width, int64_t *start, int64_t n_start
);

/* Overwrite `members` with the families from `first` on, each its child and then its parents. */
ENGINE_API void
list_members(const FamilyTable *known, int64_t first, int32_t *members, int64_t n_members);

/* Overwrite the number of required parents of each variable. */
INLINE void count_required(const bool *required, int64_t n, int64_t *counts) {
    memset(counts, 0, (size_t) n * sizeof *counts);
    for (int64_t parent = 0; parent < n; parent++) {
        for (int64_t child = 0; child < n; child++) counts[child] += required[parent * n + child];
    }
}

/* Overwrite the cells of the table of each variable with its required parents. */
INLINE void count_cells(const bool *required, int64_t n, const double *arities, double *cells) {
    memcpy(cells, arities, (size_t) n * sizeof *cells);
    for (int64_t parent = 0; parent < n; parent++) {
        for (int64_t child = 0; child < n; child++) {
            if (required[parent * n + child]) cells[child] *= arities[parent];
        }
    }
}

/* Return whether a child may have one more parent, and count it if so. */
INLINE bool take_parent(
    const ParentLimits *limits, int64_t child, int64_t parent, int64_t *counts, double *cells
) {
    double with_parent = cells[child] * limits->arities[parent];
    if (counts[child] >= limits->max_parents || with_parent > limits->max_cells) return false;
    counts[child]++;
    cells[child] = with_parent;
    return true;
}

/* The pairs of positions whose bits of a mask are set, one after another. */
typedef struct {
    const bool *mask;
    int64_t n; /* positions */
    int64_t n_bits;
    int64_t n_read;  /* bits */
    uint64_t word;   /* the bits that are left of the last 64 */
    int64_t row_end; /* the bit after those of the row of `upper` */
    int64_t upper, lower;
} PairReader;

INLINE PairReader start_reader(const Solutions *solutions, int64_t solution) {
    int64_t n = solutions->orders_width, n_bits = solutions->masks_width;
    const bool *mask = solutions->masks + solutions->mask_of[solution] * n_bits;
    return (PairReader) {mask, n, n_bits, 0, 0, n - 1, 0, 0};
}

/* Return up to 64 flags as the bits of a word, the first one lowest.
 *
 * Eight at a time: the multiplication moves the flag of byte i to bit 56 + i. */
INLINE uint64_t pack_flags(const bool *flags, int64_t n) {
    uint64_t word = 0, eight;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&eight, flags + i, sizeof eight);
        word |= (eight * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    for (; i < n; i++) word |= (uint64_t) flags[i] << i;
    return word;
}

/* Go to the next pair, `upper` < `lower`; return whether there is one. */
INLINE bool read_pair(PairReader *reader) {
    while (reader->word == 0) {
        int64_t left = reader->n_bits - reader->n_read;
        if (left <= 0) return false;
        const bool *flags = reader->mask + reader->n_read;
        /* Two calls, because the one with a constant is unrolled. */
        reader->word = left >= 64 ? pack_flags(flags, 64) : pack_flags(flags, left);
        reader->n_read += 64;
    }
    int64_t bit = reader->n_read - 64 + __builtin_ctzll(reader->word);
    reader->word &= reader->word - 1; /* without its lowest bit */
    while (bit >= reader->row_end) reader->row_end += reader->n - 1 - ++reader->upper;
    reader->lower = reader->n - (reader->row_end - bit);
    return true;
}

INLINE void check_solutions(const Solutions *solutions) {
    int64_t n = solutions->orders_width;
    CHECK(solutions->n_order_of == solutions->n_mask_of);
    CHECK(solutions->masks_width == n * (n - 1) / 2);
    for (int64_t i = 0; i < solutions->n_orders * n; i++) {
        CHECK(0 <= solutions->orders[i] && solutions->orders[i] < n);
    }
    for (int64_t s = 0; s < solutions->n_order_of; s++) {
        CHECK(0 <= solutions->order_of[s] && solutions->order_of[s] < solutions->n_orders);
        CHECK(0 <= solutions->mask_of[s] && solutions->mask_of[s] < solutions->n_masks);
    }
}

#endif
