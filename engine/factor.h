/* Factors: tables over the unobserved variables of a network, and their products.
 *
 * Exact inference multiplies factors and sums variables out. What is multiplied is decided first,
 * from the names of the axes alone (plan.h). The result is a plan: factors, and steps that compute
 * some of them from others. `run_plan` then computes the numbers.
 *
 * A factor is a view: its cells are in the tables of the network, in the weights of findings, or
 * among the cells that steps have computed. An observed variable is no axis of it, so evidence
 * needs no copy. A step multiplies at most MAX_INPUTS factors and sums at most one variable out.
 * What it computes is multiplied by a power of 2 where all of it would become very small; that is
 * exact, and the power is kept.
 */
#ifndef ENGINE_FACTOR_H
#define ENGINE_FACTOR_H

#include "engine.h"

/* Where the cells of a factor are. */
enum { IN_TABLES, IN_WEIGHTS, IN_CELLS };

enum { NO_VARIABLE = -1, MAX_INPUTS = 8, MAX_AXES = 63 };

/* The lengths of the rows of a plan. */
enum { FACTOR_FIELDS = 5, AXIS_FIELDS = 3, STEP_FIELDS = 4, LIVE_FIELDS = 3, FREE_FIELDS = 2 };

/* The numbers in Plan->used. */
enum {
    USED_FACTORS,
    USED_AXES,
    USED_STEPS,
    USED_INPUTS,
    USED_CONSTANTS,
    USED_LISTS,
    USED_LIVE,
    USED_FREE,
    USED_CELLS,
    USED_WORK, /* cells that are read, once for each input of a step */
    N_USED
};

/* The variables of a network, numbered by name, and their tables. */
typedef struct {
    const int64_t *arity;
    int64_t n_arity;
    const int64_t *family_start; /* of each variable, and the end */
    int64_t n_family_start;
    const int64_t *family; /* the parents in the order of the axes of the table, then the child */
    int64_t n_family;
    const int64_t *table_start;
    int64_t n_table_start;
    const double *tables;
    int64_t n_tables;
} NetworkTables;

/* What is observed. */
typedef struct {
    const int64_t *codes; /* of each variable the number of its state, or -1 */
    int64_t n_codes;
    const int64_t *findings; /* of each variable where the weights of its finding begin, or -1 */
    int64_t n_findings;
    const double *weights; /* of soft findings: one for each state */
    int64_t n_weights;
} EvidenceCodes;

/* A plan, and the room for making it. Rows are those of the structures below. */
typedef struct {
    int64_t *factors;
    int64_t n_factors;
    int64_t factors_width;
    int64_t *axes;
    int64_t n_axes;
    int64_t axes_width;
    int64_t *steps;
    int64_t n_steps;
    int64_t steps_width;
    int64_t *inputs; /* of all steps: numbers of factors */
    int64_t n_inputs;
    int64_t *constants; /* factors without axes, whose product is the probability of the evidence */
    int64_t n_constants;
    int64_t *lists; /* messages of a clique tree: numbers of factors */
    int64_t n_lists;
    int64_t *live; /* a stack of factors at work */
    int64_t n_live;
    int64_t live_width;
    int64_t *free; /* rows of FreeRow: cells whose factor is not needed any more */
    int64_t n_free;
    int64_t free_width;
    int64_t *place; /* of each variable: in the clique at work, or in the output of a step */
    int64_t n_place;
    int64_t *used; /* how much of each array is used */
    int64_t n_used;
} Plan;

/* Rows of int64_t. */
typedef struct {
    int64_t source, offset, first_axis, n_axes;
    int64_t exponent; /* the cells are to be multiplied by 2 to this power */
} FactorRow;

typedef struct {
    int64_t variable, stride;
    int64_t is_head; /* for each state of the others, the cells of all heads have the sum 1 */
} AxisRow;

typedef struct {
    int64_t variable; /* that is summed out, or NO_VARIABLE */
    int64_t first_input, n_inputs, output;
} StepRow;

typedef struct {
    int64_t offset, n_cells;
} FreeRow;

INLINE FactorRow *get_factor(const Plan *plan, int64_t i) {
    return (FactorRow *) plan->factors + i;
}

INLINE AxisRow *get_axes(const Plan *plan, const FactorRow *factor) {
    return (AxisRow *) plan->axes + factor->first_axis;
}

INLINE StepRow *get_step(const Plan *plan, int64_t i) {
    return (StepRow *) plan->steps + i;
}

/* Compute all steps of a plan into `cells`. Return whether a product fell below the smallest float.
 *
 * `total` becomes the product of all constants: a number, and the power of 2 that it is to be
 * multiplied by. */
ENGINE_API int64_t run_plan(
    const NetworkTables *network, const EvidenceCodes *evidence, const Plan *plan, double *cells,
    int64_t n_cells, double *total, int64_t n_total
);

/* Overwrite the distribution of each variable, which is its factor divided by the sum.
 *
 * `factors` has the factor of each variable, or -1: an observed one is sure of its state, and of
 * others nothing is written. Distribution v begins at starts[v]. */
ENGINE_API void read_marginals(
    const NetworkTables *network, const EvidenceCodes *evidence, const Plan *plan,
    const double *cells, int64_t n_cells, const int64_t *factors, int64_t n_factors,
    const int64_t *starts, int64_t n_starts, double *marginals, int64_t n_marginals
);

#endif
