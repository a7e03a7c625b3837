/* Orderings: weigh them, and climb by insertion moves.
 *
 * An ordering is a permutation of the items. Its weight is the sum of the weights of all pairs
 * (i, j) with i before j: the forward arcs of a complete acyclic graph. Matrices are n rows of n.
 */
#ifndef ENGINE_ORDERING_H
#define ENGINE_ORDERING_H

#include "engine.h"

typedef struct {
    const double *weights; /* [i, j]: of i before j */
    int64_t n_weights;
    int64_t weights_width;
    const double *net; /* weights[i, j] - weights[j, i] */
    int64_t n_net;
    int64_t net_width;
    double least; /* a smaller gain is round-off */
} OrderingTable;

/* Overwrite each order with one that no insertion makes heavier, and `totals` with the weights. */
ENGINE_API void climb_orderings(
    const OrderingTable *table, int64_t *orders, int64_t n_orders, int64_t orders_width,
    double *totals, int64_t n_totals
);

/* Overwrite `totals` with the weight of each order. */
ENGINE_API void weigh_orderings(
    const OrderingTable *table, const int64_t *orders, int64_t n_orders, int64_t orders_width,
    double *totals, int64_t n_totals
);

/* Return the weight of an order. */
INLINE double weigh_ordering(const double *weights, const int64_t *order, int64_t n) {
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double *row = weights + order[i] * n;
        for (int64_t j = i + 1; j < n; j++) total += row[order[j]];
    }
    return total;
}

/* Move the item at position `source` to position `target`. */
INLINE void move_item(int64_t *order, int64_t source, int64_t target) {
    int64_t item = order[source], step = target > source ? 1 : -1;
    for (; source != target; source += step) order[source] = order[source + step];
    order[target] = item;
}

#endif
