/* Orders: the sum over all DAGs of an order, and draws of orders and DAGs.
 *
 * Under an order each variable chooses its parents among those that come before it, independently
 * of all others. So the term of a variable is one look-up: the sum over all subsets of the
 * candidates before it. The weight of an order is the product of the terms (Friedman and Koller
 * 2003). A DAG counts once for each of its topological orders.
 */
#ifndef ENGINE_ORDER_CHAIN_H
#define ENGINE_ORDER_CHAIN_H

#include "chain_tables.h"

/* An order, and the terms of its variables. */
typedef struct {
    int64_t n;
    int64_t *level; /* twice the place of each variable */
    int64_t *order; /* the variable at each place */
    double *terms;  /* the log of the sum of the families of each variable with earlier parents */
    double log_weight;
} VariableOrder;

/* Room for a relocation, with n items each. */
typedef struct {
    double *after;  /* the term of each variable if the moved one comes before it */
    double *own;    /* the term of the moved variable in each place */
    double *places; /* the log weight of the order with it in each place */
    double *shares;
} OrderRoom;

/* Overwrite all that follows from the levels: the order, the terms and the log weight. */
void weigh_order(const ChainArrays *tables, VariableOrder *order);

/* Take v out and put it into one of n places, each with its exact probability: a Gibbs step, as
 * `relocate_in_layering`. All n weights need two terms of each variable that may have v as a
 * parent, and one term for each possible parent of v. Return whether the order has changed. */
bool relocate_in_order(
    const ChainArrays *tables, VariableOrder *order, const OrderRoom *room, int64_t v,
    double uniform
);

/* Overwrite `choice` with the families of a random DAG of the order. */
void draw_order_dag(
    const ChainArrays *tables, const VariableOrder *order, const double *uniforms, int64_t *choice
);

/* Add the probability of each possible arc, given the order. */
void add_order_arcs(const ChainArrays *tables, const VariableOrder *order, double *arcs);

#endif
