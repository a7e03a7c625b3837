#include "sparse_climb.h"

#include "climb.h"

/* Return whether there is a path from `ancestor` to `variable`.
 *
 * `mark` is new in each search: seen[v] == mark says that v was visited in this one. */
static bool
is_ancestor(const SparseGraph *graph, int64_t ancestor, int64_t variable, int64_t mark) {
    int64_t k = graph->candidates_width, n_waiting = 0;
    graph->waiting[n_waiting++] = variable;
    graph->seen[variable] = mark;
    while (n_waiting > 0) {
        int64_t row = graph->waiting[--n_waiting] * k;
        for (int64_t place = 0; place < k; place++) {
            if (!graph->is_parent[row + place]) continue;
            int64_t parent = graph->candidates[row + place];
            if (parent == ancestor) return true;
            CHECK(0 <= parent && parent < graph->n_candidates);
            if (graph->seen[parent] == mark) continue;
            graph->seen[parent] = mark;
            graph->waiting[n_waiting++] = parent;
        }
    }
    return false;
}

/* Make a move of the arc from the candidate at `at` to `child`; return whether it is legal. */
static bool
make_move(const SparseGraph *graph, int64_t kind, int64_t child, int64_t at, int64_t mark) {
    int64_t other = graph->candidates[at];
    if (kind == DELETE) {
        graph->is_parent[at] = false;
        return true;
    }
    if (kind == ADD) {
        if (is_ancestor(graph, child, other, mark)) return false;
        graph->is_parent[at] = true;
        return true;
    }
    graph->is_parent[at] = false; /* its own arc is no detour */
    if (is_ancestor(graph, other, child, mark)) {
        graph->is_parent[at] = true;
        return false;
    }
    int64_t back = graph->reverse_of[at];
    CHECK(0 <= back && back < graph->candidates_width);
    graph->is_parent[other * graph->candidates_width + back] = true;
    return true;
}

static void check_graph(const SparseGraph *graph) {
    int64_t n = graph->n_candidates, k = graph->candidates_width;
    CHECK(graph->n_reverse_of == n && graph->reverse_of_width == k);
    CHECK(graph->n_is_parent == n && graph->is_parent_width == k);
    CHECK(graph->n_changed == n && graph->n_seen == n && graph->n_waiting == n);
}

/* Overwrite `parents` with those of a child, ascending; return their number. */
static int64_t list_parents(const SparseGraph *graph, int64_t child, int64_t *parents) {
    int64_t k = graph->candidates_width, n_parents = 0;
    for (int64_t at = child * k; at < (child + 1) * k; at++) {
        if (!graph->is_parent[at]) continue;
        int64_t place = n_parents++;
        for (; place > 0 && parents[place - 1] > graph->candidates[at]; place--) {
            parents[place] = parents[place - 1];
        }
        parents[place] = graph->candidates[at];
    }
    return n_parents;
}

/* Write a child and its parents, ascending, with `other` added or left out; return their number. */
static int64_t write_family(
    int64_t child, const int64_t *parents, int64_t n_parents, int64_t other, bool is_added,
    int32_t *members
) {
    int64_t n_members = 0, i = 0;
    members[n_members++] = (int32_t) child;
    while (i < n_parents && parents[i] < other) members[n_members++] = (int32_t) parents[i++];
    if (is_added) {
        members[n_members++] = (int32_t) other;
    } else {
        i++;
    }
    while (i < n_parents) members[n_members++] = (int32_t) parents[i++];
    return n_members;
}

int64_t list_toggles(
    const SparseGraph *graph, const bool *may_change, int64_t n_may_change,
    int64_t may_change_width, const int64_t *children, int64_t n_children, int64_t max_parents,
    int32_t *members, int64_t n_members, int64_t *start, int64_t n_start, int64_t *toggled,
    int64_t n_toggled
) {
    int64_t k = graph->candidates_width, n_families = 0;
    check_graph(graph);
    CHECK(n_may_change == graph->n_candidates && may_change_width == k);
    CHECK(n_start > 0 && n_toggled >= n_children * k);
    start[0] = 0;
    for (int64_t i = 0; i < n_children; i++) {
        int64_t child = children[i];
        CHECK(0 <= child && child < graph->n_candidates);
        int64_t n_parents = list_parents(graph, child, graph->waiting);
        for (int64_t at = child * k; at < (child + 1) * k; at++) {
            bool is_added = !graph->is_parent[at];
            if (!may_change[at] || (is_added && n_parents >= max_parents)) continue;
            int64_t begin = start[n_families];
            CHECK(n_families + 1 < n_start && begin + n_parents + 2 <= n_members);
            start[n_families + 1] = begin + write_family(
                                                child, graph->waiting, n_parents,
                                                graph->candidates[at], is_added, members + begin
                                            );
            toggled[n_families++] = at;
        }
    }
    return n_families;
}

/* Moves with their gains, while they are sorted. */
typedef struct {
    const SparseGraph *graph;
    int64_t *moves;
    double *rounded;
} MoveList;

/* Return whether one move is better than another one. */
static bool is_better(const MoveList *list, int64_t one, int64_t other) {
    if (list->rounded[one] != list->rounded[other]) {
        return list->rounded[one] > list->rounded[other];
    }
    const SparseGraph *graph = list->graph;
    int64_t k = graph->candidates_width, n_of_kind = graph->n_candidates * k;
    int64_t first = list->moves[one], second = list->moves[other];
    if (first / n_of_kind != second / n_of_kind) return first < second;
    int64_t parent = graph->candidates[first % n_of_kind];
    int64_t other_parent = graph->candidates[second % n_of_kind];
    return parent != other_parent ? parent < other_parent : first < second;
}

static void swap_moves(const MoveList *list, int64_t one, int64_t other) {
    int64_t move = list->moves[one];
    double gain = list->rounded[one];
    list->moves[one] = list->moves[other];
    list->rounded[one] = list->rounded[other];
    list->moves[other] = move;
    list->rounded[other] = gain;
}

/* Let a move sink in a heap with the worst move on top. */
static void sink(const MoveList *list, int64_t at, int64_t n) {
    for (int64_t below = 2 * at + 1; below < n; below = 2 * at + 1) {
        if (below + 1 < n && is_better(list, below, below + 1)) below++;
        if (!is_better(list, at, below)) return;
        swap_moves(list, at, below);
        at = below;
    }
}

/* Sort by a heap: no memory is needed, and no two moves are equal. */
static void sort_moves(const MoveList *list, int64_t n) {
    for (int64_t at = n / 2; at-- > 0;) sink(list, at, n);
    for (int64_t last = n - 1; last > 0; last--) {
        swap_moves(list, 0, last);
        sink(list, 0, last);
    }
}

int64_t rank_moves(
    const SparseGraph *graph, const double *gains, int64_t n_gains, int64_t gains_width,
    int64_t max_parents, double least_gain, double tie, int64_t *moves, int64_t n_moves,
    double *rounded, int64_t n_rounded
) {
    int64_t n = graph->n_candidates, k = graph->candidates_width, n_ranked = 0;
    check_graph(graph);
    CHECK(n_gains == n && gains_width == k);
    CHECK(n_moves >= N_KINDS * n * k && n_rounded >= N_KINDS * n * k);
    int64_t *n_parents = graph->waiting;
    for (int64_t child = 0; child < n; child++) {
        n_parents[child] = 0;
        for (int64_t at = child * k; at < (child + 1) * k; at++) {
            n_parents[child] += graph->is_parent[at];
        }
    }
    for (int64_t at = 0; at < n * k; at++) {
        int64_t child = at / k, back = graph->reverse_of[at];
        for (int64_t kind = DELETE; kind < N_KINDS; kind++) {
            if (graph->is_parent[at] != (kind != ADD)) continue;
            if (kind == REVERSE && back < 0) continue;
            int64_t receiver = kind == REVERSE ? graph->candidates[at] : child;
            if (kind != DELETE && n_parents[receiver] >= max_parents) continue;
            double gain = gains[at];
            if (kind == REVERSE) gain += gains[receiver * k + back];
            if (!(gain > least_gain)) continue;
            moves[n_ranked] = kind * n * k + at;
            rounded[n_ranked++] = rint(gain / tie);
        }
    }
    sort_moves(&(MoveList){graph, moves, rounded}, n_ranked);
    return n_ranked;
}

int64_t
choose_moves(const SparseGraph *graph, const int64_t *ranked, int64_t n_ranked, int64_t n_moves) {
    int64_t n = graph->n_candidates, k = graph->candidates_width, n_made = 0;
    check_graph(graph);
    memset(graph->changed, 0, (size_t) n * sizeof *graph->changed);
    memset(graph->seen, 0, (size_t) n * sizeof *graph->seen);
    for (int64_t i = 0; i < n_ranked && n_made < n_moves; i++) {
        CHECK(0 <= ranked[i] && ranked[i] < N_KINDS * n * k);
        int64_t kind = ranked[i] / (n * k), at = ranked[i] % (n * k), child = at / k;
        int64_t other = graph->candidates[at];
        CHECK(0 <= other && other < n);
        if (graph->changed[child] || (kind == REVERSE && graph->changed[other])) continue;
        if (!make_move(graph, kind, child, at, i + 1)) continue;
        if (kind == REVERSE) graph->changed[other] = true;
        graph->changed[child] = true;
        n_made++;
    }
    return n_made;
}
