#include "local.h"

static const double BARRED = 1e12; /* points of parents that are not allowed */

static void check_sizes(int64_t size, int64_t n_sets, const LocalScratch *scratch) {
    CHECK(size < 32 && n_sets == INT64_C(1) << size);
    CHECK(scratch->n_least == size && scratch->least_width == n_sets);
    CHECK(scratch->n_chosen == size && scratch->chosen_width == n_sets);
    CHECK(scratch->n_fewest == n_sets && scratch->n_last == n_sets);
}

/* Overwrite the row of variable v in `least` and `chosen`. Of sets with equal points, the one
 * without the highest variable is chosen. */
static void fill_least(const double *points, int64_t v, const LocalScratch *scratch) {
    int64_t n_sets = scratch->n_fewest;
    const double *own = points + v * n_sets;
    double *least = scratch->least + v * n_sets;
    int64_t *chosen = scratch->chosen + v * n_sets;
    for (int64_t inside = 0; inside < n_sets; inside++) {
        if (inside >> v & 1) continue;
        int64_t best = inside;
        double fewest = own[inside];
        for (int64_t rest = inside; rest; rest &= rest - 1) {
            int64_t fewer = inside ^ (rest & -rest); /* without the lowest variable of the rest */
            if (least[fewer] <= fewest) {
                fewest = least[fewer];
                best = chosen[fewer];
            }
        }
        least[inside] = fewest;
        chosen[inside] = best;
    }
}

/* Overwrite `fewest` and `last`. Of several, the lowest variable comes last. */
static void fill_fewest(const LocalScratch *scratch) {
    int64_t n_sets = scratch->n_fewest;
    scratch->fewest[0] = 0.0;
    for (int64_t inside = 1; inside < n_sets; inside++) {
        double fewest = INFINITY;
        for (int64_t rest = inside; rest; rest &= rest - 1) {
            int64_t v = __builtin_ctzll((uint64_t) rest), before = inside ^ (rest & -rest);
            double total = scratch->fewest[before] + scratch->least[v * n_sets + before];
            if (total < fewest) {
                fewest = total;
                scratch->last[inside] = v;
            }
        }
        CHECK(fewest < INFINITY);
        scratch->fewest[inside] = fewest;
    }
}

void find_best_networks(const LocalNetworks *local, const LocalScratch *scratch) {
    int64_t size = local->n_points, n_sets = local->points_width;
    check_sizes(size, n_sets, scratch);
    CHECK(local->n_networks == size && local->networks_width == size && local->n_totals == size);
    for (int64_t v = 0; v < size; v++) fill_least(local->points, v, scratch);
    fill_fewest(scratch);
    for (int64_t end = 0; end < size; end++) {
        int64_t inside = (n_sets - 1) ^ (INT64_C(1) << end);
        int64_t *network = local->networks + end * size;
        network[end] = scratch->chosen[end * n_sets + inside];
        local->totals[end] = scratch->fewest[inside] + scratch->least[end * n_sets + inside];
        while (inside) {
            int64_t v = scratch->last[inside];
            inside ^= INT64_C(1) << v;
            network[v] = scratch->chosen[v * n_sets + inside];
        }
    }
}

/* The fewest points of a network in which v has these parents are found with no points for them,
 * and all other parents of v barred. Only the row of v changes. */
void lift_points(
    double *points, int64_t n_points, int64_t points_width, double right, const int64_t *places,
    int64_t n_places, int64_t places_width, const LocalScratch *scratch
) {
    check_sizes(n_points, points_width, scratch);
    CHECK(places_width == 2);
    for (int64_t v = 0; v < n_points; v++) fill_least(points, v, scratch);
    for (int64_t i = 0; i < n_places; i++) {
        int64_t v = places[2 * i], parents = places[2 * i + 1];
        CHECK(0 <= v && v < n_points && 0 <= parents && parents < points_width);
        CHECK(!(parents >> v & 1));
        double *least = scratch->least + v * points_width;
        for (int64_t inside = 0; inside < points_width; inside++) {
            least[inside] = parents & ~inside ? BARRED : 0.0;
        }
        fill_fewest(scratch);
        double missing = right - scratch->fewest[points_width - 1];
        points[v * points_width + parents] = missing > 0.0 ? missing : 0.0;
        fill_least(points, v, scratch);
    }
}
