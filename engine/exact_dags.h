/* Sums over all DAGs, layer by layer, and draws of layers.
 *
 * The docstring of coevo.posteriors.exact explains the sums, and why they may use plain floats.
 * A set of variables is a number: bit v says whether variable v is in it. A *state* is a pair of
 * sets: the variables of all layers so far, and those of all layers but the last, which are fewer.
 * The number of a state has one digit in base 3 for each variable: 0 if it is in no layer so far,
 * 1 if it is in an earlier layer, 2 if it is in the last layer.
 *
 * The functions visit one set U of all layers so far after the other. For each, they go through its
 * subsets, the possible earlier layers, in blocks of four: processors add and multiply four floats
 * at once.
 */
#ifndef ENGINE_EXACT_DAGS_H
#define ENGINE_EXACT_DAGS_H

#include "engine.h"

/* The sums over parent sets. The place of the child is left out of all sets, and in `steps` also
 * that of t. A pair (v, t) is numbered v * (n - 1) + t, without v among the numbers of t. */
typedef struct {
    const double *sums; /* (n, 2^(n-1)), [v, S]: log of the sum of all parent sets within S */
    int64_t n_sums;
    int64_t sums_width;
    /* (n * (n-1), 2^(n-2), 2), [(v, t), S]: of the weight of all parent sets of v within S + t, the
     * share of the sets with t, and the share of the sets without t; no logs */
    const double *steps;
    int64_t n_steps;
    int64_t steps_width;
    int64_t steps_depth;
    const int64_t *powers; /* (2^n,), the sum of 3^v over the variables v of a set */
    int64_t n_powers;
} LayerTables;

/* What follows the layers so far. */
typedef struct {
    double *states; /* (3^n,), log weight of all that can follow a state */
    int64_t n_states;
    double *scales; /* (2^n,), log of the scale of the sums over the layers that follow a set */
    int64_t n_scales;
} LayerSums;

/* Working memory for one set U: its members, and the free variables outside it. */
typedef struct {
    int64_t *members; /* (n,), the variables of U */
    int64_t n_members;
    int64_t *free; /* (n,), the other variables */
    int64_t n_free;
    double *log_free; /* (n,), log sums of their parent sets within U */
    int64_t n_log_free;
    int64_t *subsets; /* (2^n,), the subsets of U */
    int64_t n_subsets;
    int64_t *layers; /* (2^n,), the sets of free variables */
    int64_t n_layers;
    double *logs; /* (2^n,), the sums of `log_free` over these sets */
    int64_t n_logs;
    double *after; /* (2^n,), scaled weights of all that follows a layer */
    int64_t n_after;
    double *work; /* (4 * 2^n,) */
    int64_t n_work;
    double *totals; /* (4 * 2^n,) */
    int64_t n_totals;
    double *rests; /* (2^n,), shares of the parent sets within a subset of U */
    int64_t n_rests;
    double *shares; /* (2^n,), shares of the others, see `fill_shares` */
    int64_t n_shares;
    double *pieces; /* (2^n,) */
    int64_t n_pieces;
} LayerScratch;

/* Where draws are, and how they continue. */
typedef struct {
    int64_t *reached; /* (draws, 2): the variables of all layers, and of all layers but the last */
    int64_t n_reached;
    int64_t reached_width;
    const double *lots; /* (draws,), a random number between 0 and 1 for the next layer */
    int64_t n_lots;
    double *log_totals; /* (draws, n), log weight of all possible parent sets of each variable */
    int64_t n_log_totals;
    int64_t log_totals_width;
} LayerDraws;

/* Sum up what follows the sets from `end` - 1 down to `begin`; larger ones were done before.
 *
 * The entries of these sets in `sums` are overwritten. Return the log of the sum of the weights of
 * all DAGs if `begin` is 0, else nan. */
ENGINE_API double sum_layerings(
    const LayerTables *tables, const LayerSums *sums, const LayerScratch *scratch, int64_t begin,
    int64_t end
);

/* Add to found[(v, t), S] the probability that v has parents within S + t, with t.
 *
 * Visit the sets from `begin` to `end` - 1; smaller ones were visited before.
 *
 * These events exclude each other: the variables of S + t are in the earlier layers of v, or in the
 * last one before it and not after t. `sums` come from `sum_layerings`. Its states are overwritten:
 * the new entries are the weights of all that leads to a state, times the scale of what follows
 * it. */
ENGINE_API void share_layerings(
    const LayerTables *tables, const LayerSums *sums, const LayerScratch *scratch, int64_t begin,
    int64_t end, double *found, int64_t n_found, int64_t found_width
);

/* Draw the next layer of each draw, and add it to its state, which is none in the beginning.
 *
 * `sequence` lists the draws, those in the same state together. log_totals[draw, v] is overwritten
 * for each v in the new layer. */
ENGINE_API void draw_layers(
    const LayerTables *tables, const LayerSums *sums, const LayerScratch *scratch,
    const int64_t *sequence, int64_t n_sequence, const LayerDraws *draws
);

#endif
