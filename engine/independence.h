/* Tests of conditional independence: statistics, degrees of freedom, p-values.
 *
 * A test has two variables x and y and a set Z of other variables. A stratum is one configuration
 * of Z that occurs. With n the counts of a stratum, both statistics compare them with the counts e
 * that independence within the stratum lets expect:
 *
 *     G2    2 sum n log(n / e)          e = n(x) n(y) / n
 *     X2    sum (n - e)^2 / e
 *
 * The degrees of freedom are the sum over strata of (states of x seen - 1) (states of y seen - 1).
 * A state that a stratum does not show adds nothing to the statistic, so it must not add to the
 * degrees of freedom.
 *
 * measure_tables reads tables of counts. measure_sparse groups the configurations that occur, where
 * a table would be larger than the rows. Both are symmetric in x and y to the last bit, and neither
 * depends on the order of the rows.
 */
#ifndef ENGINE_INDEPENDENCE_H
#define ENGINE_INDEPENDENCE_H

#include "sparse.h"

/* The statistics. */
enum { G2, X2 };

/* Rows of `groups` in the scratch of measure_sparse. */
enum { INDEPENDENCE_ARRAYS = 14 };

/* Overwrite the statistics and degrees of freedom of the tests from `first` to before `last` that
 * have a table.
 *
 * The members of test t begin at start[t]: x, y, then Z. `facts` is that of CountIndex. `states`
 * has room for the counts of the states of x and y. */
ENGINE_API void measure_tables(
    const int64_t *facts, int64_t n_facts, int64_t facts_width, const int32_t *members,
    int64_t n_members, const int64_t *start, int64_t n_start, const TableSums *sums, int64_t kind,
    int64_t first, int64_t last, int64_t *states, int64_t n_states, double *statistics,
    int64_t n_statistics, double *freedoms, int64_t n_freedoms
);

/* Overwrite `measured` with the statistic and the degrees of freedom of one test.
 *
 * They follow from the rows, each with a positive weight. `groups` of the scratch has
 * INDEPENDENCE_ARRAYS rows. */
ENGINE_API void measure_sparse(
    const CountIndex *index, int64_t kind, const int32_t *members, int64_t n_members,
    const SparseScratch *scratch, double *measured, int64_t n_measured
);

/* Overwrite the chances of a chi-squared variable to be larger; 1 with 0 degrees of freedom. */
ENGINE_API void compute_upper_tails(
    const double *statistics, int64_t n_statistics, const double *freedoms, int64_t n_freedoms,
    double *tails, int64_t n_tails
);

#endif
