/* Sums over the cells of the table of a family that occur in the rows. */
#ifndef ENGINE_CELL_H
#define ENGINE_CELL_H

#include "engine.h"

/* The rows of a table. */
typedef struct {
    const int32_t *codes; /* (variables, rows) */
    int64_t n_codes;
    int64_t codes_width;
    const int64_t *weights; /* (rows,), how often each row occurs */
    int64_t n_weights;
    const int64_t *arities; /* (variables,) */
    int64_t n_arities;
} CellRows;

/* Overwrite sums[f] with the sum of value[n] over the cells of family f with n rows.
 *
 * A row of `families` is a child and its parents. value[0] is 0. `counts` has room for the largest
 * table, with zeros before and after. `cells` has room for each row. */
ENGINE_API void sum_cells(
    const CellRows *rows, const int32_t *families, int64_t n_families, int64_t families_width,
    const double *value, int64_t n_value, int32_t *cells, int64_t n_cells, int32_t *counts,
    int64_t n_counts, double *sums, int64_t n_sums
);

#endif
