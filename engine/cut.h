/* The search for violated cluster cuts.
 *
 * In every set C of at least k variables, at least k have fewer than k parents in C: the first k of
 * an order of the network. The *value* of C in a solution of the linear programme is the sum of the
 * shares of the families whose child is in C and that have fewer than k parents there. A value
 * below k violates the cut. `grow_clusters` starts with a child and one of its parents and adds the
 * variable that lowers the value most, one at a time.
 */
#ifndef ENGINE_CUT_H
#define ENGINE_CUT_H

#include "engine.h"

/* The families with a share in a solution. */
typedef struct {
    const int32_t *children; /* (families,) */
    int64_t n_children;
    const int32_t *parents; /* (width, families), columns end with the number of variables n */
    int64_t n_parents;
    int64_t parents_width;
    const double *shares; /* (families,), above 0 */
    int64_t n_shares;
} UsedFamilies;

/* Working memory for one cluster. The last flag and change are those of no variable. */
typedef struct {
    bool *inside; /* (n + 1,), the members */
    int64_t n_inside;
    int32_t *hits; /* (families,), parents among the members */
    int64_t n_hits;
    int64_t *own; /* (families,), the families of the members */
    int64_t n_own;
    double *change; /* (n + 1,), how a further member changes the value */
    int64_t n_change;
    int64_t *order; /* (n,), the members in the order of their addition */
    int64_t n_order;
} ClusterScratch;

/* Overwrite row s of `clusters` with the best cluster found from start s, and its value.
 *
 * The last column of `clusters`, for n, stays false. There are more than k variables. */
ENGINE_API void grow_clusters(
    const UsedFamilies *families, int64_t k, const int64_t *starts, int64_t n_starts,
    int64_t starts_width, const ClusterScratch *scratch, bool *clusters, int64_t n_clusters,
    int64_t clusters_width, double *values, int64_t n_values
);

#endif
