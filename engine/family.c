#include "family.h"

enum { MAX_SHARED_VARIABLES = 3, MAX_SHARED_CELLS = 1024 };
enum { NONE = -1, HASH_MULTIPLIER = 40503 };

/* ---- Shared tables ---- */

/* Return how many of the last variables a shared table may cover: at least 1. */
static int64_t choose_shared_size(const int64_t *facts, const int32_t *variables, int64_t k) {
    int64_t n = 1, cells = get_fact(facts, variables[k - 1], ARITY);
    while (n < k && n < MAX_SHARED_VARIABLES) {
        cells *= get_fact(facts, variables[k - 1 - n], ARITY);
        if (cells > MAX_SHARED_CELLS) break;
        n++;
    }
    return n;
}

/* Return n variables as a number. */
static int64_t make_key(const CountIndex *index, const int32_t *variables, int64_t n) {
    int64_t key = 0;
    for (int64_t axis = 0; axis < n; axis++) {
        key = key * (index->n_facts + 1) + get_fact(index->facts, variables[axis], RANK) + 1;
    }
    return key;
}

/* Return the number of the slot where the search for a key begins. */
static int64_t hash_key(const SharedTables *shared, int64_t key) {
    uint64_t hash = (uint64_t) (key ^ (key >> 15) ^ (key >> 31)) * HASH_MULTIPLIER;
    return (int64_t) (hash & (uint64_t) (shared->n_slots - 1));
}

/* Return the slot of a key, or the empty slot for it. */
static int64_t *find_slot(const SharedTables *shared, int64_t key) {
    int64_t at = hash_key(shared, key);
    int64_t *slot = shared->slots + at * SLOT_WIDTH;
    while (slot[KEY] != NONE && slot[KEY] != key) {
        at = (at + 1) & (shared->n_slots - 1);
        slot = shared->slots + at * SLOT_WIDTH;
    }
    return slot;
}

/* Return the slot of a key, which is new if it has none, or NULL without room for it. */
static int64_t *add_slot(const SharedTables *shared, int64_t key) {
    int64_t *slot = find_slot(shared, key);
    if (slot[KEY] == key) return slot;
    if (2 * shared->used[USED_SLOTS] >= shared->n_slots) return NULL;
    shared->used[USED_SLOTS]++;
    slot[KEY] = key;
    slot[BEGIN] = NONE;
    slot[CREDIT] = 0;
    return slot;
}

/* Return where the table of two variables begins in the pool, or NONE. */
static int64_t
find_pair(const CountIndex *index, const SharedTables *shared, const int32_t *variables) {
    const int64_t *slot = find_slot(shared, make_key(index, variables, 2));
    return slot[KEY] == NONE ? NONE : slot[BEGIN];
}

/* How to count a shared table: in one pass over all rows, or as a level in front of a smaller one,
 * which may have to be counted first. */
typedef struct {
    double cost;
    bool is_level;
    bool is_by_bits;
    bool needs_pair;
} SharedMethod;

static SharedMethod choose_shared_method(
    const CountIndex *index, const SharedTables *shared, const int32_t *variables, int64_t n
) {
    double stride = 1.0;
    bool has_bits = true;
    for (int64_t axis = 1; axis < n; axis++) {
        stride *= (double) get_fact(index->facts, variables[axis], ARITY);
        has_bits = has_bits && get_fact(index->facts, variables[axis], BITS) >= 0;
    }
    Level level = estimate_level(index, variables[0], n, stride, has_bits);
    bool needs_pair = n == 3 && find_pair(index, shared, variables + 1) == NONE;
    if (needs_pair) level.cost += choose_shared_method(index, shared, variables + 1, 2).cost;
    double pass = estimate_pass(index, n);
    if (level.cost > pass) return (SharedMethod){pass, false, false, false};
    return (SharedMethod){level.cost, true, level.is_by_bits, needs_pair};
}

/* ---- Planning ---- */

/* Return the cheapest method to count the table over k variables, if its shared table is there.
 *
 * Overwrite `gain` with the nanoseconds that BY_LEVELS saves. */
static int8_t choose_method(
    const CountIndex *index, const int32_t *variables, int64_t k, int64_t dense_limit, int64_t *gain
) {
    const int64_t *facts = index->facts;
    double cells = 1.0;
    bool is_wide = false;
    for (int64_t axis = 0; axis < k; axis++) {
        cells *= (double) get_fact(facts, variables[axis], ARITY);
        is_wide = is_wide || get_fact(facts, variables[axis], HIGH) >= 0;
    }
    if (cells > (double) dense_limit) return SPARSE;
    if (is_wide || index->n_weights || cells > MOST_CELLS_BY_LEVELS) return ALL_ROWS;
    int64_t n_levels = k - choose_shared_size(facts, variables, k);
    double levels = 0.0, pass = estimate_pass(index, k), stride = 1.0;
    bool has_bits = true;
    for (int64_t axis = k - 1; axis >= 0; axis--) {
        if (axis < n_levels)
            levels += estimate_level(index, variables[axis], k - axis, stride, has_bits).cost;
        stride *= (double) get_fact(facts, variables[axis], ARITY);
        has_bits = has_bits && get_fact(facts, variables[axis], BITS) >= 0;
    }
    if (levels > pass) return ALL_ROWS;
    *gain = (int64_t) (pass - levels);
    return BY_LEVELS;
}

/* The families whose slots are fetched into the cache together: a fetch takes as long as the
 * choice of a method. */
enum { CHUNK = 16 };

/* What is known of a family before its slot is there. */
typedef struct {
    int64_t key;  /* of its shared table, or NONE if it needs no slot */
    int64_t gain; /* nanoseconds that the shared table saves */
} Wish;

/* Sort the variables of a family and choose its method. */
static Wish
plan_family(const CountIndex *index, const BatchPlan *batch, int64_t family, int64_t dense_limit) {
    int64_t start = batch->start[family], k = batch->start[family + 1] - start;
    int32_t *variables = batch->variables + start;
    Wish wish = {NONE, 0};
    for (int64_t i = 0; i < k; i++) {
        CHECK(0 <= batch->members[start + i] && batch->members[start + i] < index->n_facts);
    }
    sort_by_rank(index->facts, batch->members + start, k, variables);
    batch->method[family] = choose_method(index, variables, k, dense_limit, &wish.gain);
    if (batch->method[family] == BY_LEVELS) {
        int64_t n = choose_shared_size(index->facts, variables, k);
        batch->shared_start[family] = get_fact(index->facts, variables[k - 1], SINGLE);
        if (n > 1) wish.key = make_key(index, variables + k - n, n);
    }
    return wish;
}

/* Plan the families from `first` to before `last`, at most CHUNK; return where it stops.
 *
 * The slot of its shared table becomes the `shared_start` of a family, and its credit grows. */
static int64_t plan_chunk(
    const CountIndex *index, const BatchPlan *batch, const SharedTables *shared, int64_t first,
    int64_t last, int64_t dense_limit
) {
    Wish wishes[CHUNK];
    for (int64_t family = first; family < last; family++) {
        Wish wish = plan_family(index, batch, family, dense_limit);
        __builtin_prefetch(shared->slots + hash_key(shared, wish.key) * SLOT_WIDTH);
        wishes[family - first] = wish;
    }
    for (int64_t family = first; family < last; family++) {
        Wish wish = wishes[family - first];
        if (wish.key == NONE) continue;
        int64_t *slot = add_slot(shared, wish.key);
        if (slot == NULL) return family;
        slot[CREDIT] += wish.gain;
        batch->shared_start[family] = (slot - shared->slots) / SLOT_WIDTH;
    }
    return last;
}

/* Reserve room for the table of n variables and request it. Return whether there is room. */
static bool request_table(
    const CountIndex *index, const BatchPlan *batch, const SharedTables *shared,
    const int32_t *variables, int64_t n, int64_t *requested
) {
    int64_t cells = 1;
    for (int64_t axis = 0; axis < n; axis++)
        cells *= get_fact(index->facts, variables[axis], ARITY);
    int64_t *slot = add_slot(shared, make_key(index, variables, n));
    if (slot == NULL || shared->used[USED_CELLS] + cells > shared->n_pool) return false;
    slot[BEGIN] = shared->used[USED_CELLS];
    shared->used[USED_CELLS] += cells;
    int32_t *requests = n == 2 ? batch->new_pairs : batch->new_triples;
    memcpy(requests + n * requested[n - 2]++, variables, (size_t) n * sizeof *variables);
    return true;
}

/* Find the shared table of a family, or request it if its credit reaches its price, or choose
 * another method. Return whether there is room for it. */
static bool place_family(
    const CountIndex *index, const BatchPlan *batch, const SharedTables *shared, int64_t family,
    int64_t *requested
) {
    int64_t start = batch->start[family], k = batch->start[family + 1] - start;
    int64_t n = choose_shared_size(index->facts, batch->variables + start, k);
    if (n == 1) return true;
    const int32_t *variables = batch->variables + start + k - n;
    const int64_t *slot = shared->slots + batch->shared_start[family] * SLOT_WIDTH;
    if (slot[BEGIN] == NONE) {
        SharedMethod chosen = choose_shared_method(index, shared, variables, n);
        if (slot[CREDIT] < (int64_t) chosen.cost) {
            batch->method[family] = ALL_ROWS;
            return true;
        }
        if (chosen.needs_pair && !request_table(index, batch, shared, variables + 1, 2, requested))
            return false;
        if (!request_table(index, batch, shared, variables, n, requested)) return false;
    }
    batch->shared_start[family] = slot[BEGIN];
    return true;
}

int64_t plan_families(
    const CountIndex *index, const BatchPlan *batch, const SharedTables *shared, int64_t first,
    int64_t dense_limit, int64_t *requested, int64_t n_requested
) {
    CHECK(n_requested == 2 && batch->start[batch->n_start - 1] <= batch->n_members);
    CHECK(batch->n_members <= batch->n_variables);
    int64_t n = batch->n_start - 1, last = first, stop = first;
    requested[0] = requested[1] = 0;
    while (last == stop && last < n) {
        stop = last + CHUNK < n ? last + CHUNK : n;
        last = plan_chunk(index, batch, shared, last, stop, dense_limit);
    }
    for (int64_t family = first; family < last; family++) {
        if (batch->method[family] == BY_LEVELS &&
            !place_family(index, batch, shared, family, requested)) {
            return family;
        }
    }
    return last;
}

/* ---- Counting and scoring ---- */

static Table make_table(
    const CountIndex *index, const int32_t *variables, int64_t k, const SharedTables *shared,
    const Scratch *scratch
) {
    CHECK(k <= scratch->n_stride);
    int64_t n_cells = set_strides(index->facts, variables, k, scratch->stride);
    CHECK(n_cells <= scratch->n_counts && n_cells <= scratch->n_margin);
    return (Table){
        variables,    k, n_cells, scratch->stride, scratch->counts, scratch->margin, scratch->words,
        shared->pool,
    };
}

void count_shared_tables(
    const CountIndex *index, const BatchPlan *batch, int64_t size, int64_t first, int64_t last,
    const SharedTables *shared, const Scratch *scratch
) {
    CHECK(size == 2 || size == 3);
    CHECK(0 <= first && last <= (size == 2 ? batch->n_new_pairs : batch->n_new_triples));
    const int32_t *requests = size == 2 ? batch->new_pairs : batch->new_triples;
    for (int64_t request = first; request < last; request++) {
        const int32_t *variables = requests + request * size;
        Table table = make_table(index, variables, size, shared, scratch);
        table.counts = shared->pool + find_slot(shared, make_key(index, variables, size))[BEGIN];
        SharedMethod method = choose_shared_method(index, shared, variables, size);
        if (method.needs_pair || !method.is_level) {
            count_all_rows(index, &table);
            continue;
        }
        int64_t base = size == 3 ? find_pair(index, shared, variables + 1)
                                 : get_fact(index->facts, variables[1], SINGLE);
        copy_part(index, &table, 1, shared->pool + base);
        add_level(index, &table, 0, method.is_by_bits);
    }
}

/* Count a family level by level, in front of its shared table. */
static void
count_by_levels(const CountIndex *index, Table *table, int64_t n_shared, const uint32_t *part) {
    const int32_t *variables = table->variables;
    bool has_bits = true;
    copy_part(index, table, table->k - n_shared, part);
    for (int64_t axis = table->k - 1; axis >= 0; axis--) {
        if (axis < table->k - n_shared) {
            double stride = (double) table->stride[axis];
            Level level = estimate_level(index, variables[axis], table->k - axis, stride, has_bits);
            add_level(index, table, axis, level.is_by_bits);
        }
        has_bits = has_bits && get_fact(index->facts, variables[axis], BITS) >= 0;
    }
}

/* Return the table of a family, which is counted into the scratch or lies in the pool. */
static Table count_family(
    const CountIndex *index, const BatchPlan *batch, int64_t family, const SharedTables *shared,
    const Scratch *scratch
) {
    int64_t start = batch->start[family], k = batch->start[family + 1] - start;
    const int32_t *variables = batch->variables + start;
    Table table = make_table(index, variables, k, shared, scratch);
    if (batch->method[family] == ALL_ROWS) {
        count_all_rows(index, &table);
        return table;
    }
    int64_t n_shared = choose_shared_size(index->facts, variables, k);
    uint32_t *part = shared->pool + batch->shared_start[family];
    if (n_shared == k) {
        table.counts = part;
    } else {
        count_by_levels(index, &table, n_shared, part);
    }
    return table;
}

void evaluate_families(
    const CountIndex *index, const ScoreSpec *spec, const BatchPlan *batch, int64_t first,
    int64_t last, const SharedTables *shared, const Scratch *scratch, const TableSums *sums,
    double *scores, int64_t n_scores
) {
    CHECK(0 <= first && last < batch->n_start);
    for (int64_t family = first; family < last; family++) {
        if (batch->method[family] == SPARSE) continue;
        Table table = count_family(index, batch, family, shared, scratch);
        if (sums->n_begin) {
            uint32_t *cells = sums->cells + sums->begin[family];
            CHECK(sums->begin[family] + table.n_cells <= sums->begin[family + 1]);
            CHECK(sums->begin[family + 1] <= sums->n_cells);
            for (int64_t i = 0; i < table.n_cells; i++) cells[i] += table.counts[i];
            continue;
        }
        CHECK(family < n_scores);
        int64_t child = batch->members[batch->start[family]];
        int64_t stride = find_stride(child, table.variables, table.k, table.stride);
        int64_t arity = get_fact(index->facts, child, ARITY);
        scores[family] = score_table(
            spec, table.counts, table.n_cells, stride, arity, scratch->margin, scratch->rising
        );
    }
}
