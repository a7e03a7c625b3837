/* Parent sets of CCMA, and the families that extend them by one candidate. */
#ifndef ENGINE_EXTENSION_H
#define ENGINE_EXTENSION_H

#include "engine.h"

/* Parent sets, each of a child. */
typedef struct {
    const int64_t *child; /* n_sets */
    int64_t n_child;
    const int64_t *start; /* n_sets + 1; where the parents of each begin */
    int64_t n_start;
    const int32_t *parents; /* ascending in each set */
    int64_t n_parents;
} ParentSets;

/* Families that are written one behind the other. */
typedef struct {
    int64_t *child; /* of each family */
    int64_t n_child;
    double *score;
    int64_t n_score;
    int64_t *start; /* where the parents of each begin, and where those of the last one end */
    int64_t n_start;
    int32_t *parents; /* ascending in each family */
    int64_t n_parents;
} FamilyList;

/* Write the parent sets as families: start[f] to start[f + 1] are the child and its parents. */
ENGINE_API void list_families(
    const ParentSets *sets, int32_t *members, int64_t n_members, int64_t *start, int64_t n_start
);

/* Set is_open[s, i] where set s may have the candidate rows[s, i] as a further parent: the arc is
 * allowed[candidate, child], it is not in the set, the set has fewer than `max_parents`, and the
 * table has at most `max_table` cells. q[s, i] is the number of configurations of the parents with
 * the candidate, at most `largest`. */
ENGINE_API void flag_extensions(
    const ParentSets *sets, const int32_t *rows, int64_t n_rows, int64_t rows_width,
    const bool *allowed, int64_t n_allowed, int64_t allowed_width, const int64_t *arities,
    int64_t n_arities, int64_t max_parents, double max_table, double largest, bool *is_open,
    int64_t n_is_open, int64_t is_open_width, double *q, int64_t n_q, int64_t q_width
);

/* Write each open extension of a parent set as a family; return how many there are.
 *
 * Family f has the members start[f] to start[f + 1], the child first, and is the extension
 * place[f] = s * k + i. */
ENGINE_API int64_t list_extensions(
    const ParentSets *sets, const int32_t *rows, int64_t n_rows, int64_t rows_width,
    const bool *is_open, int64_t n_is_open, int64_t is_open_width, int32_t *members,
    int64_t n_members, int64_t *start, int64_t n_start, int64_t *place, int64_t n_place
);

/* Append to `n_families` families the parent sets, and their extensions that score more than
 * `least_gain` above the set; return how many families there are then. */
ENGINE_API int64_t append_gains(
    const ParentSets *sets, const double *scores, int64_t n_scores, const int32_t *rows,
    int64_t n_rows, int64_t rows_width, const double *wider_scores, int64_t n_wider_scores,
    int64_t wider_scores_width, double least_gain, int64_t n_families, const FamilyList *families
);

#endif
