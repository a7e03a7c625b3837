/* Graphs become DAGs: arcs are inserted one after another, what closes a cycle is skipped. */
#ifndef ENGINE_REPAIR_H
#define ENGINE_REPAIR_H

#include "decode.h"
#include "engine.h"

/* What all graphs begin with, [parent, child], and scratch. */
typedef struct {
    const bool *required;
    int64_t n_required;
    int64_t required_width;
    const bool *reach_of_required; /* [a, b]: b is reachable from a over required arcs */
    int64_t n_reach_of_required;
    int64_t reach_of_required_width;
    bool *reach; /* in the graph that is repaired */
    int64_t n_reach;
    int64_t reach_width;
    int64_t *counts; /* the required parents of each variable; all of its parents */
    int64_t n_counts;
    int64_t counts_width;
    double *cells; /* of their tables */
    int64_t n_cells;
    int64_t cells_width;
} RepairTable;

/* Overwrite graphs[g] with the required arcs and those of g that can be inserted.
 *
 * The arcs of g are begin[g] to begin[g + 1] of `parents` and `children`. They are inserted in this
 * order. An arc is skipped if it closes a cycle, or if its child would have too many parents or a
 * table with too many cells. */
ENGINE_API void insert_arcs(
    const int64_t *begin, int64_t n_begin, const int64_t *parents, int64_t n_parents,
    const int64_t *children, int64_t n_children, const RepairTable *table,
    const ParentLimits *limits, bool *graphs, int64_t n_graphs, int64_t graphs_width,
    int64_t graphs_depth
);

#endif
