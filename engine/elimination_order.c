#include "elimination_order.h"

#include "bit_rows.h"

enum { NONE = -1 };

/* The rows of `integers`. */
enum {
    ORDER,      /* of the run */
    GROUP,      /* of each variable, by its arity; NONE if it has one state */
    ARITY,      /* of each group, ascending */
    HEAP,       /* variables that are left, the cheapest first */
    PLACE,      /* of each variable in the heap */
    MEMBERS,    /* of a clique */
    TOUCHED,    /* variables whose cost may change */
    COUNT,      /* members of a clique in each group */
    PRESENT,    /* the groups that a clique has */
    BEGIN,      /* of their pieces */
    END,        /* of their pieces */
    PIECE_WORD, /* a piece of a clique: the members of one group in one word */
    PIECE_BITS,
    WORDS, /* the words of a clique that are not empty */
    N_INTEGER_ROWS
};
_Static_assert((int) N_INTEGER_ROWS == (int) INTEGER_ROWS, "as Python allocates them");

/* The rows of `floats`. */
enum { FILLS, WEIGHTS, GROUP_WEIGHTS, PIECE_WEIGHTS, N_FLOAT_ROWS };
_Static_assert((int) N_FLOAT_ROWS == (int) FLOAT_ROWS, "as Python allocates them");

typedef struct {
    const InteractionGraph *graph;
    const double *factors; /* NULL if there are none */
    int64_t n, n_words, rule, n_groups, n_left, n_taken, n_operations;
    double n_cells;
    uint64_t *rows, *spare; /* the rows of the run, and WORD_ROWS more */
    int64_t *order, *group, *arity, *heap, *place, *members, *touched, *count;
    double *fills, *weights, *group_weights;
} Run;

INLINE int64_t *integers_at(const InteractionGraph *graph, int64_t row) {
    return graph->integers + row * graph->integers_width;
}

INLINE double *floats_at(const InteractionGraph *graph, int64_t row) {
    return graph->floats + row * graph->floats_width;
}

INLINE uint64_t *row_of(const Run *run, int64_t variable) {
    return run->rows + variable * run->n_words;
}

uint64_t *connect_variables(const InteractionGraph *graph) {
    int64_t n = graph->n_arities, n_words = graph->rows_width;
    CHECK(n <= n_words * BITS && graph->n_rows == 2 * n + WORD_ROWS);
    uint64_t *rows = graph->rows + n * n_words;
    memset(rows, 0, (size_t) (n * n_words) * sizeof *rows);
    for (int64_t v = 0; v < n; v++) add_bit(rows + v * n_words, v);
    for (int64_t k = 0; k + 1 < graph->n_start; k++) {
        int64_t begin = graph->start[k], end = graph->start[k + 1];
        CHECK(0 <= begin && begin <= end && end <= graph->n_members);
        for (int64_t i = begin; i < end; i++) {
            int64_t v = graph->members[i];
            CHECK(0 <= v && v < n);
            for (int64_t j = begin; j < end; j++) add_bit(rows + v * n_words, graph->members[j]);
        }
    }
    return rows;
}

/* Return the place of an arity among those of the groups, or the one where it belongs. */
static int64_t find_group(const Run *run, int64_t arity) {
    int64_t low = 0, high = run->n_groups;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (run->arity[middle] < arity)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Group the variables by their arities: sums over groups are fast, and equal sums are ties. */
static void group_variables(Run *run) {
    const int64_t *arities = run->graph->arities;
    for (int64_t v = 0; v < run->n; v++) {
        CHECK(arities[v] >= 1);
        int64_t g = find_group(run, arities[v]);
        if (arities[v] == 1 || (g < run->n_groups && run->arity[g] == arities[v])) continue;
        int64_t *here = run->arity + g;
        memmove(here + 1, here, (size_t) (run->n_groups++ - g) * sizeof *here);
        *here = arities[v];
    }
    for (int64_t v = 0; v < run->n; v++) {
        run->group[v] = arities[v] == 1 ? NONE : find_group(run, arities[v]);
    }
    for (int64_t g = 0; g < run->n_groups; g++) {
        run->group_weights[g] = log((double) run->arity[g]);
    }
}

static Run start_run(const InteractionGraph *graph, int64_t rule, const double *factors) {
    int64_t n = graph->n_arities, n_words = graph->rows_width;
    CHECK(graph->n_is_last == n);
    CHECK(graph->n_integers == INTEGER_ROWS && graph->integers_width == n + 1);
    CHECK(graph->n_floats == FLOAT_ROWS && graph->floats_width == n + 1);
    CHECK(graph->n_order == n && graph->n_totals == N_TOTALS);
    Run run = {.graph = graph, .factors = factors, .n = n, .n_words = n_words, .rule = rule};
    run.rows = connect_variables(graph);
    run.spare = run.rows + n * n_words;
    run.order = integers_at(graph, ORDER);
    run.group = integers_at(graph, GROUP);
    run.arity = integers_at(graph, ARITY);
    run.heap = integers_at(graph, HEAP);
    run.place = integers_at(graph, PLACE);
    run.members = integers_at(graph, MEMBERS);
    run.touched = integers_at(graph, TOUCHED);
    run.count = integers_at(graph, COUNT);
    run.fills = floats_at(graph, FILLS);
    run.weights = floats_at(graph, WEIGHTS);
    run.group_weights = floats_at(graph, GROUP_WEIGHTS);
    group_variables(&run);
    if (rule == WEIGHTED_FILL && run.n_groups == 0) run.rule = WEIGHT; /* every fill is 0 */
    return run;
}

/* Overwrite the number of members of a clique in each group. */
static void count_groups(const Run *run, int64_t n_members) {
    for (int64_t g = 0; g < run->n_groups; g++) run->count[g] = 0;
    for (int64_t i = 0; i < n_members; i++) {
        int64_t g = run->group[run->members[i]];
        if (g != NONE) run->count[g]++;
    }
}

/* A clique, cut into pieces: the members of one group in one word, group by group. */
typedef struct {
    int64_t n_groups, *begin, *end, *word, *bits;
    double *weight; /* of a member of each group */
} Pieces;

/* Cut a clique into pieces; its members are counted. */
static Pieces cut_clique(const Run *run, int64_t n_members) {
    const InteractionGraph *graph = run->graph;
    int64_t *present = integers_at(graph, PRESENT), at = 0;
    Pieces pieces = {
        0,
        integers_at(graph, BEGIN),
        integers_at(graph, END),
        integers_at(graph, PIECE_WORD),
        integers_at(graph, PIECE_BITS),
        floats_at(graph, PIECE_WEIGHTS)
    };
    bool is_plain = run->rule == FILL; /* all in one group */
    for (int64_t g = 0; g < (is_plain ? 1 : run->n_groups); g++) {
        int64_t size = is_plain ? n_members : run->count[g], k = pieces.n_groups;
        if (!size) continue;
        present[g] = k;
        pieces.begin[k] = pieces.end[k] = at;
        pieces.weight[k] = is_plain ? 1.0 : run->group_weights[g];
        pieces.n_groups++;
        at += size; /* at most one piece for each member */
    }
    for (int64_t i = 0; i < n_members; i++) {
        int64_t v = run->members[i], g = is_plain ? 0 : run->group[v];
        if (g == NONE) continue;
        int64_t k = present[g], last = pieces.end[k] - 1;
        if (last < pieces.begin[k] || pieces.word[last] != v / BITS) {
            last = pieces.end[k]++;
            pieces.word[last] = v / BITS;
            pieces.bits[last] = 0;
        }
        pieces.bits[last] = (int64_t) ((uint64_t) pieces.bits[last] | (uint64_t) 1 << v % BITS);
    }
    return pieces;
}

/* Return the weight of the members of a clique that are not in a row. */
INLINE double weigh_missing(const Pieces *pieces, const uint64_t *row) {
    double total = 0.0;
    for (int64_t k = 0; k < pieces->n_groups; k++) {
        int64_t n = 0;
        for (int64_t i = pieces->begin[k]; i < pieces->end[k]; i++) {
            n += __builtin_popcountll((uint64_t) pieces->bits[i] & ~row[pieces->word[i]]);
        }
        total += pieces->weight[k] * (double) n;
    }
    return total;
}

/* Return the fill of a variable: each pair is counted from both sides, in ascending order. */
static double compute_fill(const Run *run, int64_t variable, int64_t n_members) {
    if (run->rule == WEIGHT || n_members <= 2) return 0.0;
    Pieces pieces = cut_clique(run, n_members);
    double fill = 0.0;
    for (int64_t i = 0; i < n_members; i++) {
        int64_t v = run->members[i], g = run->group[v];
        if (v == variable || (g == NONE && run->rule != FILL)) continue;
        double weight = run->rule == FILL ? 1.0 : run->group_weights[g];
        fill += weight * weigh_missing(&pieces, row_of(run, v));
    }
    return fill;
}

/* Overwrite the fill of a variable and the weight of its clique. */
static void compute_cost(Run *run, int64_t variable) {
    int64_t n_members = list_bits(row_of(run, variable), run->n_words, run->members);
    int64_t n_groups = run->rule == WEIGHT ? 0 : run->rule == FILL ? 1 : run->n_groups;
    count_groups(run, n_members);
    double weight = 0.0, fill = compute_fill(run, variable, n_members);
    for (int64_t g = 0; g < run->n_groups; g++) {
        weight += run->group_weights[g] * (double) run->count[g];
    }
    run->weights[variable] = weight;
    run->fills[variable] = run->factors ? fill * run->factors[variable] : fill;
    run->n_operations += (n_members - 1) * (1 + n_groups);
}

/* Return whether variable v is taken out before w. */
static bool is_cheaper(const Run *run, int64_t v, int64_t w) {
    const bool *is_last = run->graph->is_last;
    if (is_last[v] != is_last[w]) return is_last[w];
    if (run->fills[v] != run->fills[w]) return run->fills[v] < run->fills[w];
    if (run->weights[v] != run->weights[w]) return run->weights[v] < run->weights[w];
    return v < w;
}

static void put(const Run *run, int64_t place, int64_t variable) {
    run->heap[place] = variable;
    run->place[variable] = place;
}

/* Move a variable up the heap, from a place that is free, as far as it is cheaper. */
static int64_t rise(const Run *run, int64_t place, int64_t variable) {
    while (place > 0 && is_cheaper(run, variable, run->heap[(place - 1) / 2])) {
        put(run, place, run->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(run, place, variable);
    return place;
}

static void sink(const Run *run, int64_t place, int64_t variable) {
    for (;;) {
        int64_t child = 2 * place + 1;
        if (child >= run->n_left) break;
        if (child + 1 < run->n_left && is_cheaper(run, run->heap[child + 1], run->heap[child])) {
            child++;
        }
        if (!is_cheaper(run, run->heap[child], variable)) break;
        put(run, place, run->heap[child]);
        place = child;
    }
    put(run, place, variable);
}

static int64_t pop_cheapest(Run *run) {
    int64_t cheapest = run->heap[0];
    if (--run->n_left) sink(run, 0, run->heap[run->n_left]);
    return cheapest;
}

/* Add what common neighbours of the new edges are to the variables of a clique.
 *
 * For these, the new edge is one less to add. */
static void touch_common(const Run *run, const uint64_t *clique, int64_t n_members) {
    uint64_t *touched = run->spare;
    for (int64_t k = 0; k < n_members; k++) {
        int64_t i = run->members[k];
        const uint64_t *row = row_of(run, i);
        for (int64_t word = i / BITS; word < run->n_words; word++) {
            uint64_t missing = clique[word] & ~row[word];
            if (word == i / BITS) missing &= ~(uint64_t) 0 << i % BITS; /* i itself is in its row */
            for (; missing; missing &= missing - 1) {
                const uint64_t *other = row_of(run, word * BITS + __builtin_ctzll(missing));
                for (int64_t w = 0; w < run->n_words; w++) touched[w] |= row[w] & other[w];
            }
        }
    }
}

/* Take a variable out: connect its neighbours, and add the cells of its clique.
 *
 * Return whether the order may still be the best one. */
static bool take_out(Run *run, int64_t variable) {
    const uint64_t *clique = row_of(run, variable);
    const double best = run->graph->totals[N_CELLS];
    int64_t n_members = list_bits(clique, run->n_words, run->members);
    count_groups(run, n_members);
    double n_cells = 1.0;
    for (int64_t g = 0; g < run->n_groups; g++) {
        for (int64_t i = 0; i < run->count[g]; i++) n_cells *= (double) run->arity[g];
    }
    run->n_cells += n_cells;
    if (run->n_cells >= best) return false; /* never before there is one: it is NaN */
    int64_t *words = integers_at(run->graph, WORDS), n_filled = 0;
    for (int64_t word = 0; word < run->n_words; word++) {
        if (clique[word]) words[n_filled++] = word;
    }
    for (int64_t i = 0; i < n_members; i++) {
        if (run->members[i] == variable) continue;
        uint64_t *row = row_of(run, run->members[i]);
        for (int64_t k = 0; k < n_filled; k++) row[words[k]] |= clique[words[k]];
        drop_bit(row, variable);
    }
    run->order[run->n_taken++] = variable;
    return true;
}

/* Keep the order of a run that took all variables out, as it is the best one.
 *
 * Return the number of members of all cliques of the best order. */
static int64_t finish(const Run *run) {
    const InteractionGraph *graph = run->graph;
    int64_t n_bits = run->n * run->n_words;
    if (run->n_taken == run->n) {
        graph->totals[N_CELLS] = run->n_cells;
        memcpy(graph->order, run->order, (size_t) run->n * sizeof *run->order);
        memcpy(graph->rows, run->rows, (size_t) n_bits * sizeof *run->rows);
    }
    return count_bits(graph->rows, n_bits);
}

/* List the variables whose cost may change when a variable is taken out; return their number. */
static int64_t list_touched(const Run *run, int64_t variable) {
    const uint64_t *clique = row_of(run, variable);
    memcpy(run->spare, clique, (size_t) run->n_words * sizeof *clique);
    if (run->rule != WEIGHT) {
        touch_common(run, clique, list_bits(clique, run->n_words, run->members));
    }
    drop_bit(run->spare, variable);
    return list_bits(run->spare, run->n_words, run->touched);
}

int64_t eliminate_greedily(
    const InteractionGraph *graph, int64_t rule, const double *factors, int64_t n_factors
) {
    CHECK(n_factors == 0 || n_factors == graph->n_arities);
    Run run = start_run(graph, rule, n_factors ? factors : NULL);
    for (int64_t v = 0; v < run.n; v++) {
        compute_cost(&run, v);
        rise(&run, run.n_left++, v);
    }
    while (run.n_left) {
        int64_t variable = pop_cheapest(&run), n_touched = list_touched(&run, variable);
        if (!take_out(&run, variable)) break;
        for (int64_t i = 0; i < n_touched; i++) {
            int64_t v = run.touched[i];
            compute_cost(&run, v);
            sink(&run, rise(&run, run.place[v], v), v);
        }
    }
    graph->totals[N_OPERATIONS] = (double) run.n_operations;
    return finish(&run);
}

int64_t
eliminate_in_order(const InteractionGraph *graph, const int64_t *sequence, int64_t n_sequence) {
    CHECK(n_sequence == graph->n_arities);
    Run run = start_run(graph, WEIGHT, NULL);
    for (int is_last = 0; is_last <= 1; is_last++) {
        for (int64_t i = 0; i < n_sequence; i++) {
            CHECK(0 <= sequence[i] && sequence[i] < run.n);
            if (graph->is_last[sequence[i]] != is_last) continue;
            if (!take_out(&run, sequence[i])) return finish(&run);
        }
    }
    return finish(&run);
}

void list_cliques(
    const InteractionGraph *graph, int64_t *clique_start, int64_t n_clique_start,
    int64_t *clique_members, int64_t n_clique_members
) {
    int64_t n = graph->n_arities, n_words = graph->rows_width, at = 0;
    int64_t *place = integers_at(graph, PLACE), *found = integers_at(graph, MEMBERS);
    uint64_t *places = graph->rows + 2 * n * n_words; /* of the members, from the last one */
    CHECK(n_clique_start == n + 1 && graph->n_rows == 2 * n + WORD_ROWS);
    for (int64_t i = 0; i < n; i++) place[graph->order[i]] = n - 1 - i;
    for (int64_t i = 0; i < n; i++) {
        clique_start[i] = at;
        int64_t n_found = list_bits(graph->rows + graph->order[i] * n_words, n_words, found);
        memset(places, 0, (size_t) n_words * sizeof *places);
        for (int64_t k = 0; k < n_found; k++) add_bit(places, place[found[k]]);
        CHECK(at + n_found <= n_clique_members);
        list_bits(places, n_words, clique_members + at);
        for (int64_t end = at + n_found; at < end; at++) {
            clique_members[at] = graph->order[n - 1 - clique_members[at]];
        }
    }
    clique_start[n] = at;
}
