/* The choice of the moves of a hill climbing among the candidates of each child. */
#ifndef ENGINE_SPARSE_CLIMB_H
#define ENGINE_SPARSE_CLIMB_H

#include "engine.h"

/* A structure among the candidates of each child: n rows of k. */
typedef struct {
    const int32_t *candidates;
    int64_t n_candidates;
    int64_t candidates_width;
    const int64_t *reverse_of; /* the place of the child in the row of its candidate; -1 if none */
    int64_t n_reverse_of;
    int64_t reverse_of_width;
    bool *is_parent;
    int64_t n_is_parent;
    int64_t is_parent_width;
    bool *changed; /* whether a move has changed the parents of the child */
    int64_t n_changed;
    int64_t *seen; /* scratch: the last search that has visited a variable */
    int64_t n_seen;
    int64_t *waiting; /* scratch */
    int64_t n_waiting;
} SparseGraph;

/* Make the first `n_moves` legal moves of a ranked list; return how many there were.
 *
 * A move is (kind * n + child) * k + place: the candidate at this place of the row of the child is
 * added, deleted, or becomes a child instead (the kinds of climb.h). A child changes at most once,
 * because its gains are old after that. `changed` is overwritten. */
ENGINE_API int64_t
choose_moves(const SparseGraph *graph, const int64_t *ranked, int64_t n_ranked, int64_t n_moves);

#endif
