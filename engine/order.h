/* Orders: best responses and local search by insertion moves.
 *
 * The best response to an order is, for each child, the first of its families, from the best score
 * to the worst, whose parents all come before the child. An insertion move takes one variable out
 * of the order and puts it into another place. (Teyssier and Koller 2005 search orders by swaps of
 * neighbours; Lee and van Beek 2017 search them by insertions, see coevo.search.ccma.)
 *
 * A move of v changes the score only where v passes a variable of one of its pairs
 * (family_index.h): v loses or gains a possible parent, or another variable loses or gains v. A bit
 * set of places sorts the few variables that matter. All other places are skipped, and a side is
 * left as soon as no gain is possible on it any more. The result is that of a scan over all places.
 *
 * A variable is tried again only if something near it has changed: it has moved, its parents have
 * changed, or it is a parent of such a variable. A full climb ends with a round over all variables
 * in which no move gains. A local optimum may then be perturbed (perturbation.h).
 */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include "allowed.h"

/* Add a variable to the queue unless it is there. */
INLINE void add_to_queue(TrackedOrder *tracked, int64_t v) {
    const OrderScratch *scratch = tracked->scratch;
    if (scratch->is_queued[v]) return;
    int64_t at = tracked->head + tracked->n_queued++;
    scratch->queue[at < tracked->n ? at : at - tracked->n] = v;
    scratch->is_queued[v] = true;
}

/* Move the variables in the queue until it is empty; return whether one has moved.
 *
 * A move must gain more than `least_gain`. */
bool climb_from_queue(TrackedOrder *tracked, double least_gain);

/* Find the best response, then move variables until no move gains.
 *
 * The variables are tried in the sequence `visits` first. */
void climb_order(TrackedOrder *tracked, const int64_t *visits, double least_gain);

/* Set asked[family] for each best response after any one move of an order.
 *
 * A move puts one variable into another place. It then has more or fewer predecessors. Every other
 * variable has one more, one fewer or the same. The current best responses are left out. */
ENGINE_API void flag_nearby_responses(
    const int64_t *order, int64_t n_order, const int64_t *choice, int64_t n_choice,
    const Families *families, const FamilyIndex *index, const OrderScratch *scratch, bool *asked,
    int64_t n_asked
);

#endif
