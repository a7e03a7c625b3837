#include "ordering.h"

/* An item on its way through the places, in one direction. */
typedef struct {
    double gain; /* of the place that it has reached: one addition more than the last */
    double best_gain;
    int64_t best;
} Walk;

INLINE void step(Walk *walk, double change, int64_t place) {
    walk->gain += change;
    if (walk->gain > walk->best_gain) {
        walk->best = place;
        walk->best_gain = walk->gain;
    }
}

/* Return the best place for the item at position `at`; `at` if no move gains more than `least`.
 *
 * It walks in both directions at once. The additions of one direction wait for each other, so the
 * processor has time for those of the other one. */
static int64_t
find_place(const double *net, const int64_t *order, int64_t n, int64_t at, double least) {
    const double *row = net + order[at] * n;
    int64_t n_before = at, n_after = n - 1 - at, distance = 1;
    Walk back = {0.0, least, at}, ahead = {0.0, least, at};
    for (; distance <= n_before && distance <= n_after; distance++) {
        step(&back, row[order[at - distance]], at - distance);
        step(&ahead, -row[order[at + distance]], at + distance);
    }
    for (int64_t d = distance; d <= n_before; d++) step(&back, row[order[at - d]], at - d);
    for (int64_t d = distance; d <= n_after; d++) step(&ahead, -row[order[at + d]], at + d);
    return ahead.best_gain > back.best_gain ? ahead.best : back.best;
}

/* Move each item to its best position, until no move raises the weight. */
static void climb(const OrderingTable *table, int64_t *order) {
    int64_t n = table->n_net, at = 0, n_still = 0; /* items in turn that did not move */
    while (n_still < n) {
        int64_t place = find_place(table->net, order, n, at, table->least);
        n_still = place == at ? n_still + 1 : 0;
        move_item(order, at, place);
        at = at + 1 < n ? at + 1 : 0;
    }
}

static void
check_orders(const OrderingTable *table, const int64_t *orders, int64_t n_orders, int64_t n) {
    CHECK(table->n_weights == n && table->weights_width == n);
    CHECK(table->n_net == n && table->net_width == n);
    for (int64_t i = 0; i < n_orders * n; i++) CHECK(0 <= orders[i] && orders[i] < n);
}

void climb_orderings(
    const OrderingTable *table, int64_t *orders, int64_t n_orders, int64_t orders_width,
    double *totals, int64_t n_totals
) {
    check_orders(table, orders, n_orders, orders_width);
    CHECK(n_totals == n_orders);
    for (int64_t o = 0; o < n_orders; o++, orders += orders_width) {
        climb(table, orders);
        totals[o] = weigh_ordering(table->weights, orders, orders_width);
    }
}

void weigh_orderings(
    const OrderingTable *table, const int64_t *orders, int64_t n_orders, int64_t orders_width,
    double *totals, int64_t n_totals
) {
    check_orders(table, orders, n_orders, orders_width);
    CHECK(n_totals == n_orders);
    for (int64_t o = 0; o < n_orders; o++, orders += orders_width) {
        totals[o] = weigh_ordering(table->weights, orders, orders_width);
    }
}
