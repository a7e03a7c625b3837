/* Cuts on a few variables: the networks with the fewest points, and the lifting of points.
 *
 * A table has one row for each of s variables, and one column for each set of parents among them, a
 * number of s bits. Entries whose parents contain the variable itself are never read. The fewest
 * points of all networks are found by dynamic programming over the sets of variables that come
 * first.
 */
#ifndef ENGINE_LOCAL_H
#define ENGINE_LOCAL_H

#include "engine.h"

/* Points, and networks with the fewest points: one for each variable, which is the last one. */
typedef struct {
    const double *points; /* (s, 2^s) */
    int64_t n_points;
    int64_t points_width;
    int64_t *networks; /* (s, s), [v, u]: the parents of u in a network whose last variable is v */
    int64_t n_networks;
    int64_t networks_width;
    double *totals; /* (s,), the points of each network */
    int64_t n_totals;
} LocalNetworks;

/* The tables of the dynamic programme. */
typedef struct {
    double *least; /* (s, 2^s), [v, S]: the fewest points of v with parents inside S ... */
    int64_t n_least;
    int64_t least_width;
    int64_t *chosen; /* (s, 2^s), ... which are those of these parents */
    int64_t n_chosen;
    int64_t chosen_width;
    double *fewest; /* (2^s,), [S]: the fewest points of a network of the variables of S ... */
    int64_t n_fewest;
    int64_t *last; /* (2^s,), ... and the last variable of this network */
    int64_t n_last;
} LocalScratch;

/* Overwrite the networks and their points. */
ENGINE_API void find_best_networks(const LocalNetworks *local, const LocalScratch *scratch);

/* Lower the points at some places, in this order, as far as each network keeps `right` points.
 *
 * A place is a variable and its parents. */
ENGINE_API void lift_points(
    double *points, int64_t n_points, int64_t points_width, double right, const int64_t *places,
    int64_t n_places, int64_t places_width, const LocalScratch *scratch
);

#endif
