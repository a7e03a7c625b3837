/* Layerings: the sum over all DAGs of a layering, and draws of layerings and DAGs.
 *
 * Each DAG has one layering: variables without parents are in layer 0, and every other variable is
 * in the layer after the last of its parents. So a variable in layer k has all its parents in
 * earlier layers, and at least one in layer k - 1. The weight of a layering is the sum of the
 * weights of its DAGs. It is a product over the variables, because under a layering they choose
 * their parents independently. The term of a variable is the difference of two sums over subsets:
 * those of the candidates before layer k, minus those of the candidates before layer k - 1. Where
 * the two nearly agree, digits would be lost. There the families are added up one by one.
 *
 * A family suits a variable if the highest level of its parents is the needed level: the level of
 * the layer before, or NO_PARENTS in the first layer.
 */
#ifndef ENGINE_LAYERING_H
#define ENGINE_LAYERING_H

#include "chain_tables.h"

/* A layering, and the terms of its variables. */
typedef struct {
    int64_t n;
    int64_t *level;  /* twice the layer of each variable */
    int64_t *counts; /* n + 1; the number of variables of each layer */
    double *terms;   /* the log of the sum of the families that suit each variable */
    int64_t n_layers;
    double log_weight;
} Layering;

/* Room for a relocation. The places of a variable are numbered from the first layer to the last: 2
 * k is the gap before layer k, where it would be a new layer, and 2 k + 1 is layer k. */
typedef struct {
    double *variants; /* 4 x n, see N_VARIANTS */
    double *sums;     /* 4 x (n + 1); of each variant over each layer */
    int64_t *rivals;  /* n + 1; variables of each layer that the moved one is no parent of */
    double *own;      /* n + 1; the term of the moved variable in each layer */
    double *places;   /* 2 n + 1; the log weight of the layering with it in each place */
    double *shares;   /* 2 n + 1 */
} LayeringRoom;

/* Overwrite all that follows from the levels: counts, terms, layers and the log weight. */
void weigh_layering(const ChainArrays *tables, Layering *layering);

/* Take v out and put it into a random place: one of the r layers that are left, or a new layer in
 * one of the r + 1 gaps, each with its exact probability. This is a Gibbs step: nothing is
 * rejected. All 2 r + 1 weights together need at most four terms of each variable that may have v
 * as a parent, and r + 1 terms of v. Return whether the layering has changed. */
bool relocate_in_layering(
    const ChainArrays *tables, Layering *layering, const LayeringRoom *room, int64_t v,
    double uniform
);

/* Overwrite `choice` with the families of a random DAG of the layering. */
void draw_layering_dag(
    const ChainArrays *tables, const Layering *layering, const double *uniforms, int64_t *choice
);

/* Overwrite `order` with the variables in ascending sequence of their levels. */
void sort_layering(const Layering *layering, int64_t *order);

/* Overwrite the levels with those of the DAG of the chosen families. In `order` parents come before
 * their children. */
void find_layering(
    const ChainArrays *tables, const int64_t *choice, const int64_t *order, Layering *layering
);

/* Add the probability of each possible arc, given the layering. */
void add_layering_arcs(const ChainArrays *tables, const Layering *layering, double *arcs);

#endif
