#include "pair.h"
#include "bits.h"

/* A child, and the log likelihood of its states alone. */
typedef struct {
    int64_t arity;
    int64_t common;
    const uint32_t *single; /* the counts of its states */
    const uint64_t *sets;   /* their bit sets */
    double base;            /* N log N - sum n log n */
} Child;

static Child describe_child(
    const CountIndex *index, const uint32_t *singles, const double *x_log_x, int64_t variable
) {
    const int64_t *facts = index->facts;
    Child child = {
        .arity = get_fact(facts, variable, ARITY),
        .common = get_fact(facts, variable, COMMON),
        .single = singles + get_fact(facts, variable, SINGLE),
        .sets = index->bits + get_fact(facts, variable, BITS) * index->bits_width,
    };
    int64_t n_rows = 0;
    for (int64_t a = 0; a < child.arity; a++) {
        n_rows += child.single[a];
        child.base -= x_log_x[child.single[a]];
    }
    child.base += x_log_x[n_rows];
    return child;
}

/* Return what a variable v adds. */
static double measure_pair(
    const CountIndex *index, const Child *child, const uint32_t *singles, const double *x_log_x,
    int64_t v, int64_t *column
) {
    const uint32_t *single = singles + get_fact(index->facts, v, SINGLE);
    const uint64_t *set = index->bits + get_fact(index->facts, v, BITS) * index->bits_width;
    double total = child->base;
    /* What is left for the most common state of v. */
    for (int64_t a = 0; a < child->arity; a++) column[a] = child->single[a];
    for (int64_t b = 0; b < get_fact(index->facts, v, ARITY); b++) {
        int64_t rest = single[b];
        total -= x_log_x[rest];
        if (b == get_fact(index->facts, v, COMMON)) continue;
        const uint64_t *own = child->sets;
        for (int64_t a = 0; a < child->arity; a++) {
            if (a == child->common) continue;
            int64_t both = and_count(own, set, index->bits_width);
            own += index->bits_width;
            rest -= both;
            column[a] -= both;
            total += x_log_x[both];
        }
        column[child->common] -= rest;
        total += x_log_x[rest];
        set += index->bits_width;
    }
    for (int64_t a = 0; a < child->arity; a++) total += x_log_x[column[a]];
    return total;
}

void measure_pairs(
    const CountIndex *index, const uint32_t *singles, int64_t n_singles, const double *x_log_x,
    int64_t n_x_log_x, int64_t child, int64_t *column, int64_t n_column, double *gains,
    int64_t n_gains
) {
    CHECK(0 <= child && child < index->n_facts && n_gains == index->n_facts);
    CHECK(n_column >= get_fact(index->facts, child, ARITY));
    Child own = describe_child(index, singles, x_log_x, child);
    for (int64_t v = 0; v < n_gains; v++) {
        gains[v] = v == child ? 0.0 : measure_pair(index, &own, singles, x_log_x, v, column);
    }
}
