#include "cut.h"

static const double LEAST_DIFFERENCE = 1e-9; /* of values: below, they are equal */
enum { PATIENCE = 6 };                       /* further variables without a lower value */

/* Count a new member among the parents of each family. */
static void count_hits(const UsedFamilies *families, int32_t added, int32_t *restrict hits) {
    int64_t n = families->n_children;
    for (int64_t i = 0; i < families->n_parents; i++) {
        const int32_t *parents = families->parents + i * n;
        for (int64_t f = 0; f < n; f++) hits[f] += parents[f] == added;
    }
}

/* Add a variable to a cluster; return its value, and write how each further one changes it. */
static double
add_member(const UsedFamilies *families, int64_t k, int64_t added, const ClusterScratch *scratch) {
    bool *inside = scratch->inside;
    const int32_t *hits = scratch->hits;
    double *change = scratch->change, value = 0.0;
    inside[added] = true;
    memset(change, 0, (size_t) scratch->n_change * sizeof *change);
    count_hits(families, (int32_t) added, scratch->hits);
    for (int64_t f = 0; f < families->n_children; f++) {
        if (hits[f] >= k) continue;
        int32_t child = families->children[f];
        double share = families->shares[f];
        if (!inside[child]) {
            change[child] += share;
            continue;
        }
        value += share;
        if (hits[f] < k - 1) continue;
        for (int64_t i = 0; i < families->n_parents; i++) {
            change[families->parents[i * families->n_children + f]] -= share;
        }
    }
    return value;
}

/* Return the variable outside of the cluster that lowers the value most, the first of several. */
static int64_t find_next(const ClusterScratch *scratch) {
    int64_t best = -1;
    for (int64_t v = 0; v < scratch->n_order; v++) {
        if (scratch->inside[v]) continue;
        if (best < 0 || scratch->change[v] < scratch->change[best]) best = v;
    }
    return best;
}

/* Grow a cluster from two variables: overwrite `cluster` with the best one; return its value. */
static double grow_cluster(
    const UsedFamilies *families, int64_t k, const int64_t *start, const ClusterScratch *scratch,
    bool *cluster
) {
    int64_t n = scratch->n_order, n_best = n, size = 0;
    double best = INFINITY;
    memset(scratch->inside, 0, (size_t) (n + 1) * sizeof(bool));
    memset(scratch->hits, 0, (size_t) scratch->n_hits * sizeof(int32_t));
    while (size < n && size <= n_best + PATIENCE) {
        int64_t added = size < 2 ? start[size] : find_next(scratch);
        CHECK(0 <= added && added < n);
        scratch->order[size++] = added;
        double value = add_member(families, k, added, scratch);
        if (size > k && value < best - LEAST_DIFFERENCE) {
            best = value;
            n_best = size;
        }
    }
    memset(cluster, 0, (size_t) (n + 1) * sizeof *cluster);
    for (int64_t i = 0; i < n_best; i++) cluster[scratch->order[i]] = true;
    return best;
}

/* Return the value of a cluster; `own` are the families that may have their child in it. */
static double measure(
    const UsedFamilies *families, int64_t k, const int64_t *own, int64_t n_own, const bool *cluster
) {
    double value = 0.0;
    for (int64_t place = 0; place < n_own; place++) {
        int64_t f = own[place], hits = 0;
        if (!cluster[families->children[f]]) continue;
        for (int64_t i = 0; i < families->n_parents; i++) {
            hits += cluster[families->parents[i * families->n_children + f]];
        }
        if (hits < k) value += families->shares[f];
    }
    return value;
}

/* Remove variables as long as that lowers the value of the cluster; return the value. */
static double shrink_cluster(
    const UsedFamilies *families, int64_t k, const ClusterScratch *scratch, bool *cluster,
    double value
) {
    int64_t n = scratch->n_order, size = 0, n_own = 0;
    for (int64_t v = 0; v < n; v++) size += cluster[v];
    for (int64_t f = 0; f < families->n_children; f++) {
        if (cluster[families->children[f]]) scratch->own[n_own++] = f;
    }
    bool is_improved = true;
    while (is_improved) {
        is_improved = false;
        for (int64_t v = 0; v < n && size > k + 1; v++) {
            if (!cluster[v]) continue;
            cluster[v] = false;
            double after = measure(families, k, scratch->own, n_own, cluster);
            if (after < value - LEAST_DIFFERENCE) {
                value = after;
                size--;
                is_improved = true;
            } else {
                cluster[v] = true;
            }
        }
    }
    return value;
}

static void check_families(const UsedFamilies *families, int64_t n_variables) {
    int64_t n = families->n_children;
    CHECK(families->parents_width == n && families->n_shares == n);
    for (int64_t f = 0; f < n; f++) {
        CHECK(0 <= families->children[f] && families->children[f] < n_variables);
    }
    for (int64_t i = 0; i < families->n_parents * n; i++) {
        CHECK(0 <= families->parents[i] && families->parents[i] <= n_variables);
    }
}

void grow_clusters(
    const UsedFamilies *families, int64_t k, const int64_t *starts, int64_t n_starts,
    int64_t starts_width, const ClusterScratch *scratch, bool *clusters, int64_t n_clusters,
    int64_t clusters_width, double *values, int64_t n_values
) {
    int64_t n = scratch->n_order;
    check_families(families, n);
    CHECK(scratch->n_hits == families->n_children && scratch->n_own == families->n_children);
    CHECK(scratch->n_inside == n + 1 && scratch->n_change == n + 1 && clusters_width == n + 1);
    CHECK(starts_width == 2 && n_clusters == n_starts && n_values == n_starts && k < n);
    for (int64_t s = 0; s < n_starts; s++) {
        bool *cluster = clusters + s * clusters_width;
        double value = grow_cluster(families, k, starts + 2 * s, scratch, cluster);
        values[s] = shrink_cluster(families, k, scratch, cluster, value);
    }
}
