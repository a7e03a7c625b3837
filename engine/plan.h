/* Making a plan: multiply factors and sum variables out, by the names of their axes alone.
 *
 * The factors at work are in a clique: at most 63 variables, so that their axes are the bits of a
 * word. Three rules save work:
 *
 * - A variable is summed out of the product of only those factors that have it.
 * - Factors with the same axes are multiplied once, where several products need them.
 * - A distribution that is summed over its heads is 1 and is not computed. The table of a variable
 *   is a distribution of it, given its parents, unless it is observed. A product of distributions
 *   is one, of all their heads, because the graph of the network has no cycle.
 *
 * Nothing is allocated: a plan that needs more room than it was given ends with NO_ROOM, and the
 * caller tries again with more.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include "factor.h"

/* What making a plan returns. TOO_LARGE: a table of more cells than any machine has. */
enum { DONE, NO_ROOM, TOO_LARGE };

/* Leave the function unless what was tried is done. */
#define TRY(attempt)                                                                               \
    do {                                                                                           \
        int64_t status = (attempt);                                                                \
        if (status != DONE) return status;                                                         \
    } while (0)

/* A factor at work. Bit b stands for the variable members[b] of the clique. */
typedef struct {
    int64_t factor;
    int64_t mask;  /* its axes */
    int64_t heads; /* the variables of which it is a distribution; 0 if it is none */
} LiveRow;

/* Some of the factors at work: `n` rows of the stack, from `begin` on. */
typedef struct {
    int64_t begin, n;
} LiveList;

typedef struct {
    const NetworkTables *network;
    const EvidenceCodes *evidence;
    const Plan *plan;
    const int64_t *members; /* of the clique; the axes of what is computed run from last to first */
    int64_t n_members;
    bool keeps_constants; /* whether factors without axes are kept as constants of the plan */
    bool is_used_once;    /* whether the cells of a factor are free after it was multiplied */
} Planner;

INLINE LiveRow *get_live(const Planner *planner, int64_t i) {
    return (LiveRow *) planner->plan->live + i;
}

INLINE int64_t find_lowest_bit(int64_t mask) {
    return __builtin_ctzll((uint64_t) mask);
}

/* Return the axes of some factors. */
INLINE int64_t mask_list(const Planner *planner, LiveList list) {
    int64_t mask = 0;
    for (int64_t i = 0; i < list.n; i++) mask |= get_live(planner, list.begin + i)->mask;
    return mask;
}

/* Work in a clique from now on. */
int64_t enter_clique(Planner *planner, const int64_t *members, int64_t n_members);

/* Add a factor to the plan: the table of a variable at the observed states, or a finding. */
int64_t add_table(Planner *planner, int64_t variable, int64_t *factor);
int64_t add_finding(Planner *planner, int64_t variable, int64_t *factor);

INLINE bool has_finding(const Planner *planner, int64_t variable) {
    return planner->evidence->findings[variable] >= 0;
}

/* Put a factor on top of the stack, and add it to the list, which ends there. A factor without axes
 * becomes a constant instead, or is left out. */
int64_t push_factor(Planner *planner, int64_t factor, LiveList *list);

/* Copy a list to the top of the stack. */
int64_t copy_list(Planner *planner, LiveList list, LiveList *copy);

/* Sum variables out, each time the one with the smallest product. */
int64_t sum_out(Planner *planner, int64_t variables, LiveList *list);

/* Multiply factors with the same axes. */
int64_t join_equals(Planner *planner, LiveList *list);

/* Multiply all factors of a list, which is not empty. With `is_copied` the result is always a new
 * table, with the axes in the sequence of the clique. */
int64_t join_all(Planner *planner, LiveList list, bool is_copied, int64_t *factor);

/* Take everything from the list on off the stack. */
INLINE void drop_list(Planner *planner, LiveList list) {
    planner->plan->used[USED_LIVE] = list.begin;
}

#endif
