/* What a question about a network has to read.
 *
 * Variables that are neither asked about nor observed, and no ancestors of such, are barren: their
 * tables sum to 1. The others fall into parts that share no unobserved variable. Only parts with a
 * variable that is asked about have an effect on the answer. Of the others it must be known that
 * their evidence is possible. Mostly a witness shows it: states of all variables, each the most
 * probable one given its parents, under which the evidence has a probability above 0. If there is
 * none, all parts are read.
 */
#ifndef ENGINE_RELEVANCE_H
#define ENGINE_RELEVANCE_H

#include "factor.h"

enum { RELEVANCE_ROWS = 5 }; /* of scratch */

/* The numbers in Scopes->counts. */
enum { COUNT_FAMILIES, COUNT_VARIABLES, N_SCOPE_COUNTS };

/* The tables that are read, and their unobserved variables, which are numbered from 0 on. */
typedef struct {
    int64_t *families; /* the variables whose tables are read */
    int64_t n_families;
    int64_t *variables; /* of each number, the variable; ascending */
    int64_t n_variables;
    int64_t *start; /* of each family, where its numbers begin, and the end */
    int64_t n_start;
    int64_t *members; /* the numbers of the unobserved variables of each family */
    int64_t n_members;
    int64_t *counts;
    int64_t n_counts;
} Scopes;

/* Overwrite the scopes with what a question about some variables reads.
 *
 * With `is_total` all evidence is read: its probability is asked for. `topological` has all
 * variables, parents first. `scratch` has RELEVANCE_ROWS rows, a number for each variable. */
ENGINE_API void find_scopes(
    const NetworkTables *network, const EvidenceCodes *evidence, const int64_t *topological,
    int64_t n_topological, const int64_t *asked, int64_t n_asked, int64_t is_total,
    const Scopes *scopes, int64_t *scratch, int64_t n_scratch, int64_t scratch_width
);

#endif
