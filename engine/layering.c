#include "layering.h"

/* Return the log of the sum of the suitable sets of candidates, one by one. */
static double sum_suitable(const ChainArrays *tables, int64_t v, const SuitableSets *sets) {
    int64_t family = tables->begin[v], end = tables->begin[v + 1];
    double total = -INFINITY;
    for (; (family = find_family(tables, family, end, sets)) < end; family++) {
        if (tables->weight[family] < total - LOG_ROUND_OFF) break;
        if (!is_inside(tables, family)) continue;
        if (total == -INFINITY) {
            end = find_lighter(tables, family, end, tables->weight[family] - LOG_ROUND_OFF);
        }
        total = add_logs(total, tables->weight[family]);
    }
    return total;
}

/* Return what `sum_suitable` returns, by look-ups in the table of sums. */
static double look_up_suitable(const ChainArrays *tables, int64_t v, const SuitableSets *sets) {
    if (!sets->last) return -INFINITY;
    const double *log_sum = tables->log_sum + tables->table_begin[v];
    double high = log_sum[sets->before];
    if (high == -INFINITY) return high;
    double share = subtract_share(high, log_sum[sets->before & ~sets->last]);
    return share < CANCELLATION ? sum_suitable(tables, v, sets) : high + log(share);
}

/* Return the log of the sum of the sets of candidates of v whose highest one is at a level. */
static double
compute_inside_term(const ChainArrays *tables, const int64_t *level, int64_t v, int64_t needed) {
    if (needed == NO_PARENTS) return tables->empty[v];
    SuitableSets sets = find_candidates(tables, level, v, needed);
    return look_up_suitable(tables, v, &sets);
}

/* Return the log of the sum of the families of v whose highest parent is at a level. */
static double
compute_term(const ChainArrays *tables, const int64_t *level, int64_t v, int64_t needed) {
    double total = compute_inside_term(tables, level, v, needed);
    if (needed == NO_PARENTS || !has_outside(tables, v)) return total;
    return add_outside_families(tables, level, v, needed, needed, total);
}

void weigh_layering(const ChainArrays *tables, Layering *layering) {
    int64_t n = layering->n;
    memset(layering->counts, 0, (size_t) (n + 1) * sizeof *layering->counts);
    layering->n_layers = 0;
    layering->log_weight = 0.0;
    for (int64_t v = 0; v < n; v++) {
        int64_t layer = layering->level[v] / 2;
        CHECK(0 <= layering->level[v] && layer < n && layering->level[v] % 2 == 0);
        layering->counts[layer]++;
        if (layer >= layering->n_layers) layering->n_layers = layer + 1;
        layering->terms[v] = compute_term(tables, layering->level, v, layering->level[v] - 2);
        layering->log_weight += layering->terms[v];
    }
}

/* Take a variable out. Return the layer that it leaves empty, which closes, or -1. */
static int64_t take_out(Layering *layering, int64_t v) {
    int64_t *level = layering->level, *counts = layering->counts;
    int64_t home = level[v] / 2;
    level[v] = FAR;
    if (--counts[home] > 0) return -1;
    for (int64_t w = 0; w < layering->n; w++) {
        if (w != v && level[w] > 2 * home) level[w] -= 2;
    }
    layering->n_layers--;
    for (int64_t k = home; k < layering->n_layers; k++) counts[k] = counts[k + 1];
    counts[layering->n_layers] = 0;
    return home;
}

/* Put a variable into a place, see `LayeringRoom`. */
static void put_in(Layering *layering, int64_t v, int64_t place) {
    int64_t *level = layering->level, *counts = layering->counts;
    int64_t k = place / 2;
    if (place % 2 == 0) {
        for (int64_t w = 0; w < layering->n; w++) {
            if (w != v && level[w] >= 2 * k) level[w] += 2;
        }
        for (int64_t j = layering->n_layers; j > k; j--) counts[j] = counts[j - 1];
        counts[k] = 0;
        layering->n_layers++;
    }
    level[v] = 2 * k;
    counts[k]++;
}

/* The ways in which the moved variable can lie for another one: the variants of its term. */
enum {
    NOT_BEFORE,   /* not before it */
    LONG_BEFORE,  /* two layers or more before it */
    JUST_BEFORE,  /* in the layer before it */
    ALONE_BEFORE, /* the layer before it has no other variable */
    N_VARIANTS
};

/* Overwrite the variants of w. The levels are those without v, of which layer `closed` has gone. */
static void compute_variants(
    const ChainArrays *tables, const Layering *layering, const LayeringRoom *room, int64_t v,
    int64_t closed, int64_t w
) {
    int64_t *level = layering->level, needed = level[w] - 2, k = level[w] / 2;
    bool may_follow = is_possible(tables, v, w);
    double base = layering->terms[w];
    if (may_follow || k == closed) base = compute_term(tables, level, w, needed);
    double far = k > 0 ? base : 0.0, near = far, alone = -INFINITY;
    if (k > 0 && may_follow) {
        level[v] = -1;
        far = compute_term(tables, level, w, needed);
        level[v] = needed;
        near = compute_term(tables, level, w, needed);
    }
    if (room->rivals[k] == 0) {
        level[v] = needed + 1;
        alone = compute_term(tables, level, w, needed + 1);
    }
    level[v] = FAR;
    double *variants = room->variants + N_VARIANTS * w;
    variants[NOT_BEFORE] = base;
    variants[LONG_BEFORE] = far;
    variants[JUST_BEFORE] = near;
    variants[ALONE_BEFORE] = alone;
}

/* Overwrite rivals[k]: the variables of layer k that cannot have v as a parent. With one of them no
 * layer can follow on v alone. */
static void
count_rivals(const ChainArrays *tables, const Layering *layering, int64_t v, int64_t *rivals) {
    for (int64_t k = 0; k <= layering->n_layers; k++) rivals[k] = 0;
    for (int64_t w = 0; w < layering->n; w++) {
        if (w != v && !is_possible(tables, v, w)) rivals[layering->level[w] / 2]++;
    }
}

/* Overwrite the variants of all variables but v, and their sums over each layer. */
static void sum_variants(
    const ChainArrays *tables, const Layering *layering, const LayeringRoom *room, int64_t v,
    int64_t closed
) {
    count_rivals(tables, layering, v, room->rivals);
    for (int64_t i = 0; i < N_VARIANTS * layering->n_layers; i++) room->sums[i] = 0.0;
    for (int64_t w = 0; w < layering->n; w++) {
        if (w == v) continue;
        compute_variants(tables, layering, room, v, closed, w);
        double *sums = room->sums + N_VARIANTS * (layering->level[w] / 2);
        for (int i = 0; i < N_VARIANTS; i++) sums[i] += room->variants[N_VARIANTS * w + i];
    }
}

/* Overwrite places[i] with the log weight of the layering with v in place i, and the terms of v. */
static void weigh_places(
    const ChainArrays *tables, const Layering *layering, const LayeringRoom *room, int64_t v
) {
    const double *sums = room->sums;
    double *own = room->own, *places = room->places;
    int64_t n_layers = layering->n_layers;
    double before = 0.0; /* the sum over the layers that v does not come before */
    for (int64_t k = 0; k <= n_layers; k++) {
        own[k] = compute_term(tables, layering->level, v, 2 * k - 2);
        places[2 * k] =
            before + own[k] + (k < n_layers ? sums[N_VARIANTS * k + ALONE_BEFORE] : 0.0);
        if (k == n_layers) break;
        before += sums[N_VARIANTS * k + NOT_BEFORE];
        double next = k + 1 < n_layers ? sums[N_VARIANTS * (k + 1) + JUST_BEFORE] : 0.0;
        places[2 * k + 1] = before + own[k] + next;
    }
    double after = 0.0; /* the sum over the layers that v comes long before */
    for (int64_t k = n_layers; k >= 0; k--) {
        if (k + 1 < n_layers) after += sums[N_VARIANTS * (k + 1) + LONG_BEFORE];
        places[2 * k] += after;
        if (k > 0) places[2 * k - 1] += after;
    }
}

/* Return the variant of a variable in layer `layer` if the moved one is put into a place. */
static int choose_variant(int64_t layer, int64_t place) {
    int64_t ahead = layer - place / 2;
    if (place % 2 == 0) return ahead < 0 ? NOT_BEFORE : ahead == 0 ? ALONE_BEFORE : LONG_BEFORE;
    return ahead <= 0 ? NOT_BEFORE : ahead == 1 ? JUST_BEFORE : LONG_BEFORE;
}

bool relocate_in_layering(
    const ChainArrays *tables, Layering *layering, const LayeringRoom *room, int64_t v,
    double uniform
) {
    int64_t home = layering->level[v], old_layers = layering->n_layers;
    int64_t closed = take_out(layering, v);
    sum_variants(tables, layering, room, v, closed);
    weigh_places(tables, layering, room, v);
    int64_t n_places = 2 * layering->n_layers + 1;
    int64_t place = draw_index(room->places, n_places, uniform, room->shares);
    for (int64_t w = 0; w < layering->n; w++) {
        if (w == v) continue;
        int which = choose_variant(layering->level[w] / 2, place);
        layering->terms[w] = room->variants[N_VARIANTS * w + which];
    }
    layering->terms[v] = room->own[place / 2];
    layering->log_weight = room->places[place];
    put_in(layering, v, place);
    return layering->level[v] != home || layering->n_layers != old_layers;
}

/* Return a random family of v that suits it. */
static int64_t draw_family(
    const ChainArrays *tables, const int64_t *level, int64_t v, double term, double uniform
) {
    SuitableSets sets = find_candidates(tables, level, v, level[v] - 2);
    int64_t family = tables->begin[v], end = tables->begin[v + 1], chosen = -1;
    double remaining = uniform;
    for (; (family = find_family(tables, family, end, &sets)) < end; family++) {
        if (!is_inside(tables, family) && find_top(tables, level, family) != level[v] - 2) continue;
        chosen = family;
        remaining -= exp_or_zero(tables->weight[family] - term);
        if (remaining < 0.0) break;
    }
    CHECK(chosen >= 0);
    return chosen;
}

void draw_layering_dag(
    const ChainArrays *tables, const Layering *layering, const double *uniforms, int64_t *choice
) {
    for (int64_t v = 0; v < layering->n; v++) {
        choice[v] = draw_family(tables, layering->level, v, layering->terms[v], uniforms[v]);
    }
}

void sort_layering(const Layering *layering, int64_t *order) {
    int64_t at = 0;
    for (int64_t k = 0; k < layering->n_layers; k++) {
        for (int64_t v = 0; v < layering->n; v++) {
            if (layering->level[v] == 2 * k) order[at++] = v;
        }
    }
    CHECK(at == layering->n);
}

void find_layering(
    const ChainArrays *tables, const int64_t *choice, const int64_t *order, Layering *layering
) {
    for (int64_t i = 0; i < layering->n; i++) {
        int64_t v = order[i];
        layering->level[v] = find_top(tables, layering->level, choice[v]) + 2;
    }
}

/* Add the probabilities of arcs to v from candidates. The sets of candidates with u are all that
 * suit, less those without u. */
static void
add_inside_arcs(const ChainArrays *tables, const Layering *layering, int64_t v, double *arcs) {
    int64_t *level = layering->level, needed = level[v] - 2;
    double inside = compute_inside_term(tables, level, v, needed);
    double share = exp_or_zero(inside - layering->terms[v]);
    if (!(share > 0.0)) return;
    for (int64_t i = tables->pair_begin[v]; i < tables->pair_begin[v + 1]; i++) {
        int64_t u = tables->pair_parent[i], at = level[u];
        if (at > needed) continue;
        level[u] = FAR;
        arcs[i] -= share * expm1(compute_inside_term(tables, level, v, needed) - inside);
        level[u] = at;
    }
}

void add_layering_arcs(const ChainArrays *tables, const Layering *layering, double *arcs) {
    for (int64_t v = 0; v < layering->n; v++) {
        int64_t needed = layering->level[v] - 2;
        if (needed == NO_PARENTS) continue;
        add_inside_arcs(tables, layering, v, arcs);
        if (!has_outside(tables, v)) continue;
        add_outside_arcs(tables, layering->level, v, needed, needed, layering->terms[v], arcs);
    }
}
