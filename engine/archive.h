/* The archive of scored families: new ones are merged into it, and dominated ones are dropped.
 *
 * The families of a child are sorted from the best score to the worst; of equal scores the smaller
 * family comes first, then the one with the smaller first parent. A family is *dominated* if a
 * subset of its parents comes earlier. */
#ifndef ENGINE_ARCHIVE_H
#define ENGINE_ARCHIVE_H

#include "family_index.h"

/* New families, with their ranks: family ranked[0] comes first, children ascend. */
typedef struct {
    const int64_t *child; /* of each family */
    int64_t n_child;
    const double *score;
    int64_t n_score;
    const int64_t *start; /* n_families + 1; where the parents of each begin */
    int64_t n_start;
    const int32_t *parents; /* ascending in each family */
    int64_t n_parents;
    int64_t *ranked; /* scratch: the families in the order of an archive */
    int64_t n_ranked;
} NewFamilies;

/* The families of an archive while they are written: room for old and new ones. */
typedef struct {
    int64_t *begin; /* n + 1 */
    int64_t n_begin;
    double *score;
    int64_t n_score;
    int64_t *start; /* n_families + 1 */
    int64_t n_start;
    int32_t *parents;
    int64_t n_parents;
    uint64_t *signature; /* scratch: a bit for each parent of a family, modulo 64 */
    int64_t n_signature;
    bool *is_new; /* scratch */
    int64_t n_is_new;
} MergedFamilies;

/* Overwrite `merged` with old and new families, without the dominated ones; return their number.
 *
 * Old families do not dominate each other. Of a child with more than `limit` families the worst
 * ones are dropped, but for the last two: an order may need the family of the required parents, and
 * the empty one. */
ENGINE_API int64_t merge_families(
    const Families *old, const NewFamilies *added, int64_t limit, const MergedFamilies *merged
);

/* Overwrite `merged` with the numbers of two ascending lists, each number once; return how many.
 *
 * There must be room for both lists. */
ENGINE_API int64_t merge_hashes(
    const uint64_t *old, int64_t n_old, const uint64_t *added, int64_t n_added, uint64_t *merged,
    int64_t n_merged
);

#endif
