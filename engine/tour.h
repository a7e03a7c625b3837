/* Tours: measure them, and climb by 2-opt and or-opt.
 *
 * A tour is a permutation of the cities. It is a cycle: the first city follows the last one. The
 * distances are symmetric, n rows of n. Random numbers come as arrays.
 *
 * References: J. L. Bentley (1992), Fast algorithms for geometric traveling salesman problems, ORSA
 * Journal on Computing 4, 387-411 (2-opt and or-opt with neighbour lists and a queue). O. Martin,
 * S. W. Otto, E. W. Felten (1991), Large-step Markov chains for the traveling salesman problem,
 * Complex Systems 5, 299-326 (the double bridge).
 */
#ifndef ENGINE_TOUR_H
#define ENGINE_TOUR_H

#include "engine.h"

enum { TOUR_SCRATCH = 4 }; /* rows of scratch */

/* What all climbs share. */
typedef struct {
    const double *distances;
    int64_t n_distances;
    int64_t distances_width;
    const int64_t *rows; /* of each city, the neighbours that moves may join it to, nearest first */
    int64_t n_rows;
    int64_t rows_width;
    double *credit; /* of each neighbour in a row, the gains of the moves that used it */
    int64_t n_credit;
    int64_t credit_width;
    int64_t *scratch; /* TOUR_SCRATCH rows of n */
    int64_t n_scratch;
    int64_t scratch_width;
    double least; /* a smaller gain is round-off */
} TourTable;

/* Overwrite each tour with a shorter one: climb, then perturb and climb again and again.
 *
 * Tour t is perturbed by draws[t], three numbers from [0, 1) each time; a longer tour is undone.
 * The gains of all moves are added to table->credit. Needs five cities. */
ENGINE_API void climb_tours(
    const TourTable *table, int64_t *tours, int64_t n_tours, int64_t tours_width, double *lengths,
    int64_t n_lengths, const double *draws, int64_t n_draws, int64_t draws_width,
    int64_t draws_depth
);

/* Return the length of a tour. */
INLINE double measure_tour(const double *distances, const int64_t *tour, int64_t n) {
    double total = distances[tour[n - 1] * n + tour[0]];
    for (int64_t i = 1; i < n; i++) total += distances[tour[i - 1] * n + tour[i]];
    return total;
}

#endif
