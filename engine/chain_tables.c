#include "chain_tables.h"

int64_t find_lighter(const ChainArrays *tables, int64_t family, int64_t end, double least) {
    while (family < end) {
        int64_t middle = family + (end - family) / 2;
        if (tables->weight[middle] < least) {
            end = middle;
        } else {
            family = middle + 1;
        }
    }
    return end;
}

double add_outside_families(
    const ChainArrays *tables, const int64_t *level, int64_t v, int64_t low, int64_t high,
    double total
) {
    double heaviest = -INFINITY, sum = 0.0; /* relative to the heaviest, which comes first */
    for (int64_t i = tables->outside_begin[v]; i < tables->outside_begin[v + 1]; i++) {
        int64_t family = tables->outside[i];
        double weight = tables->weight[family];
        if (weight < (heaviest > total ? heaviest : total) - LOG_ROUND_OFF) break;
        int64_t top = find_top(tables, level, family);
        if (top < low || high < top) continue;
        if (weight > heaviest) heaviest = weight;
        sum += exp_or_zero(weight - heaviest);
    }
    return sum > 0.0 ? add_logs(total, heaviest + log(sum)) : total;
}

/* Return the place of a possible arc to v among all of them. */
static int64_t find_pair(const ChainArrays *tables, int64_t parent, int64_t v) {
    int64_t low = tables->pair_begin[v], high = tables->pair_begin[v + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (tables->pair_parent[middle] < parent) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    CHECK(low < tables->pair_begin[v + 1] && tables->pair_parent[low] == parent);
    return low;
}

void add_outside_arcs(
    const ChainArrays *tables, const int64_t *level, int64_t v, int64_t low, int64_t high,
    double term, double *arcs
) {
    for (int64_t i = tables->outside_begin[v]; i < tables->outside_begin[v + 1]; i++) {
        int64_t family = tables->outside[i];
        if (tables->weight[family] < term - LOG_ROUND_OFF) break;
        int64_t top = find_top(tables, level, family);
        if (top < low || high < top) continue;
        double share = exp_or_zero(tables->weight[family] - term);
        for (int64_t j = tables->start[family]; j < tables->start[family + 1]; j++) {
            arcs[find_pair(tables, tables->parents[j], v)] += share;
        }
    }
}

int64_t draw_index(const double *logs, int64_t n, double uniform, double *shares) {
    double high = -INFINITY, total = 0.0;
    for (int64_t i = 0; i < n; i++) high = logs[i] > high ? logs[i] : high;
    for (int64_t i = 0; i < n; i++) {
        shares[i] = exp_or_zero(logs[i] - high);
        total += shares[i];
    }
    double remaining = uniform * total;
    int64_t last = 0; /* the last one that is not impossible, if round-off leaves a remainder */
    for (int64_t i = 0; i < n; i++) {
        if (!(shares[i] > 0.0)) continue;
        last = i;
        remaining -= shares[i];
        if (remaining < 0.0) break;
    }
    return last;
}
