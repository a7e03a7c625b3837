/* Families whose tables are added up over all shards.
 *
 * The tables have the same cells in the same order as those that evaluate_families counts and
 * scores. A score is therefore equal, to the last bit, to the score of all rows in one place.
 */
#ifndef ENGINE_FAMILY_COUNT_H
#define ENGINE_FAMILY_COUNT_H

#include "family.h"

/* Overwrite scores[f] of the families from `first` to before `last` that have a table.
 *
 * The members of family f begin at start[f]: the child, then the parents. `facts` is that of
 * CountIndex. `scratch` is the working memory of one thread. */
ENGINE_API void score_tables(
    const int64_t *facts, int64_t n_facts, int64_t facts_width, const int32_t *members,
    int64_t n_members, const int64_t *start, int64_t n_start, const TableSums *sums,
    const ScoreSpec *spec, int64_t first, int64_t last, const Scratch *scratch, double *scores,
    int64_t n_scores
);

#endif
