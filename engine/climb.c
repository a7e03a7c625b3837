#include "climb.h"

#define NEVER (-INFINITY) /* the gain of an illegal move */

typedef struct {
    int64_t number; /* -1 if there is none */
    double gain;
} FoundMove;

static void check_board(const MoveTable *board) {
    int64_t n = board->n_arcs;
    CHECK(board->arcs_width == n && board->n_gains == n && board->gains_width == n);
    CHECK(board->n_reach == n && board->reach_width == n && board->n_has_room == n);
    CHECK(board->n_may_add == n && board->may_add_width == n);
    CHECK(board->n_may_delete == n && board->may_delete_width == n);
}

/* Return the gain of a move, NEVER if it is illegal. A reversal is not checked for detours. */
INLINE double measure_gain(const MoveTable *board, int kind, int64_t parent, int64_t child) {
    int64_t n = board->n_arcs, pair = parent * n + child, back = child * n + parent;
    if (kind == ADD) {
        bool makes_cycle = board->reach[back];
        bool is_legal =
            !board->arcs[pair] && !makes_cycle && board->may_add[pair] && board->has_room[child];
        return is_legal ? board->gains[pair] : NEVER;
    }
    if (!board->arcs[pair] || !board->may_delete[pair]) return NEVER;
    if (kind == DELETE) return board->gains[pair];
    bool may_turn = board->may_add[back] && board->has_room[parent];
    return may_turn ? board->gains[pair] + board->gains[back] : NEVER;
}

/* Return whether there is a path from parent to child other than their arc. */
static bool has_detour(const MoveTable *board, int64_t parent, int64_t child) {
    int64_t n = board->n_arcs;
    for (int64_t between = 0; between < n; between++) {
        if (board->arcs[parent * n + between] && board->reach[between * n + child]) return true;
    }
    return false;
}

/* Return the first pair from `pair` on that is an arc, n * n if there is none. */
static int64_t find_arc(const bool *arcs, int64_t n, int64_t pair) {
    int64_t n_pairs = n * n;
    if (pair >= n_pairs) return n_pairs;
    const bool *arc = memchr(arcs + pair, true, (size_t) (n_pairs - pair));
    return arc ? arc - arcs : n_pairs;
}

/* Return the first pair from `pair` on that a move of a kind may change for more than `gain`.
 *
 * Most of the matrix is only scanned, here. */
static int64_t skip_pairs(const MoveTable *board, int kind, int64_t pair, double gain) {
    int64_t n = board->n_arcs, n_pairs = n * n;
    if (kind != ADD) return find_arc(board->arcs, n, pair);
    while (pair < n_pairs && board->gains[pair] <= gain) pair++;
    return pair;
}

/* Return the best move with a gain above `more_than`, or the first one of them. */
static FoundMove
find_move(const MoveTable *board, const bool *forbidden, double more_than, bool take_first) {
    int64_t n = board->n_arcs, n_pairs = n * n;
    FoundMove best = {-1, more_than};
    for (int kind = 0; kind < N_KINDS; kind++) {
        for (int64_t pair = -1; (pair = skip_pairs(board, kind, pair + 1, best.gain)) < n_pairs;) {
            int64_t parent = pair / n, child = pair % n;
            double gain = measure_gain(board, kind, parent, child);
            if (gain <= best.gain || forbidden[pair] || forbidden[child * n + parent]) continue;
            if (kind == REVERSE && has_detour(board, parent, child)) continue;
            best = (FoundMove){kind * n_pairs + pair, gain};
            if (take_first) return best;
        }
    }
    return best;
}

int64_t find_best_move(
    const MoveTable *board, const bool *forbidden, int64_t n_forbidden, int64_t forbidden_width,
    double least_gain
) {
    check_board(board);
    CHECK(n_forbidden == board->n_arcs && forbidden_width == board->n_arcs);
    FoundMove best = find_move(board, forbidden, NEVER, false);
    if (best.number < 0) return -1;
    FoundMove first = find_move(board, forbidden, best.gain - least_gain, true);
    /* None has a larger gain if the gain is so large that rounding hides `least_gain`. */
    return first.number >= 0 ? first.number : best.number;
}

/* Store the first parent whose addition to a child gains the most; -1 if none is legal. */
static void find_addition(const MoveTable *board, const BestAdditions *additions, int64_t child) {
    int64_t n = board->n_arcs, best = -1;
    double highest = NEVER;
    for (int64_t parent = 0; parent < n; parent++) {
        if (!(board->gains[parent * n + child] > highest)) continue;
        double gain = measure_gain(board, ADD, parent, child);
        if (gain > highest) {
            best = parent;
            highest = gain;
        }
    }
    additions->parent[child] = best;
    additions->gain[child] = highest;
}

/* Update `additions`, and return the highest gain of an addition.
 *
 * A new arc only makes additions illegal. So an old best addition is an upper bound of the gains of
 * its child. It is looked up again if its column has changed, or if it is the best of all and is no
 * longer legal. */
static double update_additions(const MoveTable *board, const BestAdditions *additions) {
    int64_t n = board->n_arcs;
    for (int64_t child = 0; child < n; child++) {
        if (additions->parent[child] == UNKNOWN) find_addition(board, additions, child);
    }
    for (;;) {
        int64_t best = 0;
        for (int64_t child = 1; child < n; child++) {
            if (additions->gain[child] > additions->gain[best]) best = child;
        }
        int64_t parent = additions->parent[best];
        CHECK(parent < n);
        if (parent < 0 || !board->reach[best * n + parent]) return additions->gain[best];
        find_addition(board, additions, best);
    }
}

/* Return the first pair whose addition gains at least `least`, by parent, then by child. */
static int64_t
find_first_addition(const MoveTable *board, const BestAdditions *additions, double least) {
    int64_t n = board->n_arcs, first = n, first_child = -1;
    for (int64_t child = 0; child < n; child++) {
        if (!(additions->gain[child] >= least)) continue;
        for (int64_t parent = 0; parent < first; parent++) {
            if (board->gains[parent * n + child] >= least &&
                measure_gain(board, ADD, parent, child) >= least) {
                first = parent;
                first_child = child;
                break;
            }
        }
    }
    return first_child < 0 ? -1 : first * n + first_child;
}

/* Return the best deletion or reversal of an arc with a gain of at least `least`, or the first. */
static FoundMove find_change(const MoveTable *board, int kind, double least, bool take_first) {
    int64_t n = board->n_arcs, n_pairs = n * n;
    FoundMove best = {-1, least};
    for (int64_t pair = -1; (pair = find_arc(board->arcs, n, pair + 1)) < n_pairs;) {
        int64_t parent = pair / n, child = pair % n;
        double gain = measure_gain(board, kind, parent, child);
        bool is_equal = best.number >= 0 && gain == best.gain; /* the first one counts */
        if (gain == NEVER || gain < best.gain || is_equal) continue;
        if (kind == REVERSE && has_detour(board, parent, child)) continue;
        best = (FoundMove){kind * n_pairs + pair, gain};
        if (take_first) return best;
    }
    return best;
}

int64_t
find_steepest_move(const MoveTable *board, const BestAdditions *additions, double least_gain) {
    int64_t n = board->n_arcs;
    check_board(board);
    CHECK(additions->n_parent == n && additions->n_gain == n);
    if (n == 0) return -1;
    double bound = update_additions(board, additions);
    bound = find_change(board, DELETE, bound, false).gain;
    bound = find_change(board, REVERSE, bound, false).gain;
    if (bound == NEVER) return -1;
    /* What gains more than this is as good as the best. Rounding may hide `least_gain`. */
    if (bound - least_gain < bound) bound = nextafter(bound - least_gain, INFINITY);
    FoundMove deletion = find_change(board, DELETE, bound, true);
    if (deletion.number >= 0) return deletion.number;
    int64_t addition = find_first_addition(board, additions, bound);
    if (addition >= 0) return ADD * n * n + addition;
    return find_change(board, REVERSE, bound, true).number;
}

void fill_move_gains(
    const MoveTable *board, double *table, int64_t n_table, int64_t table_width, int64_t table_depth
) {
    int64_t n = board->n_arcs;
    check_board(board);
    CHECK(n_table == N_KINDS && table_width == n && table_depth == n);
    for (int kind = 0; kind < N_KINDS; kind++) {
        for (int64_t parent = 0; parent < n; parent++) {
            for (int64_t child = 0; child < n; child++) {
                double gain = measure_gain(board, kind, parent, child);
                bool is_reversal = kind == REVERSE && gain > NEVER;
                if (is_reversal && has_detour(board, parent, child)) gain = NEVER;
                *table++ = gain;
            }
        }
    }
}

void add_path(const MoveTable *board, int64_t parent, int64_t child) {
    int64_t n = board->n_arcs;
    check_board(board);
    CHECK(0 <= parent && parent < n && 0 <= child && child < n);
    extend_reach(board->reach, n, parent, child);
}

void fill_reachability(
    const bool *arcs, int64_t n_arcs, int64_t arcs_width, bool *reach, int64_t n_reach,
    int64_t reach_width
) {
    int64_t n = n_arcs;
    CHECK(arcs_width == n && n_reach == n && reach_width == n);
    memset(reach, 0, (size_t) (n * n) * sizeof *reach);
    for (int64_t pair = -1; (pair = find_arc(arcs, n, pair + 1)) < n * n;) {
        extend_reach(reach, n, pair / n, pair % n);
    }
}
