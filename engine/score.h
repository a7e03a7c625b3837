/* The local score of a family from its counts (sufficient statistics).
 *
 * All scores of coevo have one form: a sum of one term for each cell of the family's table, minus a
 * sum of one term for each configuration of the parents, minus a penalty for the parameters. A cell
 * or a configuration that never occurs adds exactly 0.
 *
 *     kind            term of a cell n        term of a configuration m
 *     ALL_ONES        log rising(1, n)        log rising(r, m)
 *     DIRICHLET       log rising(a, n)        log rising(a r, m)      a = ess / (q r)
 *     DIRICHLET_SEEN  the same, with q the number of configurations that occur
 *     LIKELIHOOD      n log n                 m log m
 *     FACTORISED      n log n                 m log m + log C(r, m)
 *     QUOTIENT        n log n                 m log m
 *
 * where r is the number of states of the child, q is the number of configurations of its parents,
 * and rising(a, n) = a (a + 1) ... (a + n - 1) = gamma(a + n) / gamma(a). log C is the regret of
 * coevo.score.scores. The penalty of LIKELIHOOD is proportional to q (r - 1); that of QUOTIENT is
 * log C(q r, N) - log C(q, N), with N the number of rows.
 *
 * The terms are added in the order of the table's cells, in four running sums that the processor
 * can overlap (in one sum, where counts exceed the table of terms). Terms with integer arguments
 * come from the table of the score. For the other terms, each row of `rising` holds
 * log rising(ess / divisor, .) of a recently used divisor.
 */
#ifndef ENGINE_SCORE_H
#define ENGINE_SCORE_H

#include "engine.h"

/* The kinds of scores. Those from LIKELIHOOD on have the terms n log n. */
enum { ALL_ONES, DIRICHLET, DIRICHLET_SEEN, LIKELIHOOD, FACTORISED, QUOTIENT };

/* A row of `rising`: columns, and its length. Terms of larger counts are computed. */
enum { DIVISOR, LOG_GAMMA, FIRST, RISING_LENGTH = 256, RISING_WIDTH = FIRST + RISING_LENGTH };
enum { RISING_ROWS = 512 }; /* the row of a divisor is its remainder */

/* The specification of a score. */
typedef struct {
    int64_t kind;
    double ess;          /* equivalent sample size of the Dirichlet kinds */
    double penalty;      /* of one free parameter */
    int64_t n_rows;      /* the largest possible count */
    const double *table; /* log n! (K2) or n log n (likelihoods), for n below its length */
    int64_t n_table;
    const double *regret; /* C(2, n) (FACTORISED) or log C(K, n_rows) (QUOTIENT) */
    int64_t n_regret;
} ScoreSpec;

/* From here on, log gamma(a + n) - log gamma(a) would lose too many digits. */
#define LARGE_PRIOR 1e4

/* Return log rising(a, count) for a >= LARGE_PRIOR.
 *
 * It is the difference of two Stirling series, in a form in which their large terms are gone. */
INLINE double log_rising_of_large(double a, double count) {
    double total = a + count;
    double series = (1 / total - 1 / a) / 12;
    return count * log(a) + ((total - 0.5) * log1p(count / a) - count) + series;
}

/* Return log C(arity, count); two_states[n] is C(2, n).
 *
 * Above the length of the table, use the first three terms of its series. */
double compute_regret(const double *two_states, int64_t n_two_states, int64_t count, int64_t arity);

/* Return log C(q r, N) - log C(q, N), with r the arity. */
double compute_quotient_penalty(const ScoreSpec *spec, double q, double arity);

/* Return the local score of a table; `stride` and `arity` belong to the child.
 *
 * Overwrite `margin` (at least n_cells / arity cells) with the counts of the configurations of the
 * parents. `rising` has RISING_ROWS rows and belongs to one thread and one score: it starts as
 * zeros and keeps terms for the next call. */
double score_table(
    const ScoreSpec *spec, const uint32_t *counts, int64_t n_cells, int64_t stride, int64_t arity,
    uint32_t *margin, double *rising
);

#endif
