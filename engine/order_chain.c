#include "order_chain.h"

/* Return the log of the sum of the sets of candidates of v below a level. */
static double
look_up_sum(const ChainArrays *tables, const int64_t *level, int64_t v, int64_t bound) {
    SuitableSets sets = find_candidates(tables, level, v, bound - 1);
    return tables->log_sum[tables->table_begin[v] + sets.before];
}

/* Return the log of the sum of the families of v with all parents below a level. */
static double
compute_term(const ChainArrays *tables, const int64_t *level, int64_t v, int64_t bound) {
    double total = look_up_sum(tables, level, v, bound);
    if (!has_outside(tables, v)) return total;
    return add_outside_families(tables, level, v, NO_PARENTS, bound - 1, total);
}

void weigh_order(const ChainArrays *tables, VariableOrder *order) {
    order->log_weight = 0.0;
    for (int64_t v = 0; v < order->n; v++) {
        int64_t place = order->level[v] / 2;
        CHECK(0 <= order->level[v] && place < order->n && order->level[v] % 2 == 0);
        order->order[place] = v;
        order->terms[v] = compute_term(tables, order->level, v, order->level[v]);
        order->log_weight += order->terms[v];
    }
}

/* Take v out of the order; the variables after it move up. */
static void take_out(VariableOrder *order, int64_t v) {
    for (int64_t i = order->level[v] / 2; i < order->n - 1; i++) {
        order->order[i] = order->order[i + 1];
        order->level[order->order[i]] = 2 * i;
    }
    order->level[v] = FAR;
}

/* Put v into a place; the variables from there on move down. */
static void put_in(VariableOrder *order, int64_t v, int64_t place) {
    for (int64_t i = order->n - 1; i > place; i--) {
        order->order[i] = order->order[i - 1];
        order->level[order->order[i]] = 2 * i;
    }
    order->order[place] = v;
    order->level[v] = 2 * place;
}

/* Overwrite the term of w if v comes after it, and after[w] if v comes before it. */
static void
compute_both(const ChainArrays *tables, VariableOrder *order, int64_t v, int64_t w, double *after) {
    int64_t *level = order->level;
    after[w] = order->terms[w];
    if (!is_possible(tables, v, w)) return;
    order->terms[w] = compute_term(tables, level, w, level[w]);
    level[v] = -1;
    after[w] = compute_term(tables, level, w, level[w]);
    level[v] = FAR;
}

/* Overwrite places[i] with the log weight of the order with v in place i, and the terms. */
static void
weigh_places(const ChainArrays *tables, VariableOrder *order, const OrderRoom *room, int64_t v) {
    const int64_t *sequence = order->order;
    double *own = room->own, *places = room->places;
    double above = 0.0; /* the sum of the terms of the variables before the place */
    for (int64_t i = 0; i < order->n; i++) {
        bool is_new = i == 0 || is_possible(tables, sequence[i - 1], v);
        own[i] = is_new ? compute_term(tables, order->level, v, 2 * i) : own[i - 1];
        places[i] = above + own[i];
        if (i == order->n - 1) break;
        compute_both(tables, order, v, sequence[i], room->after);
        above += order->terms[sequence[i]];
    }
    double below = 0.0; /* the sum of the terms of the variables from the place on */
    for (int64_t i = order->n - 2; i >= 0; i--) {
        below += room->after[sequence[i]];
        places[i] += below;
    }
}

bool relocate_in_order(
    const ChainArrays *tables, VariableOrder *order, const OrderRoom *room, int64_t v,
    double uniform
) {
    int64_t home = order->level[v];
    take_out(order, v);
    weigh_places(tables, order, room, v);
    int64_t place = draw_index(room->places, order->n, uniform, room->shares);
    for (int64_t i = place; i < order->n - 1; i++) {
        order->terms[order->order[i]] = room->after[order->order[i]];
    }
    order->terms[v] = room->own[place];
    order->log_weight = room->places[place];
    put_in(order, v, place);
    return order->level[v] != home;
}

/* Return a random family of v with all parents before it. */
static int64_t draw_family(
    const ChainArrays *tables, const int64_t *level, int64_t v, double term, double uniform
) {
    SuitableSets sets = find_candidates(tables, level, v, level[v] - 1);
    sets.is_first = true; /* any subset suits */
    int64_t family = tables->begin[v], end = tables->begin[v + 1], chosen = -1;
    double remaining = uniform;
    for (; (family = find_family(tables, family, end, &sets)) < end; family++) {
        if (!is_inside(tables, family) && find_top(tables, level, family) >= level[v]) continue;
        chosen = family;
        remaining -= exp_or_zero(tables->weight[family] - term);
        if (remaining < 0.0) break;
    }
    CHECK(chosen >= 0);
    return chosen;
}

void draw_order_dag(
    const ChainArrays *tables, const VariableOrder *order, const double *uniforms, int64_t *choice
) {
    for (int64_t v = 0; v < order->n; v++) {
        choice[v] = draw_family(tables, order->level, v, order->terms[v], uniforms[v]);
    }
}

/* Add the probabilities of arcs to v from candidates. The sets of candidates with u are all that
 * suit, less those without u. */
static void
add_inside_arcs(const ChainArrays *tables, const VariableOrder *order, int64_t v, double *arcs) {
    int64_t *level = order->level;
    double inside = look_up_sum(tables, level, v, level[v]);
    double share = exp_or_zero(inside - order->terms[v]);
    if (!(share > 0.0)) return;
    for (int64_t i = tables->pair_begin[v]; i < tables->pair_begin[v + 1]; i++) {
        int64_t u = tables->pair_parent[i], at = level[u];
        if (at >= level[v]) continue;
        level[u] = FAR;
        arcs[i] -= share * expm1(look_up_sum(tables, level, v, level[v]) - inside);
        level[u] = at;
    }
}

void add_order_arcs(const ChainArrays *tables, const VariableOrder *order, double *arcs) {
    for (int64_t v = 0; v < order->n; v++) {
        add_inside_arcs(tables, order, v, arcs);
        if (!has_outside(tables, v)) continue;
        add_outside_arcs(
            tables, order->level, v, NO_PARENTS, order->level[v] - 1, order->terms[v], arcs
        );
    }
}
