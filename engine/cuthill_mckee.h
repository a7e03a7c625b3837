/* The order of Cuthill and McKee: a proposal for the sequence in which variables are summed out.
 *
 * Reference: E. Cuthill, J. McKee (1969), Reducing the bandwidth of sparse symmetric matrices,
 * Proceedings of the 24th National Conference of the ACM.
 */
#ifndef ENGINE_CUTHILL_MCKEE_H
#define ENGINE_CUTHILL_MCKEE_H

#include "elimination_order.h"

/* Overwrite the order of Cuthill and McKee, from a far end of each component.
 *
 * After a variable come its neighbours, those with the fewest neighbours first. */
ENGINE_API void
list_cuthill_mckee(const InteractionGraph *graph, int64_t *sequence, int64_t n_sequence);

#endif
