/* What a single parent adds, for all pairs of variables.
 *
 * With many variables there are too many pairs to score each as a family, which costs about a
 * microsecond. Here a pair costs a few AND operations of bit sets: no tables, no cache, no search
 * for shared counts.
 */
#ifndef ENGINE_PAIR_H
#define ENGINE_PAIR_H

#include "count.h"

/* Overwrite gains[v] with the log likelihood that a variable v adds to a child alone.
 *
 * That is the number of rows times the mutual information. x_log_x[c] is c log c, and `singles` are
 * the counts of the states of each variable. All variables have bit sets. The counts of the most
 * common states, which have none, follow by subtraction. `column` is scratch, one cell for each
 * state of the child. The child itself gets 0. */
ENGINE_API void measure_pairs(
    const CountIndex *index, const uint32_t *singles, int64_t n_singles, const double *x_log_x,
    int64_t n_x_log_x, int64_t child, int64_t *column, int64_t n_column, double *gains,
    int64_t n_gains
);

#endif
