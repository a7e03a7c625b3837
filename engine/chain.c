#include "chain.h"

/* The rows of ChainRun.counts, and their columns. */
enum { RELOCATION, BLOCK, N_MOVES };
enum { MADE, CHANGED, N_COUNTS };

static void count_move(const ChainRun *run, int move, bool has_changed) {
    run->counts[N_COUNTS * move + MADE]++;
    run->counts[N_COUNTS * move + CHANGED] += has_changed;
}

/* Return how many random numbers a round needs: for each relocation a variable and a place, for
 * each variable a family, and for each block its members and their families. */
static int64_t count_uniforms(const RoundPlan *plan, int64_t n) {
    int64_t size = plan->block_size;
    int64_t of_block = count_choosing_uniforms(size) + count_redrawing_uniforms(size);
    return 2 * plan->n_relocations + n + plan->n_blocks * of_block;
}

static void check_sizes(
    const ChainArrays *tables, const RoundPlan *plan, const ChainRun *run,
    const ChainScratch *scratch, int64_t begin, int64_t end
) {
    int64_t n = run->n_level, size = plan->block_size;
    CHECK(tables->n_empty == n && tables->n_begin == n + 1 && tables->n_pair_begin == n + 1);
    CHECK(tables->n_is_possible == n && tables->is_possible_width == n);
    CHECK(0 <= begin && begin <= end && end <= run->n_uniforms);
    CHECK(end <= run->n_trace && end <= run->n_dags && run->dags_width == n && run->n_best == n);
    CHECK(run->uniforms_width >= count_uniforms(plan, n));
    CHECK(run->n_arcs == tables->n_pair_parent && run->n_best_weight == 1);
    CHECK(run->n_counts == N_MOVES && run->counts_width == N_COUNTS);
    CHECK(1 <= size && size <= MAX_BLOCK_SIZE && plan->n_layering_begin >= size + 2);
    CHECK(plan->n_first == n && plan->n_near_begin == n + 1);
    CHECK(plan->earlier_width >= size && plan->last_width >= size);
    CHECK(scratch->n_terms == n && scratch->n_order == n && scratch->n_choice == n);
    CHECK(scratch->n_reached == n && scratch->n_spare == n && scratch->n_own == n + 1);
    CHECK(scratch->n_counts == n + 1 && scratch->n_rivals == n + 1);
    CHECK(scratch->n_variants == 4 * n && scratch->n_sums == 4 * n);
    CHECK(scratch->n_logs >= 2 * n + 1 && scratch->n_shares >= scratch->n_logs);
    CHECK(scratch->n_logs >= plan->n_earlier && scratch->n_block_terms >= size << 2 * size);
}

/* Record the log weight of a round and its DAG, which may be the best. */
static void record_round(
    const ChainArrays *tables, const ChainRun *run, int64_t round, double log_weight,
    const int64_t *choice
) {
    int64_t n = run->n_level;
    int32_t *dag = run->dags + round * n;
    run->trace[round] = log_weight;
    double total = 0.0;
    for (int64_t v = 0; v < n; v++) {
        CHECK(tables->begin[v] <= choice[v] && choice[v] < tables->begin[v + 1]);
        dag[v] = (int32_t) choice[v];
        total += tables->weight[choice[v]];
    }
    if (total > run->best_weight[0]) {
        run->best_weight[0] = total;
        memcpy(run->best, dag, (size_t) n * sizeof *dag);
    }
}

/* Return the variable that a random number chooses. */
INLINE int64_t choose_variable(double uniform, int64_t n) {
    CHECK(0.0 <= uniform && uniform < 1.0);
    return (int64_t) (uniform * (double) n);
}

/* Redraw random blocks of families of a DAG. */
static void redraw_blocks(
    const ChainArrays *tables, const RoundPlan *plan, const ChainRun *run,
    const ChainScratch *scratch, const double *uniforms
) {
    ChosenDag dag = {run->n_level, scratch->choice, scratch->order};
    BlockRoom room = {
        scratch->reached, scratch->spare, scratch->block_terms, scratch->logs, scratch->shares
    };
    for (int64_t i = 0; i < plan->n_blocks; i++) {
        int64_t members[MAX_BLOCK_SIZE];
        int64_t q = choose_block(plan, uniforms, members);
        uniforms += count_choosing_uniforms(plan->block_size);
        count_move(run, BLOCK, redraw_block(tables, plan, &dag, members, q, uniforms, &room));
        uniforms += count_redrawing_uniforms(plan->block_size);
    }
}

double run_layerings(
    const ChainArrays *tables, const RoundPlan *plan, const ChainRun *run,
    const ChainScratch *scratch, int64_t begin, int64_t end
) {
    check_sizes(tables, plan, run, scratch, begin, end);
    int64_t n = run->n_level, *choice = scratch->choice;
    Layering layering = {n, run->level, scratch->counts, scratch->terms, 0, 0.0};
    LayeringRoom room = {scratch->variants, scratch->sums, scratch->rivals,
                         scratch->own,      scratch->logs, scratch->shares};
    weigh_layering(tables, &layering);
    if (n == 0) return layering.log_weight;
    for (int64_t round = begin; round < end; round++) {
        const double *uniforms = run->uniforms + round * run->uniforms_width;
        for (int64_t i = 0; i < plan->n_relocations; i++, uniforms += 2) {
            int64_t v = choose_variable(uniforms[0], n);
            bool moved = relocate_in_layering(tables, &layering, &room, v, uniforms[1]);
            count_move(run, RELOCATION, moved);
        }
        if (layering.log_weight == -INFINITY) break;
        draw_layering_dag(tables, &layering, uniforms, choice);
        if (plan->n_blocks > 0) {
            sort_layering(&layering, scratch->order);
            redraw_blocks(tables, plan, run, scratch, uniforms + n);
            find_layering(tables, choice, scratch->order, &layering);
            weigh_layering(tables, &layering);
        }
        add_layering_arcs(tables, &layering, run->arcs);
        record_round(tables, run, round, layering.log_weight, choice);
    }
    return layering.log_weight;
}

double run_orders(
    const ChainArrays *tables, const RoundPlan *plan, const ChainRun *run,
    const ChainScratch *scratch, int64_t begin, int64_t end
) {
    check_sizes(tables, plan, run, scratch, begin, end);
    int64_t n = run->n_level;
    VariableOrder order = {n, run->level, scratch->order, scratch->terms, 0.0};
    OrderRoom room = {scratch->variants, scratch->own, scratch->logs, scratch->shares};
    weigh_order(tables, &order);
    if (n == 0) return order.log_weight;
    for (int64_t round = begin; round < end; round++) {
        const double *uniforms = run->uniforms + round * run->uniforms_width;
        for (int64_t i = 0; i < plan->n_relocations; i++, uniforms += 2) {
            int64_t v = choose_variable(uniforms[0], n);
            bool moved = relocate_in_order(tables, &order, &room, v, uniforms[1]);
            count_move(run, RELOCATION, moved);
        }
        if (order.log_weight == -INFINITY) break;
        draw_order_dag(tables, &order, uniforms, scratch->choice);
        add_order_arcs(tables, &order, run->arcs);
        record_round(tables, run, round, order.log_weight, scratch->choice);
    }
    return order.log_weight;
}
