/* Collapsed Gibbs sampling of missing values under a structure, with incremental counts.
 *
 * An imputed table has a probability under a structure: the probability of all its rows, with the
 * conditional probability tables integrated over their prior. It is the exponential of a score. A
 * sweep draws each missing value from its conditional distribution given all other values of the
 * table. The stationary distribution of these sweeps is the posterior distribution of the imputed
 * table (Gibbs sampling with the tables integrated out).
 *
 * The counts of all families stay up to date. When a value changes, its row moves from one cell to
 * another in the table of the variable and in the tables of its children. No family is counted a
 * second time.
 *
 * `codes` holds one variable after another, as everywhere: the code of variable v in a row is at
 * [v * codes_width + row]. Threads may call these functions at the same time, each with tables and
 * codes of its own.
 */
#ifndef ENGINE_GIBBS_H
#define ENGINE_GIBBS_H

#include "engine.h"

/* The families of a structure and their tables of counts, one table after another.
 *
 * The state of the child varies fastest, so the arity of the child is a factor of every stride. The
 * margin of a table is the number of rows for each configuration of the parents. */
typedef struct {
    const int64_t *arity; /* of each variable */
    int64_t n_arity;
    const double *prior; /* pseudo-count of each cell of the table of v; above 0 */
    int64_t n_prior;
    const int64_t *start; /* of the parents of v in `parents`; one more at the end */
    int64_t n_start;
    const int64_t *parents;
    int64_t n_parents;
    const int64_t *stride; /* of each parent in the table of its child */
    int64_t n_stride;
    const int64_t *child_start; /* of the children of v in `children`; one more at the end */
    int64_t n_child_start;
    const int64_t *children;
    int64_t n_children;
    const int64_t *child_stride; /* of v in the table of each of its children */
    int64_t n_child_stride;
    const int64_t *first; /* where the table of v begins in `counts` */
    int64_t n_first;
    const int64_t *first_margin; /* where its margin begins in `margins` */
    int64_t n_first_margin;
    int64_t *counts;
    int64_t n_counts;
    int64_t *margins;
    int64_t n_margins;
    double *weights; /* working memory: a weight for each state of any variable */
    int64_t n_weights;
} FamilyTables;

/* Add all rows to the tables. The tables must be empty. */
ENGINE_API void
add_rows(const FamilyTables *tables, const uint16_t *codes, int64_t n_codes, int64_t codes_width);

/* Draw each missing value again, and add the probabilities of its states to totals[value].
 *
 * Missing value i is that of variables[i] in rows[i]; uniforms[i] is its random number from 0 to 1.
 * If `totals` is empty, no probabilities are added. */
ENGINE_API void draw_values(
    const FamilyTables *tables, uint16_t *codes, int64_t n_codes, int64_t codes_width,
    const int64_t *variables, int64_t n_variables, const int64_t *rows, int64_t n_rows,
    const double *uniforms, int64_t n_uniforms, double *totals, int64_t n_totals,
    int64_t totals_width
);

/* Set each missing value to its most probable state; return how many values changed. */
ENGINE_API int64_t maximise_values(
    const FamilyTables *tables, uint16_t *codes, int64_t n_codes, int64_t codes_width,
    const int64_t *variables, int64_t n_variables, const int64_t *rows, int64_t n_rows
);

#endif
