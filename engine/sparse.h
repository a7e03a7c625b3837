/* Families whose table would be larger than the data: count what occurs.
 *
 * A key is the configuration of some variables as one number. All rows with the same configuration
 * of the parents have the same key, and they become one group. A second pass does the same for the
 * configuration of the parents and the child. The score needs only the sizes of the groups (the
 * sufficient statistics). The memory grows with the number of rows and not with the size of the
 * table.
 *
 * The order of the rows decides which group gets which number, and it must not change the score.
 * The terms are therefore added by count, from the lowest to the highest: the groups of one row,
 * then those of two, and so on.
 */
#ifndef ENGINE_SPARSE_H
#define ENGINE_SPARSE_H

#include "family.h"

/* Working memory of one thread. All arrays from `keys` on have room for each row. */
typedef struct {
    uint32_t *slots; /* a group or NO_GROUP; a power of two, at least twice the number of rows */
    int64_t n_slots;
    int64_t *slot_keys; /* as many: the key of the group in a slot */
    int64_t n_slot_keys;
    int64_t *keys;
    int64_t n_keys;
    uint32_t *groups; /* GROUP_ARRAYS rows for each grouping that is kept at the same time */
    int64_t n_groups;
    int64_t groups_width;
    double *terms;
    int64_t n_terms;
} SparseScratch;

/* A grouping takes as many rows of `groups`. */
enum { GROUP_ARRAYS = 3 };

/* A key of each row. There are fewer than 2^32 rows, and all keys are below 2^62. */
typedef struct {
    const CountIndex *index;
    const SparseScratch *scratch;
    int64_t n_rows;
    int64_t limit; /* all keys are below */
} RowKeys;

/* The rows in groups: those with equal keys. */
typedef struct {
    uint32_t *of_row;    /* the group of each row; groups are counted from 0 */
    uint32_t *first_row; /* of each group */
    uint32_t *size;      /* of each group: the sum of the weights of its rows */
    int64_t n;
} Groups;

/* Return the keys of the rows of an index: 0 for each row. */
RowKeys make_keys(const CountIndex *index, const SparseScratch *scratch);

/* Overwrite the key of each row with the number of its group. */
void set_keys(RowKeys *keys, Groups groups);

/* Append the states of variables to the keys. */
void append_variables(RowKeys *keys, const int32_t *variables, int64_t n);

/* Return the rows in groups of equal keys. `place` is the place among the groupings. */
Groups group_rows(const RowKeys *keys, int64_t place);

/* Sort the first n values in place. */
void sort_values(double *values, int64_t n);

/* Overwrite scores[f] of the families from `first` to before `last` that are SPARSE. */
ENGINE_API void evaluate_sparse(
    const CountIndex *index, const ScoreSpec *spec, const BatchPlan *batch, int64_t first,
    int64_t last, const SparseScratch *scratch, double *scores, int64_t n_scores
);

#endif
