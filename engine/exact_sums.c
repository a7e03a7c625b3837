#include "exact_sums.h"

/* exp of a smaller number is lost when it is added to 1. */
static const double LOST_LOG = -40.0;

/* Return the log of the sum of two weights that are given as logs. */
INLINE double add_logs(double one, double other) {
    double high = one >= other ? one : other;
    double low = one >= other ? other : one;
    if (high == -INFINITY || low - high < LOST_LOG) return high;
    return high + log1p(exp(low - high));
}

static bool is_power_of_two(int64_t number) {
    return number > 0 && (number & (number - 1)) == 0;
}

/* Thing after thing is left out or not: each set gets the sum of its two entries. */
void sum_subsets(double *table, int64_t n_table) {
    CHECK(is_power_of_two(n_table));
    for (int64_t bit = 1; bit < n_table; bit *= 2) {
        for (int64_t start = 0; start < n_table; start += 2 * bit) {
            const double *without = table + start;
            double *with = table + start + bit;
            for (int64_t i = 0; i < bit; i++) with[i] = add_logs(with[i], without[i]);
        }
    }
}

void sum_supersets(double *table, int64_t n_table) {
    CHECK(is_power_of_two(n_table));
    for (int64_t bit = 1; bit < n_table; bit *= 2) {
        for (int64_t start = 0; start < n_table; start += 2 * bit) {
            double *without = table + start;
            const double *with = table + start + bit;
            for (int64_t i = 0; i < bit; i++) without[i] = add_logs(without[i], with[i]);
        }
    }
}

double add_member_weights(
    const double *one, int64_t n_one, const double *other, int64_t n_other, double *totals,
    int64_t n_totals
) {
    CHECK(n_other == n_one && n_totals < MOST_VARIABLES && n_one <= INT64_C(1) << n_totals);
    double total = 0.0;
    for (int64_t set = 0; set < n_one; set++) {
        double weight = exp(one[set] + other[set]);
        total += weight;
        if (!(weight > 0.0)) continue;
        for (int64_t rest = set; rest; rest &= rest - 1) totals[find_lowest_member(rest)] += weight;
    }
    return total;
}

/* Return the parents that a child draws; `limits` and `lot` are rows of `draw_families`. */
static int64_t draw_parents(
    const SortedFamilies *families, int64_t child, const int64_t *limits, const double *lot
) {
    int64_t barred = ~limits[0], wanted = ~limits[1], chosen = 0, end = families->begin[child + 1];
    bool is_free = limits[1] < 0;
    double left = lot[0], log_total = lot[1];
    for (int64_t f = families->begin[child]; f < end; f++) {
        int64_t parents = families->parents[f];
        if (parents & barred) continue;
        if (!is_free && !(parents & wanted)) continue;
        double weight = exp(families->log_weight[f] - log_total);
        if (weight == 0.0) break; /* the others are lighter: round-off left the lot positive */
        chosen = parents;
        left -= weight;
        if (left < 0.0) break;
    }
    return chosen;
}

void draw_families(
    const SortedFamilies *families, const int64_t *bounds, int64_t n_bounds, int64_t bounds_width,
    int64_t bounds_depth, const double *lots, int64_t n_lots, int64_t lots_width,
    int64_t lots_depth, bool *adjacency, int64_t n_adjacency, int64_t adjacency_width,
    int64_t adjacency_depth
) {
    int64_t n = families->n_begin - 1;
    CHECK(n >= 0 && families->n_parents == families->n_log_weight);
    CHECK(families->begin[n] <= families->n_parents);
    CHECK(bounds_width == n && bounds_depth == 2);
    CHECK(n_lots == n_bounds && lots_width == n && lots_depth == 2);
    CHECK(n_adjacency == n_bounds && adjacency_width == n && adjacency_depth == n);
    for (int64_t draw = 0; draw < n_bounds; draw++) {
        for (int64_t child = 0; child < n; child++) {
            int64_t at = 2 * (draw * n + child);
            int64_t chosen = draw_parents(families, child, bounds + at, lots + at);
            bool *row = adjacency + draw * n * n + child;
            for (int64_t parent = 0; parent < n; parent++) {
                row[parent * n] = contains(chosen, parent);
            }
        }
    }
}
