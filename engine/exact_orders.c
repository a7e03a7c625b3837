#include "exact_orders.h"

#include "exact_sums.h"

/* The log sums of the parent sets, one row for each variable. */
typedef struct {
    const double *rows;
    int64_t n_variables, width;
} Sums;

static Sums make_sums(const double *sums, int64_t n_sums, int64_t sums_width, int64_t n_sets) {
    CHECK(0 < n_sums && n_sums <= MOST_VARIABLES);
    CHECK(n_sets == INT64_C(1) << n_sums && 2 * sums_width == n_sets);
    return (Sums){sums, n_sums, sums_width};
}

/* Return the log sum of the parent sets of variable v within a set, which is without v. */
INLINE double get_sum(const Sums *sums, int64_t v, int64_t set) {
    return sums->rows[v * sums->width + remove_bit(set, v)];
}

/* Return the log of the sum of n weights. */
static double sum_logs(const double *logs, int64_t n) {
    double high = -INFINITY;
    for (int64_t i = 0; i < n; i++) high = logs[i] > high ? logs[i] : high;
    if (high == -INFINITY) return high;
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) total += exp(logs[i] - high);
    return high + log(total);
}

/* Return the log weight of the orders of a set that end with its member v. */
INLINE double weigh_last(const Sums *sums, const double *before, int64_t set, int64_t v) {
    int64_t others = set ^ (INT64_C(1) << v);
    return before[others] + get_sum(sums, v, others);
}

void sum_orders_before(
    const double *sums, int64_t n_sums, int64_t sums_width, double *before, int64_t n_before
) {
    Sums all = make_sums(sums, n_sums, sums_width, n_before);
    double logs[MOST_VARIABLES];
    before[0] = 0.0;
    for (int64_t set = 1; set < n_before; set++) {
        int64_t n = 0;
        for (int64_t rest = set; rest; rest &= rest - 1) {
            logs[n++] = weigh_last(&all, before, set, find_lowest_member(rest));
        }
        before[set] = sum_logs(logs, n);
    }
}

void sum_orders_after(
    const double *sums, int64_t n_sums, int64_t sums_width, double *after, int64_t n_after
) {
    Sums all = make_sums(sums, n_sums, sums_width, n_after);
    double logs[MOST_VARIABLES];
    after[n_after - 1] = 0.0;
    for (int64_t set = n_after - 2; set >= 0; set--) {
        int64_t n = 0;
        for (int64_t rest = n_after - 1 - set; rest; rest &= rest - 1) {
            int64_t v = find_lowest_member(rest);
            logs[n++] = after[set | INT64_C(1) << v] + get_sum(&all, v, set);
        }
        after[set] = sum_logs(logs, n);
    }
}

void weigh_places(
    const double *before, int64_t n_before, const double *after, int64_t n_after, int64_t child,
    double *places, int64_t n_places
) {
    CHECK(n_after == n_before && 2 * n_places == n_before);
    CHECK(0 <= child && INT64_C(1) << child < n_before);
    int64_t bit = INT64_C(1) << child;
    double log_total = after[0];
    for (int64_t high = 0; high < n_places; high += bit) { /* runs of sets that start alike */
        const double *first = before + 2 * high, *next = after + 2 * high + bit;
        for (int64_t low = 0; low < bit; low++)
            places[high + low] = first[low] + next[low] - log_total;
    }
}

/* Return the last variable of an order of a set, drawn by a random number. */
static int64_t draw_last(const Sums *sums, const double *before, int64_t set, double lot) {
    int64_t last = -1;
    for (int64_t rest = set; rest; rest &= rest - 1) {
        int64_t v = find_lowest_member(rest);
        double weight = exp(weigh_last(sums, before, set, v) - before[set]);
        if (!(weight > 0.0)) continue;
        last = v;
        lot -= weight;
        if (lot < 0.0) break;
    }
    CHECK(last >= 0);
    return last;
}

void draw_orders(
    const double *sums, int64_t n_sums, int64_t sums_width, const double *before, int64_t n_before,
    const double *lots, int64_t n_lots, int64_t lots_width, int64_t *orders, int64_t n_orders,
    int64_t orders_width
) {
    Sums all = make_sums(sums, n_sums, sums_width, n_before);
    CHECK(n_lots == n_orders && lots_width == n_sums && orders_width == n_sums);
    for (int64_t draw = 0; draw < n_orders; draw++) {
        int64_t set = n_before - 1;
        for (int64_t place = n_sums - 1; place >= 0; place--) {
            int64_t at = draw * n_sums + place;
            orders[at] = draw_last(&all, before, set, lots[at]);
            set ^= INT64_C(1) << orders[at];
        }
    }
}
