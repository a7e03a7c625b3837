/* Which families an order allows, tracked while variables move.
 *
 * An order allows a family if all its parents come before the child. For every family the number of
 * its *missing* parents is kept: those that come after the child. Local search asks many questions
 * for each move that it makes, and these are short:
 *
 * - The best response of a child is the first of its families of which no parent is missing.
 * - If v moved to the front, the families with v would be allowed of which only v is missing.
 *
 * A move of one variable changes only families of the pairs that it passes. In a table with many
 * rows a child has a thousand scored families, and the check of their parents, one after another,
 * would take most of the time.
 *
 * The numbers of 64 families lie in *planes*: the first word has the lowest bit of each, the next
 * word the second one. One parent more for some of these families is one addition of binary
 * numbers, in which the carries of all move up together.
 */
#ifndef ENGINE_ALLOWED_H
#define ENGINE_ALLOWED_H

#include "family_index.h"

/* Working memory. Between calls no bit is set in the marks, and no variable is queued. */
typedef struct {
    int32_t *place; /* n, where each variable is */
    int64_t n_place;
    uint64_t *missing; /* n_words, n_planes; how many parents of each family are missing */
    int64_t n_missing;
    int64_t missing_width;
    uint64_t *allowed; /* n_words, bits of families: none is missing */
    int64_t n_allowed;
    uint64_t *one_missing; /* n_words, bits of families: one is missing */
    int64_t n_one_missing;
    uint64_t *own; /* planes of the families of one child */
    int64_t n_own;
    uint64_t *arcs; /* bits of arcs: the chosen family of the child has the parent */
    int64_t n_arcs;
    uint64_t *marks; /* bits of places */
    int64_t n_marks;
    uint64_t *other_marks; /* bits of places */
    int64_t n_other_marks;
    int32_t *pair_of; /* n, the pair of which a marked variable is the parent */
    int64_t n_pair_of;
    int32_t *child_pair_of; /* n, the pair of which a marked variable is the child */
    int64_t n_child_pair_of;
    double *gain_of; /* n, the gain of a marked variable */
    int64_t n_gain_of;
    int64_t *queue; /* n, a ring of variables to try */
    int64_t n_queue;
    bool *is_queued; /* n */
    int64_t n_is_queued;
    bool *moved; /* n, which variables `put_variable` has moved */
    int64_t n_moved;
    int64_t *spare; /* 4, n; for the functions that Python calls */
    int64_t n_spare;
    int64_t spare_width;
} OrderScratch;

/* An order, and what is known about it. */
typedef struct {
    const Families *families;
    const FamilyIndex *index;
    const OrderScratch *scratch;
    int64_t n;
    int64_t *order;
    int64_t *choice; /* the family of each child, its best response to the order */
    int64_t head;    /* of the queue */
    int64_t n_queued;
} TrackedOrder;

/* Return the number of the lowest bit that is set. */
INLINE int64_t find_lowest(uint64_t bits) {
    return __builtin_ctzll(bits);
}

/* Return the bits of a word without those before that of a number. */
INLINE uint64_t keep_from(uint64_t bits, int64_t number) {
    return bits & -bit_of(number);
}

/* Set a bit. */
INLINE void mark(uint64_t *bits, int64_t number) {
    bits[word_of(number)] |= bit_of(number);
}

/* Return the first bit that is set from `begin` on; `end` if there is none before it. */
INLINE int64_t find_next(const uint64_t *bits, int64_t begin, int64_t end) {
    if (begin >= end) return end;
    int64_t word = word_of(begin);
    uint64_t found = keep_from(bits[word], begin);
    while (found == 0) {
        if (++word * WORD_BITS >= end) return end;
        found = bits[word];
    }
    int64_t number = word * WORD_BITS + find_lowest(found);
    return number < end ? number : end;
}

/* Return the first allowed family, from `family` on. There must be one. */
INLINE int64_t find_allowed(const OrderScratch *scratch, int64_t family) {
    int64_t word = word_of(family);
    uint64_t found = keep_from(scratch->allowed[word], family);
    while (found == 0) found = scratch->allowed[++word];
    return word * WORD_BITS + find_lowest(found);
}

/* Add 1 to the numbers of some families of a word. */
INLINE void add_one(uint64_t *planes, int64_t n_planes, uint64_t families) {
    for (int64_t k = 0; k < n_planes; k++) {
        uint64_t carry = planes[k] & families;
        planes[k] ^= families;
        families = carry;
    }
}

/* Subtract 1 from the numbers of some families of a word. */
INLINE void subtract_one(uint64_t *planes, int64_t n_planes, uint64_t families) {
    for (int64_t k = 0; k < n_planes; k++) {
        uint64_t borrow = ~planes[k] & families;
        planes[k] ^= families;
        families = borrow;
    }
}

/* Return the families of a word whose number has a bit in any of these planes. */
INLINE uint64_t join_planes(const uint64_t *planes, int64_t n_planes) {
    uint64_t any = 0;
    for (int64_t k = 0; k < n_planes; k++) any |= planes[k];
    return any;
}

/* Return an order to track, after a check of its memory. Nothing is known about it yet. */
TrackedOrder track_order(
    const Families *families, const FamilyIndex *index, const OrderScratch *scratch, int64_t *order,
    int64_t *choice
);

/* Find out which families the order allows. */
void put_in_order(const TrackedOrder *tracked);

/* Move v to a place; all between its old and its new place move by one. */
void put_variable(const TrackedOrder *tracked, int64_t v, int64_t target);

/* Return to an old order, from which only the `moved` variables have moved since.
 *
 * All others still are in the same sequence. `old_place` is scratch. */
void restore_order(const TrackedOrder *tracked, const int64_t *old_order, int64_t *old_place);

/* Find out which arcs the families of a choice have. */
void list_arcs(const TrackedOrder *tracked, const int64_t *choice);

/* Choose another family for a child. */
void choose_family(const TrackedOrder *tracked, int64_t child, int64_t family);

#endif
