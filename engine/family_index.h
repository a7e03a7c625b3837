/* The families of an archive as arrays, and an index of them by child and parent.
 *
 * The families of each child are sorted by descending score. A *pair* is a child and a variable
 * that is a parent in at least one of its families. In a wide table most variables are in no good
 * family of most others: there are far fewer pairs than n * n. The index lists the pairs of each
 * child and of each parent, so that local search over orders looks at them and at nothing else.
 *
 * The families of a pair are a bit set. One operation looks at 64 of them. Only words with a bit
 * are stored, each with its number: a child may have thousands of families, and a parent be in one
 * of them. So the index of a usual table stays in the cache of the processor.
 */
#ifndef ENGINE_FAMILY_INDEX_H
#define ENGINE_FAMILY_INDEX_H

#include "engine.h"

enum { WORD_BITS = 64 }; /* of a bit set; of all bit sets here, whatever they are about */

/* Return the word of a bit set that holds a bit. The division is a shift, without a sign. */
INLINE int64_t word_of(int64_t number) {
    return (int64_t) ((uint64_t) number / WORD_BITS);
}

/* Return a bit in its word. */
INLINE uint64_t bit_of(int64_t number) {
    return UINT64_C(1) << ((uint64_t) number % WORD_BITS);
}

/* Families by child, each child's from the best score to the worst.
 *
 * Every order allows the last family of a child: the one without parents. */
typedef struct {
    const int64_t *begin; /* n + 1; families of child v: begin[v] to begin[v + 1] */
    int64_t n_begin;
    const double *score; /* n_families */
    int64_t n_score;
    const int64_t *start; /* n_families + 1; where the parents of each begin */
    int64_t n_start;
    const int32_t *parents;
    int64_t n_parents;
} Families;

/* All pairs of a child and a possible parent, by child and by parent.
 *
 * There are of_child[n] pairs. What has an item for each pair or word has room for as many as there
 * are parents in all families: there cannot be more. */
typedef struct {
    int64_t *of_child; /* n + 1; pairs of child v: of_child[v] to of_child[v + 1] */
    int64_t n_of_child;
    int32_t *parent; /* the parent of each pair */
    int64_t n_parent;
    int32_t *best; /* the best family of each pair; the pairs of a child ascend by it */
    int64_t n_best;
    int64_t *begin; /* where the words of each pair begin, and where those of the last one end */
    int64_t n_begin;
    int32_t *word; /* its number; words of a pair ascend */
    int64_t n_word;
    uint64_t *bits; /* the families from 64 * word on that contain the parent */
    int64_t n_bits;
    int64_t *of_parent; /* n + 1; arcs of parent v: of_parent[v] to of_parent[v + 1] */
    int64_t n_of_parent;
    int32_t *child; /* an *arc* is the place of a pair in a list by parent: the child of each arc */
    int64_t n_child;
    int32_t *pair; /* the pair of each arc */
    int64_t n_pair;
    int32_t *arc; /* the arc of each item of `parents` of the families */
    int64_t n_arc;
} FamilyIndex;

/* Fill the index of these families.
 *
 * `spare` is scratch: room for n numbers, and for as many again as there are parents in all
 * families or variables, whichever is more. */
ENGINE_API void
list_pairs(const Families *families, const FamilyIndex *index, int64_t *spare, int64_t n_spare);

/* Overwrite `relatives` with a variable, its parents and its children, ascending, in the structure
 * of the families `choice`; return how many they are. */
ENGINE_API int64_t list_relatives(
    const Families *families, const int64_t *choice, int64_t n_choice, int64_t variable,
    int64_t *relatives, int64_t n_relatives
);

#endif
