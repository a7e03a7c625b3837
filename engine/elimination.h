/* The plan of one question: sum all variables out, one after the other, but those asked about.
 *
 * Each factor waits in the bucket of its variable that is summed out first (bucket elimination).
 *
 * Reference: R. Dechter (1999), Bucket elimination: a unifying framework for reasoning, Artificial
 * Intelligence 113, 41-85.
 */
#ifndef ENGINE_ELIMINATION_H
#define ENGINE_ELIMINATION_H

#include "factor.h"

enum { BUCKET_FIELDS = 2 };

/* Row i of the cliques is variable order[i], which is last, and its neighbours when it is summed
 * out, that which is summed out last first. */
typedef struct {
    const int64_t *order;
    int64_t n_order;
    const int64_t *clique_start;
    int64_t n_clique_start;
    const int64_t *members;
    int64_t n_members;
} EliminationOrder;

/* Plan the joint table of the targets, which are last in the order, and the evidence.
 *
 * `asked` has the targets, the last axis of the table first. `buckets` is scratch, two numbers for
 * each variable. factor[0] becomes the table, or -1 if nothing is asked. Return DONE, NO_ROOM or
 * TOO_LARGE (plan.h). */
ENGINE_API int64_t plan_question(
    const NetworkTables *network, const EliminationOrder *elimination, const int64_t *families,
    int64_t n_families, const int64_t *asked, int64_t n_asked, const EvidenceCodes *evidence,
    const Plan *plan, int64_t *buckets, int64_t n_buckets, int64_t buckets_width, int64_t *factor,
    int64_t n_factor
);

#endif
