/* Climbs of orders, each followed by perturbations and further climbs.
 *
 * An order that no move improves is *perturbed*, and climbs again. The result is dropped if its
 * score is lower. Moving single variables at random does not help: they move back. The usual
 * obstacle is a chain of arcs that must be reversed together. There are two kinds of perturbation:
 *
 * - *global*: the order is replaced by a random topological order of its structure. Then a block of
 *   neighbours is moved to another place, reversed in half of the cases, and all variables are
 *   tried.
 * - *local*: a few variables that arcs connect exchange their places, and only what is near them is
 *   tried. It takes microseconds, whatever the number of variables. In a wide table, where a global
 *   perturbation disturbs a hundred parts of the structure at once, a local one disturbs one part,
 *   and is judged by it.
 */
#ifndef ENGINE_PERTURBATION_H
#define ENGINE_PERTURBATION_H

#include "order.h"

/* Random numbers, all in [0, 1). Python has the same constants. */
enum {
    GLOBAL_DRAWS = 4,  /* of a global perturbation, in addition to one for each variable */
    LARGEST_GROUP = 8, /* variables of a local perturbation */
    LOCAL_DRAWS = 2 + 2 * LARGEST_GROUP /* a size, a first variable, and two for each variable */
};

/* Overwrite `order` with a random topological order of the structure of `choice`.
 *
 * lots[v] is a random number. Of the variables whose parents are all placed, the one with the
 * smallest number comes next. */
ENGINE_API void draw_order(
    const int64_t *choice, int64_t n_choice, const Families *families, const FamilyIndex *index,
    const OrderScratch *scratch, const double *lots, int64_t n_lots, int64_t *order, int64_t n_order
);

/* Improve each order in place by insertion moves, until no move gains.
 *
 * visits[o] is the sequence in which the variables of order o are tried first. perturbations[o] has
 * a row of random numbers for each global perturbation: one for each variable, then GLOBAL_DRAWS
 * more. local_draws[o] has a row of LOCAL_DRAWS for each local one. `choice` is overwritten with
 * the best responses. A move must gain more than `least_gain`. If that is infinite, the orders stay
 * unchanged and only their best responses are found. */
ENGINE_API void climb_orders(
    int64_t *orders, int64_t n_orders, int64_t orders_width, const int64_t *visits,
    int64_t n_visits, int64_t visits_width, const double *perturbations, int64_t n_perturbations,
    int64_t perturbations_width, int64_t perturbations_depth, const double *local_draws,
    int64_t n_local_draws, int64_t local_draws_width, int64_t local_draws_depth,
    const Families *families, const FamilyIndex *index, const OrderScratch *scratch,
    double least_gain, int64_t *choice, int64_t n_choice, int64_t choice_width
);

#endif
