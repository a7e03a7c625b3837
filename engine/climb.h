/* Moves on a structure: legality, gains, the best move, and reachability.
 *
 * A move deletes, adds or reverses one arc. The number of a move is (kind * n + parent) * n +
 * child. Of equally good moves, the one with the smallest number is made. All matrices are [parent,
 * child], n rows of n.
 */
#ifndef ENGINE_CLIMB_H
#define ENGINE_CLIMB_H

#include "engine.h"

enum { DELETE, ADD, REVERSE, N_KINDS }; /* kinds of moves, in the order of equally good ones */
enum { UNKNOWN = -2 };                  /* the parent of the best addition, after a change */

/* The tables that determine the legality and the gain of all moves. */
typedef struct {
    const bool *arcs;
    int64_t n_arcs;
    int64_t arcs_width;
    const double *gains; /* of toggling each parent of each child */
    int64_t n_gains;
    int64_t gains_width;
    bool *reach; /* [a, b]: there is a path from a to b */
    int64_t n_reach;
    int64_t reach_width;
    const bool *may_add;
    int64_t n_may_add;
    int64_t may_add_width;
    const bool *may_delete;
    int64_t n_may_delete;
    int64_t may_delete_width;
    const bool *has_room; /* the child may have one more parent */
    int64_t n_has_room;
} MoveTable;

/* The best arc that can be added to each child, from move to move. */
typedef struct {
    int64_t *parent; /* -1 if no addition is legal */
    int64_t n_parent;
    double *gain;
    int64_t n_gain;
} BestAdditions;

/* Return the number of the best legal move, -1 if none is.
 *
 * Moves whose gains differ by less than `least_gain` are equally good. A move may not change a pair
 * that is `forbidden` in either direction. */
ENGINE_API int64_t find_best_move(
    const MoveTable *board, const bool *forbidden, int64_t n_forbidden, int64_t forbidden_width,
    double least_gain
);

/* Return what `find_best_move` returns with nothing forbidden, in less time.
 *
 * The caller sets additions->parent[c] to UNKNOWN where the column of c has changed, and everywhere
 * after an arc is deleted. */
ENGINE_API int64_t
find_steepest_move(const MoveTable *board, const BestAdditions *additions, double least_gain);

/* Overwrite table[kind, parent, child] with the gain of each move; -infinity if it is illegal. */
ENGINE_API void fill_move_gains(
    const MoveTable *board, double *table, int64_t n_table, int64_t table_width, int64_t table_depth
);

/* Add a path from parent to child to board->reach. */
ENGINE_API void add_path(const MoveTable *board, int64_t parent, int64_t child);

/* Add a path from parent to child to `reach`, and all paths that it continues. */
INLINE void extend_reach(bool *reach, int64_t n, int64_t parent, int64_t child) {
    const bool *after = reach + child * n;
    for (int64_t a = 0; a < n; a++) {
        bool *row = reach + a * n;
        bool gains_path = (a == parent || row[parent]) && !row[child];
        if (!gains_path) continue;
        row[child] = true;
        for (int64_t b = 0; b < n; b++) row[b] |= after[b];
    }
}

/* Overwrite reach[a, b] with whether b is reachable from a, over one arc or more. */
ENGINE_API void fill_reachability(
    const bool *arcs, int64_t n_arcs, int64_t arcs_width, bool *reach, int64_t n_reach,
    int64_t reach_width
);

#endif
