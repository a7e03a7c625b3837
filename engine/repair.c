#include "repair.h"

#include "climb.h"

static void check_table(const RepairTable *table, const ParentLimits *limits) {
    int64_t n = table->n_required;
    CHECK(table->required_width == n && table->n_reach == n && table->reach_width == n);
    CHECK(table->n_reach_of_required == n && table->reach_of_required_width == n);
    CHECK(table->n_counts == 2 && table->counts_width == n);
    CHECK(table->n_cells == 2 && table->cells_width == n && limits->n_arities == n);
}

void insert_arcs(
    const int64_t *begin, int64_t n_begin, const int64_t *parents, int64_t n_parents,
    const int64_t *children, int64_t n_children, const RepairTable *table,
    const ParentLimits *limits, bool *graphs, int64_t n_graphs, int64_t graphs_width,
    int64_t graphs_depth
) {
    int64_t n = table->n_required, *counts = table->counts + n;
    double *cells = table->cells + n;
    bool *reach = table->reach;
    check_table(table, limits);
    CHECK(n_begin == n_graphs + 1 && graphs_width == n && graphs_depth == n);
    CHECK(begin[n_graphs] <= n_parents && begin[n_graphs] <= n_children);
    count_required(table->required, n, table->counts);
    count_cells(table->required, n, limits->arities, table->cells);
    for (int64_t g = 0; g < n_graphs; g++) {
        bool *graph = graphs + g * n * n;
        memcpy(counts, table->counts, (size_t) n * sizeof *counts);
        memcpy(cells, table->cells, (size_t) n * sizeof *cells);
        memcpy(reach, table->reach_of_required, (size_t) (n * n) * sizeof *reach);
        memcpy(graph, table->required, (size_t) (n * n) * sizeof *graph);
        for (int64_t i = begin[g]; i < begin[g + 1]; i++) {
            int64_t parent = parents[i], child = children[i];
            CHECK(0 <= parent && parent < n && 0 <= child && child < n);
            if (reach[child * n + parent]) continue;
            if (!take_parent(limits, child, parent, counts, cells)) continue;
            graph[parent * n + child] = true;
            if (!reach[parent * n + child]) extend_reach(reach, n, parent, child);
        }
    }
}
