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
