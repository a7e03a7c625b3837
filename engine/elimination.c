#include "elimination.h"

#include "plan.h"

enum { EMPTY = -1 };

/* Of a variable: its place in the elimination order, and the last factor in its bucket. */
typedef struct {
    int64_t place, factor;
} BucketRow;

/* Put a factor into the bucket of its variable that is summed out first. plan->lists has, for each
 * factor, the one that is below it in its bucket. */
static int64_t put_factor(Planner *planner, BucketRow *buckets, int64_t factor) {
    const Plan *plan = planner->plan;
    const FactorRow *row = get_factor(plan, factor);
    const AxisRow *axes = get_axes(plan, row);
    if (row->n_axes == 0) {
        LiveList none = {plan->used[USED_LIVE], 0};
        return push_factor(planner, factor, &none); /* a constant */
    }
    if (factor >= plan->n_lists) return NO_ROOM;
    int64_t first = axes[0].variable;
    for (int64_t a = 1; a < row->n_axes; a++)
        if (buckets[axes[a].variable].place < buckets[first].place) first = axes[a].variable;
    CHECK(buckets[first].place >= 0);
    plan->lists[factor] = buckets[first].factor;
    buckets[first].factor = factor;
    return DONE;
}

/* Take the factors out of the bucket of a variable. */
static int64_t
empty_bucket(Planner *planner, BucketRow *buckets, int64_t variable, LiveList *list) {
    const Plan *plan = planner->plan;
    for (int64_t f = buckets[variable].factor; f != EMPTY; f = plan->lists[f])
        TRY(push_factor(planner, f, list));
    buckets[variable].factor = EMPTY;
    return DONE;
}

static int64_t
add_families(Planner *planner, const int64_t *families, int64_t n_families, BucketRow *buckets) {
    int64_t factor;
    for (int64_t i = 0; i < n_families; i++) {
        TRY(add_table(planner, families[i], &factor));
        TRY(put_factor(planner, buckets, factor));
        if (!has_finding(planner, families[i])) continue;
        TRY(add_finding(planner, families[i], &factor));
        TRY(put_factor(planner, buckets, factor));
    }
    return DONE;
}

/* Sum a variable out of the factors of its bucket. */
static int64_t
eliminate(Planner *planner, const EliminationOrder *elimination, int64_t i, BucketRow *buckets) {
    int64_t begin = elimination->clique_start[i];
    int64_t n = elimination->clique_start[i + 1] - begin;
    LiveList list = {0, 0};
    TRY(enter_clique(planner, elimination->members + begin, n));
    TRY(empty_bucket(planner, buckets, elimination->order[i], &list));
    TRY(sum_out(planner, (int64_t) 1 << (n - 1), &list));
    for (int64_t k = 0; k < list.n; k++)
        TRY(put_factor(planner, buckets, get_live(planner, k)->factor));
    drop_list(planner, list);
    return DONE;
}

int64_t plan_question(
    const NetworkTables *network, const EliminationOrder *elimination, const int64_t *families,
    int64_t n_families, const int64_t *asked, int64_t n_asked, const EvidenceCodes *evidence,
    const Plan *plan, int64_t *buckets, int64_t n_buckets, int64_t buckets_width, int64_t *factor,
    int64_t n_factor
) {
    const int64_t *order = elimination->order;
    int64_t n = elimination->n_order;
    CHECK(evidence->n_codes == network->n_arity && n_buckets == network->n_arity);
    CHECK(n_asked <= n && n_factor == 1);
    BucketRow *bucket = (BucketRow *) buckets;
    Planner planner = {
        .network = network,
        .evidence = evidence,
        .plan = plan,
        .keeps_constants = true,
        .is_used_once = true,
    };
    for (int64_t i = 0; i < N_USED; i++) plan->used[i] = 0;
    for (int64_t v = 0; v < n_buckets; v++) bucket[v] = (BucketRow){EMPTY, EMPTY};
    for (int64_t i = 0; i < n; i++) bucket[order[i]].place = i;
    factor[0] = EMPTY;
    TRY(add_families(&planner, families, n_families, bucket));
    for (int64_t i = 0; i < n - n_asked; i++) TRY(eliminate(&planner, elimination, i, bucket));
    if (n_asked == 0) return DONE;
    LiveList list = {0, 0};
    TRY(enter_clique(&planner, asked, n_asked));
    for (int64_t i = n - n_asked; i < n; i++) TRY(empty_bucket(&planner, bucket, order[i], &list));
    return join_all(&planner, list, true, factor);
}
