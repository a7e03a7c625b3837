/* The tables that chains over layerings and orders read, and sums and draws of their families.
 *
 * For each child there is a table of sums: the log of the sum of the weights of all subsets of a
 * set of candidates. One look-up says how much weight the families have whose parents all lie in a
 * given set. There is also the list of all families, the heaviest first. Families with a parent
 * that is no candidate are few, and are added up one by one.
 *
 * A chain gives each variable a level: twice its layer, or twice its place in the order. So a new
 * layer, or a new place, fits between two others.
 */
#ifndef ENGINE_CHAIN_TABLES_H
#define ENGINE_CHAIN_TABLES_H

#include "engine.h"

/* Families are numbered over all children. A set of candidates is a number: bit i stands for
 * candidate i of the child. */
typedef struct {
    const int64_t *cand_begin; /* n + 1; candidates of child v: cand_begin[v] and following */
    int64_t n_cand_begin;
    const int64_t *cand;
    int64_t n_cand;
    const int64_t *table_begin; /* n + 1 */
    int64_t n_table_begin;
    const double *log_sum; /* of all subsets of each set of candidates */
    int64_t n_log_sum;
    const double *empty; /* n; the log weight of the family without parents */
    int64_t n_empty;
    const int64_t *begin; /* n + 1; families of child v, the heaviest first */
    int64_t n_begin;
    const double *weight; /* log weight of each family */
    int64_t n_weight;
    const int64_t *code; /* the set of candidates that a family is, -1 outside the candidates */
    int64_t n_code;
    const int64_t *start; /* where the parents of each family begin */
    int64_t n_start;
    const int32_t *parents;
    int64_t n_parents;
    const int64_t *outside_begin; /* n + 1 */
    int64_t n_outside_begin;
    const int64_t *outside; /* the families with a parent that is no candidate */
    int64_t n_outside;
    const int64_t *pair_begin; /* n + 1; possible parents of child v, ascending */
    int64_t n_pair_begin;
    const int64_t *pair_parent;
    int64_t n_pair_parent;
    const bool *is_possible; /* n x n, [parent, child], whether a family has the arc */
    int64_t n_is_possible;
    int64_t is_possible_width;
} ChainArrays;

/* The level of a variable that is taken out: behind all others. */
#define FAR (INT64_C(1) << 40)
/* The needed level of a variable in the first layer. */
enum { NO_PARENTS = -2 };

/* The difference of two sums loses digits. If it is a smaller share of them, the families are added
 * up one by one. */
#define CANCELLATION 1e-7
/* A weight that is smaller by this log is below the round-off of a sum. */
#define LOG_ROUND_OFF 40.0

/* The exponential of all smaller numbers underflows to zero. libm says so, too, but slowly. */
#define EXP_UNDERFLOW -746.0

INLINE double exp_or_zero(double x) {
    return x < EXP_UNDERFLOW ? 0.0 : exp(x);
}

/* Return the log of the sum of two weights given by their logs. */
INLINE double add_logs(double a, double b) {
    double high = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? high : high + log1p(exp_or_zero(low - high));
}

/* Return which share of a sum is left if a part of it is taken away, from the logs of both. The sum
 * is not zero. */
INLINE double subtract_share(double log_sum, double log_part) {
    return -expm1(log_part - log_sum);
}

INLINE bool is_possible(const ChainArrays *tables, int64_t parent, int64_t child) {
    return tables->is_possible[parent * tables->is_possible_width + child];
}

INLINE bool has_outside(const ChainArrays *tables, int64_t v) {
    return tables->outside_begin[v] < tables->outside_begin[v + 1];
}

/* Return whether a family lies within the candidates. */
INLINE bool is_inside(const ChainArrays *tables, int64_t family) {
    return tables->code[family] >= 0;
}

/* Which families within the candidates suit a variable: subsets of `before` that meet `last`. */
typedef struct {
    int64_t before;
    int64_t last;
    bool is_first; /* `last` does not matter */
} SuitableSets;

/* Return the candidates of a variable up to a level, and those at this level. */
INLINE SuitableSets
find_candidates(const ChainArrays *tables, const int64_t *level, int64_t v, int64_t needed) {
    const int64_t *cand = tables->cand + tables->cand_begin[v];
    int64_t n_cand = tables->cand_begin[v + 1] - tables->cand_begin[v];
    SuitableSets found = {0, 0, needed == NO_PARENTS};
    for (int64_t i = 0; i < n_cand; i++) {
        int64_t at = level[cand[i]];
        found.before |= (int64_t) (at <= needed) << i;
        found.last |= (int64_t) (at == needed) << i;
    }
    return found;
}

/* Return whether a family is one of the suitable sets, or lies outside the candidates. Without
 * branches, so that the compiler makes vectors of a loop over families. */
INLINE bool may_suit(int64_t code, const SuitableSets *sets) {
    bool is_within = (code & ~sets->before) == 0, meets = (code & sets->last) != 0;
    return (is_within & (meets | sets->is_first)) | (code < 0);
}

/* Families that are compared at once. */
enum { FAMILY_BATCH = 16 };

/* Return the first family from `family` to `end` - 1 that may suit, `end` if there is none. */
INLINE int64_t
find_family(const ChainArrays *tables, int64_t family, int64_t end, const SuitableSets *sets) {
    const SuitableSets own = *sets; /* nothing that is written can change it */
    for (; family + FAMILY_BATCH <= end; family += FAMILY_BATCH) {
        const int64_t *code = tables->code + family;
        bool found = false;
        for (int64_t i = 0; i < FAMILY_BATCH; i++) found |= may_suit(code[i], &own);
        if (found) break;
    }
    while (family < end && !may_suit(tables->code[family], &own)) family++;
    return family;
}

/* Return the first family from `family` to `end` - 1 with less weight than `least`, else `end`. */
int64_t find_lighter(const ChainArrays *tables, int64_t family, int64_t end, double least);

/* Return the highest level of the parents of a family, NO_PARENTS if it has none. */
INLINE int64_t find_top(const ChainArrays *tables, const int64_t *level, int64_t family) {
    int64_t top = NO_PARENTS;
    for (int64_t i = tables->start[family]; i < tables->start[family + 1]; i++) {
        int64_t at = level[tables->parents[i]];
        top = at > top ? at : top;
    }
    return top;
}

/* Return `total`, the log of a sum over families of v, with those outside the candidates added
 * whose highest parent is from level `low` to level `high`. */
double add_outside_families(
    const ChainArrays *tables, const int64_t *level, int64_t v, int64_t low, int64_t high,
    double total
);

/* Add the probability of each arc to v in the families that `add_outside_families` adds up. `term`
 * is the log of the sum over all suitable families of v. */
void add_outside_arcs(
    const ChainArrays *tables, const int64_t *level, int64_t v, int64_t low, int64_t high,
    double term, double *arcs
);

/* Return a random index below n, with probability proportional to the exponential of logs[i].
 * `shares` is overwritten. */
int64_t draw_index(const double *logs, int64_t n, double uniform, double *shares);

#endif
