/* Sums over all orders of the variables.
 *
 * A set of variables is a number: bit v says whether variable v is in it. sums[v] has, for each set
 * of the other variables, the log of the sum of the weights of all parent sets within it. The place
 * of v is left out of the numbers of these sets.
 */
#ifndef ENGINE_EXACT_ORDERS_H
#define ENGINE_EXACT_ORDERS_H

#include "engine.h"

/* Overwrite before[S] with the log weight of all orders of the set S, which come first. */
ENGINE_API void sum_orders_before(
    const double *sums, int64_t n_sums, int64_t sums_width, double *before, int64_t n_before
);

/* Overwrite after[S] with the log weight of all orders of the variables outside S.
 *
 * The variables of S come before them. */
ENGINE_API void sum_orders_after(
    const double *sums, int64_t n_sums, int64_t sums_width, double *after, int64_t n_after
);

/* Overwrite places[S] with the log weight of all orders in which S comes before a child.
 *
 * S is exactly the set of the variables before it. The weight has no family of the child. The log
 * weight of all orders is subtracted. */
ENGINE_API void weigh_places(
    const double *before, int64_t n_before, const double *after, int64_t n_after, int64_t child,
    double *places, int64_t n_places
);

/* Overwrite each row of `orders` with a random order, drawn from the last place to the first.
 *
 * lots[draw, i] is a random number between 0 and 1 for place i. */
ENGINE_API void draw_orders(
    const double *sums, int64_t n_sums, int64_t sums_width, const double *before, int64_t n_before,
    const double *lots, int64_t n_lots, int64_t lots_width, int64_t *orders, int64_t n_orders,
    int64_t orders_width
);

#endif
