#include "sparse.h"

static const int64_t KEY_LIMIT = (int64_t) 1 << 62; /* of keys */
static const double LARGEST_LOG = 600.0;            /* safely below that of the largest float */

enum {
    SMALL_COUNTS = 1024,   /* smaller counts have a histogram, the others are sorted */
    KEYS_PER_BLOCK = 1024, /* they fit into the L1 cache */
};

/* ---- Keys of rows ---- */

RowKeys make_keys(const CountIndex *index, const SparseScratch *scratch) {
    int64_t n_rows = index->codes_width;
    CHECK(n_rows < UINT32_MAX && n_rows <= scratch->n_keys);
    CHECK(n_rows <= scratch->groups_width && n_rows <= scratch->n_terms);
    CHECK(scratch->n_slot_keys == scratch->n_slots);
    CHECK(2 * n_rows <= scratch->n_slots && !(scratch->n_slots & (scratch->n_slots - 1)));
    CHECK(!index->n_weights || index->n_weights == n_rows);
    memset(scratch->keys, 0, (size_t) n_rows * sizeof *scratch->keys);
    return (RowKeys){.index = index, .scratch = scratch, .n_rows = n_rows, .limit = 1};
}

void set_keys(RowKeys *keys, Groups groups) {
    int64_t *own = keys->scratch->keys;
    for (int64_t row = 0; row < keys->n_rows; row++) own[row] = groups.of_row[row];
    keys->limit = groups.n;
}

/* Append the state of a variable to n keys; the first one is that of row `begin`. */
INLINE void append_states(
    const CountIndex *index, int64_t variable, int64_t begin, int64_t n, int64_t *restrict keys
) {
    CHECK(0 <= variable && variable < index->n_facts);
    int64_t arity = get_fact(index->facts, variable, ARITY);
    int64_t high = get_fact(index->facts, variable, HIGH);
    const uint8_t *restrict codes = index->codes + variable * index->codes_width + begin;
    for (int64_t i = 0; i < n; i++) keys[i] = keys[i] * arity + codes[i];
    if (high < 0) return;
    const uint8_t *restrict high_codes = index->codes + high * index->codes_width + begin;
    for (int64_t i = 0; i < n; i++) keys[i] += 256 * (int64_t) high_codes[i];
}

/* Return how many variables can be appended before a key could reach the limit of keys. Multiply
 * the limit of these keys by their states. */
static int64_t count_fitting(RowKeys *keys, const int32_t *variables, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int64_t arity = get_fact(keys->index->facts, variables[i], ARITY);
        if (keys->limit > KEY_LIMIT / arity) return i;
        keys->limit *= arity;
    }
    return n;
}

void append_variables(RowKeys *keys, const int32_t *variables, int64_t n) {
    int64_t *own = keys->scratch->keys;
    while (n > 0) {
        int64_t n_fitting = count_fitting(keys, variables, n);
        for (int64_t begin = 0; begin < keys->n_rows; begin += KEYS_PER_BLOCK) {
            int64_t rest = keys->n_rows - begin;
            int64_t length = rest < KEYS_PER_BLOCK ? rest : KEYS_PER_BLOCK;
            for (int64_t i = 0; i < n_fitting; i++) {
                append_states(keys->index, variables[i], begin, length, own + begin);
            }
        }
        variables += n_fitting;
        n -= n_fitting;
        if (n > 0) set_keys(keys, group_rows(keys, 0)); /* fewer and smaller keys */
    }
}

/* ---- Groups of rows ---- */

static const uint32_t NO_GROUP = UINT32_MAX;

/* The multiplier of Fibonacci hashing, 2^64 over the golden ratio: the upper bits of the product
 * differ for keys in sequence as well as for multiples of a power of two. */
static const uint64_t MULTIPLIER = 0x9E3779B97F4A7C15;

static Groups get_groups(const SparseScratch *scratch, int64_t place) {
    uint32_t *first = scratch->groups + place * GROUP_ARRAYS * scratch->groups_width;
    CHECK((place + 1) * GROUP_ARRAYS <= scratch->n_groups);
    return (Groups){
        .of_row = first,
        .first_row = first + scratch->groups_width,
        .size = first + 2 * scratch->groups_width,
        .n = 0,
    };
}

/* Put a row into the group of its slot, or into a new group if the slot is empty.
 *
 * Without a branch, because no processor can predict which row begins a group: the next number
 * gets this row in advance, and keeps it only if the number is taken. The sizes start as 0. */
INLINE void
join_group(uint32_t *restrict slot, int64_t row, const int64_t *weights, Groups *restrict groups) {
    bool is_new = *slot == NO_GROUP;
    uint32_t group = is_new ? (uint32_t) groups->n : *slot;
    groups->first_row[groups->n] = (uint32_t) row;
    groups->n += is_new;
    groups->of_row[row] = *slot = group;
    groups->size[group] += weights ? (uint32_t) weights[row] : 1;
}

/* Put all rows into groups, where there is a slot for each key that is possible. */
INLINE Groups group_by_slot(const RowKeys *keys, const int64_t *weights, Groups groups) {
    uint32_t *restrict slots = keys->scratch->slots;
    const int64_t *restrict own = keys->scratch->keys;
    for (int64_t row = 0, n_rows = keys->n_rows; row < n_rows; row++) {
        int64_t key = own[row];
        CHECK(0 <= key && key < keys->limit);
        join_group(slots + key, row, weights, &groups);
    }
    return groups;
}

/* Put all rows into groups, with a hash table with open addressing. */
INLINE Groups group_by_hash(const RowKeys *keys, const int64_t *weights, Groups groups) {
    const SparseScratch *scratch = keys->scratch;
    uint32_t *restrict slots = scratch->slots;
    int64_t *restrict slot_keys = scratch->slot_keys, mask = scratch->n_slots - 1;
    const int64_t *restrict own = scratch->keys;
    int shift = 64 - __builtin_ctzll((uint64_t) scratch->n_slots);
    for (int64_t row = 0, n_rows = keys->n_rows; row < n_rows; row++) {
        int64_t key = own[row];
        CHECK(0 <= key && key < keys->limit);
        int64_t slot = (int64_t) (((uint64_t) key * MULTIPLIER) >> shift);
        /* One test for both ends of the search. An empty slot has the key of an earlier grouping.
         */
        while (!((slots[slot] == NO_GROUP) | (slot_keys[slot] == key))) slot = (slot + 1) & mask;
        slot_keys[slot] = key;
        join_group(slots + slot, row, weights, &groups);
    }
    return groups;
}

Groups group_rows(const RowKeys *keys, int64_t place) {
    const SparseScratch *scratch = keys->scratch;
    bool has_all_slots = keys->limit <= scratch->n_slots;
    int64_t n_slots = has_all_slots ? keys->limit : scratch->n_slots;
    memset(scratch->slots, 0xFF, (size_t) n_slots * sizeof *scratch->slots); /* NO_GROUP */
    Groups groups = get_groups(scratch, place);
    memset(groups.size, 0, (size_t) keys->n_rows * sizeof *groups.size);
    const int64_t *weights = keys->index->n_weights ? keys->index->weights : NULL;
    if (has_all_slots) return group_by_slot(keys, weights, groups);
    return group_by_hash(keys, weights, groups);
}

/* ---- Sums over counts, from the lowest to the highest ---- */

/* How often each count occurs. */
typedef struct {
    uint32_t small[SMALL_COUNTS]; /* small[n]: of the count n */
    const double *large;          /* the counts from SMALL_COUNTS on, in ascending order */
    int64_t n_large;
} CountHistogram;

/* Sort the counts of groups into a histogram. */
static void fill_histogram(CountHistogram *histogram, Groups groups, double *large) {
    memset(histogram->small, 0, sizeof histogram->small);
    int64_t n_large = 0;
    for (int64_t group = 0; group < groups.n; group++) {
        uint32_t count = groups.size[group];
        if (count < SMALL_COUNTS) {
            histogram->small[count]++;
        } else {
            large[n_large++] = count;
        }
    }
    sort_values(large, n_large);
    histogram->large = large;
    histogram->n_large = n_large;
}

/* What the terms of one sum share. */
typedef struct {
    int64_t kind;
    double a, log_a, log_gamma_a;
} Prior;

static Prior make_prior(int64_t kind, double log_a) {
    double a = exp(log_a);
    return (Prior){kind, a, log_a, kind < LIKELIHOOD ? lgamma(a) : 0.0};
}

/* Return n log n, or log a (a + 1) ... (a + n - 1).
 *
 * If a is too small for a float, the latter is log a (n - 1)!. */
static double compute_term(Prior prior, double count) {
    if (prior.kind >= LIKELIHOOD) return count * log(count);
    if (prior.log_a < -LARGEST_LOG) return prior.log_a + lgamma(count);
    if (prior.a >= LARGE_PRIOR) return log_rising_of_large(prior.a, count);
    return lgamma(prior.a + count) - prior.log_gamma_a;
}

/* Return the sum of the terms of all counts. */
static double sum_terms(const CountHistogram *histogram, Prior prior) {
    double total = 0.0;
    for (int64_t count = 1; count < SMALL_COUNTS; count++) {
        double times = histogram->small[count];
        if (times > 0.0) total += times * compute_term(prior, (double) count);
    }
    for (int64_t i = 0; i < histogram->n_large; i++) {
        total += compute_term(prior, histogram->large[i]);
    }
    return total;
}

/* Return the sum of the regrets of all counts, added one by one. */
static double sum_regrets(const CountHistogram *histogram, const ScoreSpec *spec, int64_t arity) {
    double total = 0.0;
    for (int64_t count = 1; count < SMALL_COUNTS; count++) {
        uint32_t times = histogram->small[count];
        if (times == 0) continue;
        double regret = compute_regret(spec->regret, spec->n_regret, count, arity);
        for (uint32_t i = 0; i < times; i++) total += regret;
    }
    for (int64_t i = 0; i < histogram->n_large; i++) {
        int64_t count = (int64_t) histogram->large[i];
        total += compute_regret(spec->regret, spec->n_regret, count, arity);
    }
    return total;
}

/* Shell's sort, with the gaps of Knuth: short, in place, and only few values are ever sorted. */
void sort_values(double *values, int64_t n) {
    int64_t gap = 1;
    while (gap < n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (int64_t i = gap; i < n; i++) {
            double value = values[i];
            int64_t at = i;
            for (; at >= gap && values[at - gap] > value; at -= gap) values[at] = values[at - gap];
            values[at] = value;
        }
    }
}

/* ---- Scores ---- */

/* Return the penalty of q (r - 1) parameters; infinite if q is too large for a float. */
static double compute_penalty(double penalty, double log_q, double arity) {
    if (penalty == 0.0 || arity == 1.0) return 0.0;
    return log_q < LARGEST_LOG ? penalty * exp(log_q) * (arity - 1.0) : INFINITY;
}

/* Return the logarithm of the number of configurations of some variables. */
static double sum_log_arities(const int64_t *facts, const int32_t *variables, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += log((double) get_fact(facts, variables[i], ARITY));
    return sum;
}

/* Return log a of the term of a configuration of the parents; see score.h. */
static double compute_log_prior(const ScoreSpec *spec, double log_r, double log_q, int64_t n_seen) {
    if (spec->kind == DIRICHLET) return log(spec->ess) - log_q;
    if (spec->kind == DIRICHLET_SEEN) return log(spec->ess) - log((double) n_seen);
    return log_r; /* ALL_ONES; the other kinds have no prior */
}

/* Return the local score of the family of the first of k members, the child. */
static double score_family(
    const CountIndex *index, const ScoreSpec *spec, const int32_t *members, int64_t k,
    const SparseScratch *scratch
) {
    int64_t arity = get_fact(index->facts, members[0], ARITY);
    double r = (double) arity, log_r = log(r);
    double log_q = sum_log_arities(index->facts, members + 1, k - 1);
    RowKeys keys = make_keys(index, scratch);
    append_variables(&keys, members + 1, k - 1);
    Groups groups = group_rows(&keys, 0);
    double log_a = compute_log_prior(spec, log_r, log_q, groups.n);
    CountHistogram histogram;
    fill_histogram(&histogram, groups, scratch->terms);
    double score = -sum_terms(&histogram, make_prior(spec->kind, log_a));
    if (spec->kind == FACTORISED) score -= sum_regrets(&histogram, spec, arity);

    set_keys(&keys, groups);
    append_variables(&keys, members, 1);
    groups = group_rows(&keys, 0);
    fill_histogram(&histogram, groups, scratch->terms);
    score += sum_terms(&histogram, make_prior(spec->kind, log_a - log_r));
    if (spec->kind == LIKELIHOOD) score -= compute_penalty(spec->penalty, log_q, r);
    if (spec->kind == QUOTIENT && arity > 1) {
        double q = exp(log_q < LARGEST_LOG ? log_q : LARGEST_LOG);
        score -= compute_quotient_penalty(spec, q, r);
    }
    return score;
}

void evaluate_sparse(
    const CountIndex *index, const ScoreSpec *spec, const BatchPlan *batch, int64_t first,
    int64_t last, const SparseScratch *scratch, double *scores, int64_t n_scores
) {
    CHECK(0 <= first && last < batch->n_start && last <= batch->n_method && last <= n_scores);
    for (int64_t family = first; family < last; family++) {
        if (batch->method[family] != SPARSE) continue;
        int64_t start = batch->start[family], k = batch->start[family + 1] - start;
        CHECK(k > 0 && start + k <= batch->n_members);
        scores[family] = score_family(index, spec, batch->members + start, k, scratch);
    }
}
