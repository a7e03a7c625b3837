/* Run a chain: rounds of moves, then the arc probabilities and a DAG.
 *
 * A round of a chain over layerings relocates some variables, draws a DAG of the layering, redraws
 * blocks of families of this DAG, and takes the layering of the result. Each of these four keeps
 * the posterior over DAGs (with the uniform prior) as its stationary distribution. A round of a
 * chain over orders relocates some variables and draws a DAG of the order.
 *
 * After each round the probability of each arc, given the layering or the order, is added up. It
 * comes from the tables and is exact (Rao-Blackwell): it has a smaller variance than the arcs of
 * the drawn DAG.
 */
#ifndef ENGINE_CHAIN_H
#define ENGINE_CHAIN_H

#include "block.h"
#include "layering.h"
#include "order_chain.h"

/* Where a chain is, its random numbers, and what it records. */
typedef struct {
    int64_t *level; /* n; twice the layer or the place of each variable */
    int64_t n_level;
    const double *uniforms; /* a row for each round */
    int64_t n_uniforms;
    int64_t uniforms_width;
    double *arcs; /* the sum of the probabilities of each possible arc */
    int64_t n_arcs;
    double *trace; /* the log weight of the layering or the order after each round */
    int64_t n_trace;
    int32_t *dags; /* [round, variable]: the families of the drawn DAG */
    int64_t n_dags;
    int64_t dags_width;
    int32_t *best; /* n; the families of the best DAG */
    int64_t n_best;
    double *best_weight; /* 1; its log weight */
    int64_t n_best_weight;
    int64_t *counts; /* [move, 2]: the number of moves of each kind, made and changed */
    int64_t n_counts;
    int64_t counts_width;
} ChainRun;

/* Working memory of a chain. */
typedef struct {
    double *terms; /* n */
    int64_t n_terms;
    int64_t *order; /* n */
    int64_t n_order;
    int64_t *choice; /* n */
    int64_t n_choice;
    int64_t *counts; /* n + 1 */
    int64_t n_counts;
    int64_t *rivals; /* n + 1 */
    int64_t n_rivals;
    double *variants; /* 4 n */
    int64_t n_variants;
    double *sums; /* 4 n */
    int64_t n_sums;
    double *own; /* n + 1 */
    int64_t n_own;
    double *logs; /* 2 n + 1, and one for each layering of a block */
    int64_t n_logs;
    double *shares; /* as many */
    int64_t n_shares;
    int64_t *reached; /* n */
    int64_t n_reached;
    int64_t *spare; /* n */
    int64_t n_spare;
    double *block_terms; /* block_size x 2^block_size x 2^block_size */
    int64_t n_block_terms;
} ChainScratch;

/* Run the rounds from `begin` to `end` - 1 of a chain over layerings, from the level alone.
 *
 * Return the log weight of the last layering. If it is -inf, no DAG of the tables has it, and the
 * chain has stopped before it drew one. */
ENGINE_API double run_layerings(
    const ChainArrays *tables, const RoundPlan *plan, const ChainRun *run,
    const ChainScratch *scratch, int64_t begin, int64_t end
);

/* The same for a chain over orders, which has no blocks. */
ENGINE_API double run_orders(
    const ChainArrays *tables, const RoundPlan *plan, const ChainRun *run,
    const ChainScratch *scratch, int64_t begin, int64_t end
);

#endif
