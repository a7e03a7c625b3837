#include "exact_dags.h"

#include "exact_sums.h"

enum { LANES = 4 }; /* subsets of a block */

/* A smaller share of a sum is dropped: see coevo.posteriors.exact. */
static const double NEGLIGIBLE = 1e-50;
static const double NEGLIGIBLE_LOG = -115.12925464970229; /* its log */

/* A block: four floats that the processor adds and multiplies at once. The attributes allow for
 * any address of an array of floats. */
typedef double Lanes
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* One set U of all layers so far. */
typedef struct {
    const LayerTables *tables;
    const LayerScratch *scratch;
    int64_t n_variables;
    int64_t inside;    /* U as a number */
    int64_t n_members; /* variables of U */
    int64_t n_free;    /* variables outside U */
    int64_t n_subsets; /* of U */
    int64_t size;      /* of the rows of `shares`, one for each free variable: at least a block */
} LayerSet;

static void
check_sizes(const LayerTables *tables, const LayerSums *sums, const LayerScratch *scratch) {
    int64_t n = tables->n_sums, n_sets = INT64_C(1) << n;
    CHECK(0 < n && n <= MOST_VARIABLES && 2 * tables->sums_width == n_sets);
    CHECK(tables->n_steps == n * (n - 1) && tables->steps_depth == 2);
    CHECK(n == 1 || 4 * tables->steps_width == n_sets);
    CHECK(tables->n_powers == n_sets && sums->n_scales == n_sets);
    CHECK(sums->n_states == 2 * tables->powers[n_sets - 1] + 1);
    CHECK(scratch->n_members == n && scratch->n_free == n && scratch->n_log_free == n);
    CHECK(scratch->n_subsets == n_sets && scratch->n_layers == n_sets);
    CHECK(scratch->n_logs == n_sets && scratch->n_after == n_sets && scratch->n_rests == n_sets);
    CHECK(scratch->n_shares == n_sets && scratch->n_pieces == n_sets);
    CHECK(scratch->n_work == LANES * n_sets && scratch->n_totals == LANES * n_sets);
}

/* List the members of a set and the free variables. */
static LayerSet open_set(const LayerTables *tables, const LayerScratch *scratch, int64_t inside) {
    int64_t n = tables->n_sums, n_members = 0, n_free = 0;
    for (int64_t v = 0; v < n; v++) {
        if (contains(inside, v)) {
            scratch->members[n_members++] = v;
        } else {
            scratch->free[n_free] = v;
            scratch->log_free[n_free] =
                tables->sums[v * tables->sums_width + remove_bit(inside, v)];
            n_free++;
        }
    }
    int64_t n_subsets = INT64_C(1) << n_members;
    int64_t size = n_subsets < LANES ? LANES : n_subsets;
    return (LayerSet){tables, scratch, n, inside, n_members, n_free, n_subsets, size};
}

/* Overwrite `sets` with all sets of n variables, numbered by their places. */
static void list_subsets(const int64_t *variables, int64_t n, int64_t *sets) {
    sets[0] = 0;
    for (int64_t j = 0; j < n; j++) {
        int64_t half = INT64_C(1) << j, bit = INT64_C(1) << variables[j];
        for (int64_t i = 0; i < half; i++) sets[half + i] = sets[i] | bit;
    }
}

/* Overwrite after[i] with the scaled weight of layer i and all that follows it.
 *
 * Its variables may have any parents in U. Return the log of the scale: the largest weight becomes
 * 1. */
static double fill_after(const LayerSet *set, const double *states) {
    const int64_t *powers = set->tables->powers, *layers = set->scratch->layers;
    double *logs = set->scratch->logs, *after = set->scratch->after;
    const double *from = states + powers[set->inside];
    double scale = -INFINITY;
    list_subsets(set->scratch->free, set->n_free, set->scratch->layers);
    logs[0] = 0.0;
    after[0] = -INFINITY;
    for (int64_t j = 0; j < set->n_free; j++) {
        int64_t half = INT64_C(1) << j;
        double log_free = set->scratch->log_free[j];
        for (int64_t i = half; i < 2 * half; i++) {
            logs[i] = logs[i - half] + log_free;
            after[i] = logs[i] + from[2 * powers[layers[i]]];
            scale = after[i] > scale ? after[i] : scale;
        }
    }
    if (scale == -INFINITY) return scale;
    for (int64_t i = 0; i < INT64_C(1) << set->n_free; i++) {
        double log_share = after[i] - scale;
        after[i] = log_share > NEGLIGIBLE_LOG ? exp(log_share) : 0.0;
    }
    return scale;
}

/* Return the number of a piece: of the parent sets of v that are within S + t and contain t, where
 * S has neither v nor t. */
INLINE int64_t find_piece(const LayerSet *set, int64_t v, int64_t t, int64_t subset) {
    int64_t place = t > v ? t - 1 : t;
    int64_t pair = v * (set->n_variables - 1) + place;
    return pair * set->tables->steps_width + remove_bit(remove_bit(subset, v), place);
}

/* Return t: the first member of U that is not in its subset r, which is not all of U. */
INLINE int64_t find_missing(const LayerSet *set, int64_t r) {
    return set->scratch->members[find_lowest_member(~r)];
}

/* Overwrite shares[j * size + r]: the part of the parent sets that are no subsets of r.
 *
 * They are the parents that free variable j may have if r is the set of all earlier layers. With t
 * of `find_missing`, a set that is no subset of r is no subset of r and t, or it is within r and t
 * and contains t (`pieces`). */
static void fill_shares(const LayerSet *set) {
    const LayerScratch *scratch = set->scratch;
    const double *steps = set->tables->steps;
    double *rests = scratch->rests;
    int64_t last = set->n_subsets - 1;
    list_subsets(scratch->members, set->n_members, scratch->subsets);
    for (int64_t j = 0; j < set->n_free; j++) {
        double *shares = scratch->shares + j * set->size;
        double *pieces = scratch->pieces + j * set->size;
        rests[last] = 1.0;
        for (int64_t r = last; r < set->size; r++) shares[r] = 0.0; /* a block may be larger */
        for (int64_t r = last - 1; r >= 0; r--) {
            int64_t larger = r | (r + 1); /* r and t */
            int64_t t = find_missing(set, r);
            const double *step =
                steps + 2 * find_piece(set, scratch->free[j], t, scratch->subsets[r]);
            double piece = rests[larger] * step[0], rest = rests[larger] * step[1];
            pieces[r] = piece > NEGLIGIBLE ? piece : 0.0;
            rests[r] = rest > NEGLIGIBLE ? rest : 0.0;
            shares[r] = shares[larger] + pieces[r];
        }
    }
}

/* Return the shares of free variable j for the subsets from r on. */
INLINE Lanes *find_shares(const LayerSet *set, int64_t j, int64_t r) {
    return (Lanes *) (set->scratch->shares + j * set->size + r);
}

/* Return the number of the state with all layers U and the earlier layers r. */
INLINE int64_t find_state(const LayerSet *set, int64_t r) {
    const int64_t *powers = set->tables->powers;
    return 2 * powers[set->inside] - powers[set->scratch->subsets[r]];
}

/* Overwrite the first block of `work` with the sums over all next layers, for subsets from r on.
 *
 * One free variable after the other is in the layer or not. There is at least one. */
static void sum_block(const LayerSet *set, int64_t r) {
    const double *after = set->scratch->after;
    Lanes *work = (Lanes *) set->scratch->work;
    int64_t j = set->n_free - 1, half = INT64_C(1) << j;
    Lanes share = *find_shares(set, j, r);
    for (int64_t i = 0; i < half; i++) work[i] = after[i] + share * after[half + i];
    while (--j >= 0) {
        half = INT64_C(1) << j;
        share = *find_shares(set, j, r);
        for (int64_t i = 0; i < half; i++) work[i] += share * work[half + i];
    }
}

/* Overwrite the entries of all states of one set; return the log of the scale. */
static double sum_after_set(const LayerSet *set, double *states) {
    double scale = 0.0, *work = set->scratch->work;
    if (set->n_free > 0) scale = fill_after(set, states);
    fill_shares(set);
    for (int64_t r = 0; r < set->n_subsets; r += LANES) {
        if (set->n_free > 0 && scale > -INFINITY) {
            sum_block(set, r);
        } else {
            for (int lane = 0; lane < LANES; lane++) work[lane] = 1.0;
        }
        for (int64_t lane = 0; lane < LANES && r + lane < set->n_subsets - 1; lane++) {
            bool is_possible = work[lane] > NEGLIGIBLE;
            states[find_state(set, r + lane)] = is_possible ? scale + log(work[lane]) : -INFINITY;
        }
    }
    return scale;
}

double sum_layerings(
    const LayerTables *tables, const LayerSums *sums, const LayerScratch *scratch, int64_t begin,
    int64_t end
) {
    check_sizes(tables, sums, scratch);
    CHECK(0 <= begin && end <= tables->n_powers);
    for (int64_t inside = end - 1; inside >= (begin > 1 ? begin : 1); inside--) {
        LayerSet set = open_set(tables, scratch, inside);
        sums->scales[inside] = sum_after_set(&set, sums->states);
    }
    if (begin > 0) return NAN;
    LayerSet none = open_set(tables, scratch, 0);
    double scale = sums->scales[0] = fill_after(&none, sums->states);
    if (scale == -INFINITY) return scale;
    double total = 0.0;
    for (int64_t i = 0; i < tables->n_powers; i++) total += scratch->after[i];
    return scale + log(total);
}

/* Multiply the first block of `work` by the shares of the variables of each layer. */
static void spread_block(const LayerSet *set, int64_t r) {
    Lanes *work = (Lanes *) set->scratch->work;
    for (int64_t j = 0; j < set->n_free; j++) {
        int64_t half = INT64_C(1) << j;
        Lanes share = *find_shares(set, j, r);
        for (int64_t i = 0; i < half; i++) work[half + i] = share * work[i];
    }
}

/* Add `work` to `totals`, and multiply it by the weights of all that follows each layer. */
static void add_block(const LayerSet *set) {
    const double *after = set->scratch->after;
    Lanes *work = (Lanes *) set->scratch->work, *totals = (Lanes *) set->scratch->totals;
    for (int64_t i = 0; i < INT64_C(1) << set->n_free; i++) {
        totals[i] += work[i];
        work[i] *= after[i];
    }
}

/* Replace each share by the probability that its variable is in the layer, divided by it.
 *
 * `work` has the probabilities of all layers; it is overwritten. */
static void replace_shares(const LayerSet *set, int64_t r) {
    Lanes *work = (Lanes *) set->scratch->work;
    for (int64_t j = set->n_free - 1; j >= 0; j--) {
        int64_t half = INT64_C(1) << j;
        Lanes total = {0.0};
        for (int64_t i = 0; i < half; i++) {
            work[i] += work[half + i];
            total += work[half + i];
        }
        Lanes *share = find_shares(set, j, r), ratio = total / *share;
        for (int lane = 0; lane < LANES; lane++) {
            (*share)[lane] = total[lane] > 0.0 ? ratio[lane] : 0.0;
        }
    }
}

/* Add the probability of each piece to `found`.
 *
 * `shares` holds what `replace_shares` wrote. A piece of r belongs to the parent sets of r, and of
 * all smaller sets that lead to r in `fill_shares`. */
static void share_pieces(const LayerSet *set, double *found) {
    for (int64_t j = 0; j < set->n_free; j++) {
        double *factors = set->scratch->shares + j * set->size;
        const double *pieces = set->scratch->pieces + j * set->size;
        for (int64_t r = 0; r < set->n_subsets - 1; r++) {
            double factor = factors[r];
            if (!(factor > 0.0)) continue;
            int64_t v = set->scratch->free[j], t = find_missing(set, r);
            found[find_piece(set, v, t, set->scratch->subsets[r])] += factor * pieces[r];
            factors[r | (r + 1)] += factor;
        }
    }
}

/* Overwrite the first block of `work` with the weights of the states from r on, of all that leads
 * to them; return whether one of them is positive. */
static bool read_block(const LayerSet *set, const double *states, int64_t r) {
    double *work = set->scratch->work;
    bool is_positive = false;
    for (int64_t lane = 0; lane < LANES; lane++) {
        work[lane] = r + lane < set->n_subsets - 1 ? states[find_state(set, r + lane)] : 0.0;
        is_positive = is_positive || work[lane] > 0.0;
    }
    return is_positive;
}

/* Overwrite `totals` with the factors of each next layer, summed over the states of a set.
 *
 * The probabilities of the pieces are added to `found`. */
static void visit_set(const LayerSet *set, const double *states, double *found) {
    const LayerScratch *scratch = set->scratch;
    for (int64_t i = 0; i < (int64_t) LANES << set->n_free; i++) scratch->totals[i] = 0.0;
    fill_shares(set);
    for (int64_t r = 0; r < set->n_subsets; r += LANES) {
        if (read_block(set, states, r)) {
            spread_block(set, r);
            add_block(set);
            replace_shares(set, r);
        } else {
            for (int64_t j = 0; j < set->n_free; j++) {
                memset(scratch->shares + j * set->size + r, 0, LANES * sizeof(double));
            }
        }
    }
    share_pieces(set, found);
}

/* Overwrite `totals` for the first layer, which follows no state. */
static void start_totals(const LayerSet *none) {
    const double *after = none->scratch->after;
    int64_t n_layers = INT64_C(1) << none->n_free;
    double total = 0.0;
    for (int64_t i = 0; i < n_layers; i++) total += after[i];
    for (int64_t i = 0; i < LANES * n_layers; i++) none->scratch->totals[i] = 1.0 / LANES / total;
}

/* Overwrite the states to which the next layers lead; `scale` is that of what follows U. */
static void reach_states(const LayerSet *set, const LayerSums *sums, double scale) {
    const int64_t *powers = set->tables->powers, *layers = set->scratch->layers;
    for (int64_t i = 1; i < INT64_C(1) << set->n_free; i++) {
        const double *lanes = set->scratch->totals + LANES * i;
        double total = lanes[0] + lanes[1] + lanes[2] + lanes[3];
        double *state = sums->states + powers[set->inside] + 2 * powers[layers[i]];
        double log_factor = sums->scales[set->inside | layers[i]] + set->scratch->logs[i] - scale;
        bool is_possible = total > 0.0 && *state > -INFINITY && log_factor > -INFINITY;
        double log_weight = is_possible ? log(total) + log_factor : -INFINITY;
        *state = log_weight > NEGLIGIBLE_LOG ? exp(log_weight) : 0.0;
    }
}

void share_layerings(
    const LayerTables *tables, const LayerSums *sums, const LayerScratch *scratch, int64_t begin,
    int64_t end, double *found, int64_t n_found, int64_t found_width
) {
    check_sizes(tables, sums, scratch);
    CHECK(0 <= begin && n_found == tables->n_steps && found_width == tables->steps_width);
    int64_t all = tables->n_powers - 1;
    for (int64_t inside = begin; inside < (end < all ? end : all); inside++) {
        LayerSet set = open_set(tables, scratch, inside);
        double scale = fill_after(&set, sums->states);
        if (inside > 0) {
            visit_set(&set, sums->states, found);
        } else {
            start_totals(&set);
        }
        reach_states(&set, sums, scale);
    }
}

/* Overwrite shares[j] for one state; for the first layer, all are 1. */
static void fill_one_share(const LayerSet *set, int64_t earlier) {
    for (int64_t j = 0; j < set->n_free; j++) {
        int64_t v = set->scratch->free[j], subset = set->inside;
        double share = set->inside == 0 ? 1.0 : 0.0, rest = 1.0;
        for (int64_t t = set->n_variables - 1; t >= 0; t--) {
            if (!contains(set->inside ^ earlier, t)) continue;
            subset ^= INT64_C(1) << t;
            const double *step = set->tables->steps + 2 * find_piece(set, v, t, subset);
            share += rest * step[0];
            rest *= step[1];
        }
        set->scratch->shares[j] = share;
    }
}

/* Overwrite work[i] with the sum of the weights of the layers up to i. */
static void cumulate_layers(const LayerSet *set) {
    double *work = set->scratch->work;
    work[0] = 1.0;
    for (int64_t j = 0; j < set->n_free; j++) {
        int64_t half = INT64_C(1) << j;
        for (int64_t i = 0; i < half; i++) work[half + i] = set->scratch->shares[j] * work[i];
    }
    work[0] = 0.0;
    for (int64_t i = 1; i < INT64_C(1) << set->n_free; i++) {
        work[i] = work[i - 1] + work[i] * set->scratch->after[i];
    }
}

/* Return the first place whose cumulated weight is above the target, or the last heavy one. */
static int64_t find_place(const double *cumulated, int64_t size, double target) {
    int64_t low = 0, high = size - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (cumulated[middle] > target) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    while (low > 1 && cumulated[low] == cumulated[low - 1]) low--;
    return low;
}

void draw_layers(
    const LayerTables *tables, const LayerSums *sums, const LayerScratch *scratch,
    const int64_t *sequence, int64_t n_sequence, const LayerDraws *draws
) {
    int64_t n = tables->n_sums;
    check_sizes(tables, sums, scratch);
    CHECK(draws->reached_width == 2 && draws->log_totals_width == n);
    CHECK(draws->n_lots == draws->n_reached && draws->n_log_totals == draws->n_reached);
    LayerSet set = {0};
    int64_t inside = -1, earlier = -1;
    for (int64_t k = 0; k < n_sequence; k++) {
        int64_t draw = sequence[k];
        CHECK(0 <= draw && draw < draws->n_reached);
        int64_t *reached = draws->reached + 2 * draw;
        CHECK(0 <= reached[0] && reached[0] < tables->n_powers - 1);
        CHECK((reached[1] & ~reached[0]) == 0);
        if (reached[0] != inside || reached[1] != earlier) { /* else the last sums still hold */
            inside = reached[0];
            earlier = reached[1];
            set = open_set(tables, scratch, inside);
            fill_after(&set, sums->states);
            fill_one_share(&set, earlier);
            cumulate_layers(&set);
        }
        int64_t size = INT64_C(1) << set.n_free;
        double target = draws->lots[draw] * scratch->work[size - 1];
        int64_t layer = scratch->layers[find_place(scratch->work, size, target)];
        for (int64_t j = 0; j < set.n_free; j++) {
            int64_t v = scratch->free[j];
            if (!contains(layer, v)) continue;
            draws->log_totals[draw * n + v] = scratch->log_free[j] + log(scratch->shares[j]);
        }
        reached[0] = inside | layer;
        reached[1] = inside;
    }
}
