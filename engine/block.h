/* Redraw the families of a few variables of a DAG together, exactly.
 *
 * Take the arcs into a block of q variables, its members, away. What is left is a DAG. New families
 * of the block close no cycle if and only if the graph over the block is acyclic in which i leads
 * to j if a parent of j is i or a descendant of i. This graph has a layering, as every DAG. So the
 * sum over all choices of the q families is a sum over the layerings of q variables (3, 13, 75 or
 * 541 for 2 to 5), each a product of terms, each a difference of two look-ups. A layering is drawn
 * with its exact probability, then each family by itself.
 *
 * It is a Gibbs step: the conditional distribution of q families given all others. Nothing is
 * rejected. The block is chosen at random without regard to the current DAG. A block of two turns
 * an arc and redraws both families, as the move of Grzegorczyk and Husmeier (Improving the
 * structure MCMC sampler for Bayesian networks by introducing a new edge reversal move, Machine
 * Learning 71, 2008). Blocks of one to three without these sums are in Goudie and Mukherjee (A
 * Gibbs sampler for learning DAGs, JMLR 17, 2016).
 */
#ifndef ENGINE_BLOCK_H
#define ENGINE_BLOCK_H

#include "chain_tables.h"

enum { MAX_BLOCK_SIZE = 5, MAX_BLOCK_SETS = 1 << MAX_BLOCK_SIZE };

/* The moves of a round, how blocks are chosen, and all layerings of 1 to `block_size` members. Sets
 * of members are numbers: bit j stands for member j. */
typedef struct {
    int64_t n_relocations;
    int64_t n_blocks;
    int64_t block_size;  /* the largest number of members, at most MAX_BLOCK_SIZE */
    const double *first; /* n; cumulative chances of the first member of a block */
    int64_t n_first;
    const int64_t *near_begin; /* n + 1; neighbours of v: near_begin[v] and following */
    int64_t n_near_begin;
    const int64_t *near;
    int64_t n_near;
    const int64_t *layering_begin; /* of the layerings of q members */
    int64_t n_layering_begin;
    const int64_t *earlier; /* [layering, member]: the members in earlier layers */
    int64_t n_earlier;
    int64_t earlier_width;
    const int64_t *last; /* [layering, member]: those in the layer before */
    int64_t n_last;
    int64_t last_width;
} RoundPlan;

/* A DAG: the family of each variable, and an order in which parents come before their children. */
typedef struct {
    int64_t n;
    int64_t *choice;
    int64_t *order;
} ChosenDag;

/* Room for a block of q members. */
typedef struct {
    int64_t *reached; /* n */
    int64_t *spare;   /* n */
    double *terms;    /* q x 2^q x 2^q */
    double *logs;     /* one for each layering */
    double *shares;
} BlockRoom;

/* The random numbers that a block needs: to choose it, and to redraw it. */
INLINE int64_t count_choosing_uniforms(int64_t size) {
    return 2 * size - 1;
}

INLINE int64_t count_redrawing_uniforms(int64_t size) {
    return 1 + size;
}

/* Overwrite `members` with a random variable and near ones; return how many they are. The choice
 * does not depend on the DAG. */
int64_t choose_block(const RoundPlan *plan, const double *uniforms, int64_t *members);

/* Redraw the families of q members of a DAG; return whether any family has changed. */
bool redraw_block(
    const ChainArrays *tables, const RoundPlan *plan, const ChosenDag *dag, const int64_t *members,
    int64_t q, const double *uniforms, const BlockRoom *room
);

#endif
