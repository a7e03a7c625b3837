/* Families on their available cases: the rows that observe all their variables. */
#ifndef ENGINE_AVAILABLE_H
#define ENGINE_AVAILABLE_H

#include "family.h"

/* Rows with missing values; the code of a missing value can be any state of its variable. */
typedef struct {
    const uint16_t *codes; /* (n_vars, n_rows) */
    int64_t n_codes;
    int64_t codes_width;
    const bool *missing; /* (n_vars, n_rows) */
    int64_t n_missing;
    int64_t missing_width;
    const int64_t *arity; /* (n_vars,) */
    int64_t n_arity;
} IncompleteRows;

/* Overwrite the scores of the families from `first` to before `last`, and n_complete[f], their
 * numbers of complete rows.
 *
 * `scores` has a place for each member. The place of the child gets the score of the family; that
 * of a parent gets the score of the family without this parent, on the same rows. A family whose
 * table does not fit into scratch->counts gets 0 complete rows and no score. `reduced` has as much
 * room. */
ENGINE_API void evaluate_available(
    const IncompleteRows *rows, const ScoreSpec *spec, const int32_t *members, int64_t n_members,
    const int64_t *start, int64_t n_start, int64_t first, int64_t last, const Scratch *scratch,
    uint32_t *reduced, int64_t n_reduced, double *scores, int64_t n_scores, int64_t *n_complete,
    int64_t n_n_complete
);

#endif
