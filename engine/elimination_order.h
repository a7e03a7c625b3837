/* Orders in which the variables of some factors are summed out, and the cliques of their steps.
 *
 * The clique of a step is its variable and the variables that share a factor with it at that time.
 * Rules propose orders, one call each; the one with the fewest cells in all cliques is kept. Cells
 * are counted as doubles: exactly up to 2^53.
 *
 * Each variable has a row of bits: itself and its neighbours. A step connects the neighbours of its
 * variable and takes the variable out of their rows. Its own row stays as it is: it is the clique.
 *
 * Reference: U. B. Kjaerulff (1990), Triangulation of graphs: algorithms giving small total state
 * space, Aalborg University.
 */
#ifndef ENGINE_ELIMINATION_ORDER_H
#define ENGINE_ELIMINATION_ORDER_H

#include "engine.h"

/* What a greedy rule counts for each pair of neighbours that must be connected. */
enum {
    WEIGHTED_FILL, /* the product of the logarithms of both numbers of states */
    WEIGHT,        /* nothing: the smallest clique is next */
    FILL           /* one */
};

/* The places of `totals`. */
enum {
    N_CELLS,      /* of all cliques of the best order; NaN before there is one */
    N_OPERATIONS, /* of the last greedy run: pairs of a neighbour and a group of weights */
    N_TOTALS
};

enum {
    WORD_ROWS = 4,     /* rows of `rows` that are no cliques */
    INTEGER_ROWS = 14, /* rows of scratch, of n + 1 */
    FLOAT_ROWS = 4
};

/* The factors, the best order so far, and scratch. All runs for the same factors share it. */
typedef struct {
    const int64_t *start; /* factor k has the variables members[start[k]] to start[k + 1] - 1 */
    int64_t n_start;
    const int64_t *members;
    int64_t n_members;
    const int64_t *arities; /* of each of the n variables */
    int64_t n_arities;
    const bool *is_last; /* whether a variable comes after all others */
    int64_t n_is_last;
    double *totals;
    int64_t n_totals;
    int64_t *order; /* the best one */
    int64_t n_order;
    uint64_t *rows; /* n of the best order, n of the run, and WORD_ROWS */
    int64_t n_rows;
    int64_t rows_width;
    int64_t *integers;
    int64_t n_integers;
    int64_t integers_width;
    double *floats;
    int64_t n_floats;
    int64_t floats_width;
} InteractionGraph;

/* Take out the variable with the least fill until none is left; keep the order if it is better.
 *
 * Ties go to the smallest clique, then to the smallest number. Factors, if there are some, multiply
 * the fill of each variable. A run ends when it has as many cells as the best order. Return the
 * number of members of all cliques of the best order. */
ENGINE_API int64_t eliminate_greedily(
    const InteractionGraph *graph, int64_t rule, const double *factors, int64_t n_factors
);

/* Take out all variables in a sequence, the last ones last; keep the order if it is better.
 *
 * Return the number of members of all cliques of the best order. */
ENGINE_API int64_t
eliminate_in_order(const InteractionGraph *graph, const int64_t *sequence, int64_t n_sequence);

/* Overwrite the cliques of the best order: those of step i begin at start[i].
 *
 * The variable that is taken out last comes first. */
ENGINE_API void list_cliques(
    const InteractionGraph *graph, int64_t *clique_start, int64_t n_clique_start,
    int64_t *clique_members, int64_t n_clique_members
);

/* Overwrite the rows of the run by all variables and their neighbours before the first step; return
 * the first row. WORD_ROWS rows of scratch come behind the last one. */
uint64_t *connect_variables(const InteractionGraph *graph);

#endif
