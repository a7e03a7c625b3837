/* Hill climbing among the candidates of each child: the families to score, and the moves. */
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

/* List the families of some children after each of their candidates is added or removed as a
 * parent; return how many there are.
 *
 * may_change[child, place] says which candidates these are; a child with `max_parents` parents gets
 * no further one. Family f has the members start[f] to start[f + 1]: the child, and its parents,
 * ascending. toggled[f] is its candidate, child * k + place. There must be room for all candidates
 * of the children, each with all parents and the child. */
ENGINE_API int64_t list_toggles(
    const SparseGraph *graph, const bool *may_change, int64_t n_may_change,
    int64_t may_change_width, const int64_t *children, int64_t n_children, int64_t max_parents,
    int32_t *members, int64_t n_members, int64_t *start, int64_t n_start, int64_t *toggled,
    int64_t n_toggled
);

/* List all moves that gain more than `least_gain`, the best first; return how many there are.
 *
 * gains[child, place] is what toggling the candidate adds to the score of the child. Gains are
 * multiples of `tie`. Of equal ones a deletion comes first, then an addition, then a reversal; then
 * the first parent, and the first child. `moves` and `rounded` have room for all moves. */
ENGINE_API int64_t rank_moves(
    const SparseGraph *graph, const double *gains, int64_t n_gains, int64_t gains_width,
    int64_t max_parents, double least_gain, double tie, int64_t *moves, int64_t n_moves,
    double *rounded, int64_t n_rounded
);

/* Make the first `n_moves` legal moves of a ranked list; return how many there were.
 *
 * A move is (kind * n + child) * k + place: the candidate at this place of the row of the child is
 * added, deleted, or becomes a child instead (the kinds of climb.h). A child changes at most once,
 * because its gains are old after that. `changed` is overwritten. */
ENGINE_API int64_t
choose_moves(const SparseGraph *graph, const int64_t *ranked, int64_t n_ranked, int64_t n_moves);

#endif
