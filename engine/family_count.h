/* Families whose tables were counted before, in one place or as the sums over all shards.
 *
 * The tables have the cells that family.h explains: their axes are sorted by rank. A score is
 * therefore equal, to the last bit, to the score of the same rows counted anywhere else.
 */
#ifndef ENGINE_FAMILY_COUNT_H
#define ENGINE_FAMILY_COUNT_H

#include "family.h"

/* A batch of families or triples, and their tables of counts. */
typedef struct {
    const int64_t *facts; /* (n_vars, N_FACTS) */
    int64_t n_facts;
    int64_t facts_width;
    const int32_t *members; /* the variables of each table */
    int64_t n_members;
    const int64_t *start; /* (n + 1,): where the members of each table begin */
    int64_t n_start;
    const int64_t *begin; /* (n + 1,): where each table begins in `cells`; it may be empty */
    int64_t n_begin;
    const uint32_t *cells;
    int64_t n_cells;
} CountedTables;

/* Return the stride of a variable in a table over k variables, in any order. */
INLINE int64_t
compute_stride(const int64_t *facts, const int32_t *variables, int64_t k, int64_t variable) {
    int64_t stride = 1, rank = get_fact(facts, variable, RANK);
    for (int64_t i = 0; i < k; i++) {
        bool is_faster = get_fact(facts, variables[i], RANK) > rank;
        if (is_faster) stride *= get_fact(facts, variables[i], ARITY);
    }
    return stride;
}

/* Overwrite scores[f] of the families from `first` to before `last` that have a table.
 *
 * The first member of a family is the child. `scratch` is the working memory of one thread. */
ENGINE_API void score_tables(
    const CountedTables *tables, const ScoreSpec *spec, int64_t first, int64_t last,
    const Scratch *scratch, double *scores, int64_t n_scores
);

#endif
