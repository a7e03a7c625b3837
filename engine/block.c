#include "block.h"

int64_t choose_block(const RoundPlan *plan, const double *uniforms, int64_t *members) {
    int64_t low = 0, high = plan->n_first - 1; /* find the first chance above the random number */
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (plan->first[middle] > uniforms[0]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    members[0] = low;
    int64_t q = 1;
    for (int64_t i = 1; i < plan->block_size; i++) {
        int64_t v = members[(int64_t) (uniforms[2 * i - 1] * (double) q)];
        int64_t n_near = plan->near_begin[v + 1] - plan->near_begin[v];
        if (n_near == 0) continue;
        int64_t at = (int64_t) (uniforms[2 * i] * (double) n_near);
        CHECK(0 <= at && at < n_near && plan->near_begin[v] + at < plan->n_near);
        int64_t w = plan->near[plan->near_begin[v] + at];
        CHECK(0 <= w && w < plan->n_first);
        bool is_new = true;
        for (int64_t j = 0; j < q; j++) is_new = is_new && members[j] != w;
        if (is_new) members[q++] = w;
    }
    return q;
}

/* The block that is redrawn. A variable reaches a member if it is the member or descends from it;
 * arcs into members do not count. A family reaches what its parents reach. */
typedef struct {
    const ChainArrays *tables;
    const int64_t *members;
    int64_t q;
    int64_t n_sets;   /* of members */
    int64_t *reached; /* n; the members that each variable reaches, as bits */
    /* [member, set]: the candidates of the member that reach only the set */
    int64_t inside[MAX_BLOCK_SIZE][MAX_BLOCK_SETS];
    double *terms; /* see `find_term` */
} BlockSums;

/* Which families suit a member: those that reach only `earlier`, and one or more of `last`, which
 * is a part of it. If `earlier` is empty, `last` does not matter. */
typedef struct {
    int64_t earlier;
    int64_t last;
    SuitableSets inside; /* of the candidates */
} SuitableReach;

INLINE SuitableReach make_reach(const BlockSums *block, int64_t j, int64_t earlier, int64_t last) {
    int64_t allowed = block->inside[j][earlier], barred = block->inside[j][earlier & ~last];
    return (SuitableReach){earlier, last, {allowed, allowed & ~barred, earlier == 0}};
}

/* Return the place of the log of the sum of the families of member j that suit two sets. */
INLINE double *find_term(const BlockSums *block, int64_t j, int64_t earlier, int64_t last) {
    return block->terms + ((j * block->n_sets + earlier) * block->n_sets + last);
}

/* Overwrite `reached` for all variables. */
static void find_reached(const BlockSums *block, const ChosenDag *dag) {
    const int64_t *start = block->tables->start;
    const int32_t *parents = block->tables->parents;
    int64_t *reached = block->reached;
    memset(reached, 0, (size_t) dag->n * sizeof *reached);
    for (int64_t j = 0; j < block->q; j++) reached[block->members[j]] = INT64_C(1) << j;
    for (int64_t i = 0; i < dag->n; i++) {
        int64_t v = dag->order[i];
        if (reached[v] != 0) continue;
        int64_t bits = 0;
        for (int64_t p = start[dag->choice[v]]; p < start[dag->choice[v] + 1]; p++) {
            bits |= reached[parents[p]];
        }
        reached[v] = bits;
    }
}

/* Return the members that the parents of a family reach. */
INLINE int64_t unite_reached(const BlockSums *block, int64_t family) {
    const ChainArrays *tables = block->tables;
    int64_t bits = 0;
    for (int64_t i = tables->start[family]; i < tables->start[family + 1]; i++) {
        bits |= block->reached[tables->parents[i]];
    }
    return bits;
}

/* Overwrite inside[s] with the candidates of v that reach only members of s, for all sets s. Return
 * the members that candidates reach which do not reach v itself, the bit `own`. */
static int64_t find_inside(const BlockSums *block, int64_t v, int64_t own, int64_t *inside) {
    const int64_t *cand = block->tables->cand + block->tables->cand_begin[v];
    int64_t n_cand = block->tables->cand_begin[v + 1] - block->tables->cand_begin[v];
    memset(inside, 0, (size_t) block->n_sets * sizeof *inside);
    int64_t relevant = 0;
    for (int64_t i = 0; i < n_cand; i++) {
        int64_t bits = block->reached[cand[i]];
        inside[bits] |= INT64_C(1) << i;
        relevant |= bits & own ? 0 : bits;
    }
    for (int64_t bit = 1; bit < block->n_sets; bit *= 2) {
        for (int64_t s = 0; s < block->n_sets; s++) {
            if (s & bit) inside[s] |= inside[s ^ bit];
        }
    }
    return relevant;
}

/* Members that families outside the candidates reach which do not reach their own child. */
typedef struct {
    int64_t summed; /* those that count in the sums */
    int64_t all;
} OutsideReach;

/* Add to sums[s] the families of v outside the candidates that reach only s, for all sets s without
 * v itself, the bit `own`. */
static OutsideReach add_outside_sums(const BlockSums *block, int64_t v, int64_t own, double *sums) {
    const ChainArrays *tables = block->tables;
    double found[MAX_BLOCK_SETS] = {0.0}, heaviest[MAX_BLOCK_SETS]; /* of what reaches just s */
    OutsideReach reach = {0, 0};
    for (int64_t i = tables->outside_begin[v]; i < tables->outside_begin[v + 1]; i++) {
        int64_t family = tables->outside[i], bits = unite_reached(block, family);
        double weight = tables->weight[family];
        if (bits & own) continue;
        reach.all |= bits;
        if (weight < sums[0] - LOG_ROUND_OFF) continue;
        reach.summed |= bits;
        if (found[bits] == 0.0) heaviest[bits] = weight;
        found[bits] += exp_or_zero(weight - heaviest[bits]);
    }
    for (int64_t bits = 0; bits < block->n_sets; bits++) {
        if (!(found[bits] > 0.0)) continue;
        double log_sum = heaviest[bits] + log(found[bits]);
        for (int64_t s = 0; s < block->n_sets; s++) {
            if ((s & own) == 0 && (bits & ~s) == 0) sums[s] = add_logs(sums[s], log_sum);
        }
    }
    return reach;
}

/* Return whether a family suits that `find_family` has found. */
INLINE bool suits(const BlockSums *block, int64_t family, const SuitableReach *reach) {
    if (is_inside(block->tables, family)) return true;
    int64_t bits = unite_reached(block, family);
    return (bits & ~reach->earlier) == 0 && (reach->earlier == 0 || (bits & reach->last) != 0);
}

/* Return the log of the sum of the families of v that suit, one by one. */
static double sum_suitable(const BlockSums *block, int64_t v, const SuitableReach *reach) {
    const ChainArrays *tables = block->tables;
    int64_t family = tables->begin[v], end = tables->begin[v + 1];
    double total = -INFINITY;
    for (; (family = find_family(tables, family, end, &reach->inside)) < end; family++) {
        if (tables->weight[family] < total - LOG_ROUND_OFF) break;
        if (!suits(block, family, reach)) continue;
        if (total == -INFINITY) {
            end = find_lighter(tables, family, end, tables->weight[family] - LOG_ROUND_OFF);
        }
        total = add_logs(total, tables->weight[family]);
    }
    return total;
}

/* Return the log of the sum of the families of member j that suit two sets of members. `sums` has
 * that of the families that reach only members of each set, and `outside` what those of them reach
 * that lie outside the candidates. */
static double compute_term(
    const BlockSums *block, int64_t j, int64_t earlier, int64_t last, const double *sums,
    int64_t outside
) {
    double high = sums[earlier];
    SuitableReach reach = make_reach(block, j, earlier, last);
    if (high == -INFINITY || (reach.inside.last == 0 && (outside & last) == 0)) return -INFINITY;
    double share = subtract_share(high, sums[earlier & ~last]);
    if (share < CANCELLATION) return sum_suitable(block, block->members[j], &reach);
    return high + log(share);
}

/* Overwrite the terms of member j, for all sets of members without itself. */
static void compute_member_terms(BlockSums *block, int64_t j) {
    const ChainArrays *tables = block->tables;
    int64_t v = block->members[j], own = INT64_C(1) << j;
    double sums[MAX_BLOCK_SETS];
    int64_t relevant = find_inside(block, v, own, block->inside[j]);
    const double *log_sum = tables->log_sum + tables->table_begin[v];
    for (int64_t s = 0; s < block->n_sets; s++) {
        if ((s & own) == 0) sums[s] = log_sum[block->inside[j][s]];
    }
    OutsideReach outside = add_outside_sums(block, v, own, sums);
    relevant |= outside.all;
    *find_term(block, j, 0, 0) = sums[0];
    for (int64_t earlier = 1; earlier < block->n_sets; earlier++) {
        if (earlier & own) continue;
        /* All subsets of `earlier` but the empty one. */
        for (int64_t last = earlier; last > 0; last = (last - 1) & earlier) {
            double *term = find_term(block, j, earlier, last);
            if ((last & relevant) == 0) {
                *term = -INFINITY;
            } else if (earlier & ~relevant) { /* the same sum as without what nothing reaches */
                *term = *find_term(block, j, earlier & relevant, last & relevant);
            } else {
                *term = compute_term(block, j, earlier, last, sums, outside.summed);
            }
        }
    }
}

/* Return the number of a random layering of the block. */
static int64_t draw_layering(
    const BlockSums *block, const RoundPlan *plan, double uniform, const BlockRoom *room
) {
    int64_t begin = plan->layering_begin[block->q];
    int64_t n_layerings = plan->layering_begin[block->q + 1] - begin;
    for (int64_t i = 0; i < n_layerings; i++) {
        const int64_t *earlier = plan->earlier + (begin + i) * plan->earlier_width;
        const int64_t *last = plan->last + (begin + i) * plan->last_width;
        room->logs[i] = 0.0;
        for (int64_t j = 0; j < block->q; j++) {
            room->logs[i] += *find_term(block, j, earlier[j], last[j]);
        }
    }
    return begin + draw_index(room->logs, n_layerings, uniform, room->shares);
}

/* Return a random family of member j that suits the sets. */
static int64_t
draw_family(const BlockSums *block, int64_t j, int64_t earlier, int64_t last, double uniform) {
    const ChainArrays *tables = block->tables;
    SuitableReach reach = make_reach(block, j, earlier, last);
    int64_t v = block->members[j], chosen = -1;
    int64_t family = tables->begin[v], end = tables->begin[v + 1];
    double remaining = uniform, term = *find_term(block, j, earlier, last);
    for (; (family = find_family(tables, family, end, &reach.inside)) < end; family++) {
        if (!suits(block, family, &reach)) continue;
        chosen = family;
        remaining -= exp_or_zero(tables->weight[family] - term);
        if (remaining < 0.0) break;
    }
    CHECK(chosen >= 0);
    return chosen;
}

/* Return the members of the first layer that is not done: whose earlier members are all done. */
static int64_t find_next_layer(const BlockSums *block, const int64_t *earlier, int64_t done) {
    int64_t layer = 0;
    for (int64_t j = 0; j < block->q; j++) {
        if ((done >> j & 1) == 0 && (earlier[j] & ~done) == 0) layer |= INT64_C(1) << j;
    }
    return layer;
}

/* Sort the variables so that parents come before their children.
 *
 * The rank of a variable is the latest layer of a member that it reaches. Within a rank the members
 * come first. The others keep their sequence. */
static void
sort_again(BlockSums *block, const ChosenDag *dag, const int64_t *earlier, int64_t *spare) {
    int64_t *reached = block->reached, n = dag->n, at = 0, done = 0;
    for (int64_t i = 0; i < n; i++) {
        if (reached[dag->order[i]] == 0) spare[at++] = dag->order[i];
    }
    /* The loop places members by themselves: to it they reach nothing. */
    for (int64_t j = 0; j < block->q; j++) reached[block->members[j]] = 0;
    while (at < n) {
        int64_t layer = find_next_layer(block, earlier, done);
        CHECK(layer != 0);
        for (int64_t j = 0; j < block->q; j++) {
            if (layer >> j & 1) spare[at++] = block->members[j];
        }
        done |= layer;
        for (int64_t i = 0; i < n; i++) {
            int64_t bits = reached[dag->order[i]];
            if ((bits & ~done) == 0 && (bits & layer) != 0) spare[at++] = dag->order[i];
        }
    }
    memcpy(dag->order, spare, (size_t) n * sizeof *spare);
}

bool redraw_block(
    const ChainArrays *tables, const RoundPlan *plan, const ChosenDag *dag, const int64_t *members,
    int64_t q, const double *uniforms, const BlockRoom *room
) {
    BlockSums block = {
        .tables = tables,
        .members = members,
        .q = q,
        .n_sets = INT64_C(1) << q,
        .reached = room->reached,
        .terms = room->terms
    };
    find_reached(&block, dag);
    for (int64_t j = 0; j < q; j++) compute_member_terms(&block, j);
    int64_t drawn = draw_layering(&block, plan, uniforms[0], room);
    const int64_t *earlier = plan->earlier + drawn * plan->earlier_width;
    const int64_t *last = plan->last + drawn * plan->last_width;
    bool has_changed = false;
    for (int64_t j = 0; j < q; j++) {
        int64_t family = draw_family(&block, j, earlier[j], last[j], uniforms[1 + j]);
        has_changed = has_changed || family != dag->choice[members[j]];
        dag->choice[members[j]] = family;
    }
    if (has_changed) sort_again(&block, dag, earlier, room->spare);
    return has_changed;
}
