#include "perturbation.h"

/* Variables of a local perturbation, and the places that they exchange. */
typedef struct {
    int64_t n;
    int64_t variable[LARGEST_GROUP];
    int64_t target[LARGEST_GROUP]; /* the place that each variable gets */
    int64_t home[LARGEST_GROUP];   /* where each variable was */
} Group;

/* Add v to a heap of `size` variables; the one with the smallest lot is at the top. */
static void add_to_heap(int64_t *heap, int64_t size, const double *lots, int64_t v) {
    int64_t at = size;
    while (at > 0 && lots[v] < lots[heap[(at - 1) / 2]]) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = v;
}

/* Remove the top of a heap of `size` variables and return it. */
static int64_t remove_first(int64_t *heap, int64_t size, const double *lots) {
    int64_t first = heap[0], v = heap[size - 1], at = 0, below = 1;
    while (below < size - 1) {
        if (below + 1 < size - 1 && lots[heap[below + 1]] < lots[heap[below]]) below++;
        if (lots[v] <= lots[heap[below]]) break;
        heap[at] = heap[below];
        at = below;
        below = 2 * below + 1;
    }
    heap[at] = v;
    return first;
}

/* Overwrite the order with a random topological one of `choice`; `waiting` and `heap` are scratch.
 */
static void draw_topological_order(
    const TrackedOrder *tracked, const int64_t *choice, const double *lots, int64_t *waiting,
    int64_t *heap
) {
    const FamilyIndex *index = tracked->index;
    const int64_t *start = tracked->families->start;
    const uint64_t *arcs = tracked->scratch->arcs;
    int64_t n_ready = 0;
    list_arcs(tracked, choice);
    for (int64_t v = 0; v < tracked->n; v++) {
        waiting[v] = start[choice[v] + 1] - start[choice[v]];
        if (waiting[v] == 0) add_to_heap(heap, n_ready++, lots, v);
    }
    for (int64_t at = 0; at < tracked->n; at++) {
        CHECK(n_ready > 0); /* else the structure has a cycle */
        int64_t first = remove_first(heap, n_ready--, lots), end = index->of_parent[first + 1];
        tracked->order[at] = first;
        for (int64_t arc = find_next(arcs, index->of_parent[first], end); arc < end;
             arc = find_next(arcs, arc + 1, end)) {
            int64_t w = index->child[arc];
            if (--waiting[w] == 0) add_to_heap(heap, n_ready++, lots, w);
        }
    }
}

void draw_order(
    const int64_t *choice, int64_t n_choice, const Families *families, const FamilyIndex *index,
    const OrderScratch *scratch, const double *lots, int64_t n_lots, int64_t *order, int64_t n_order
) {
    TrackedOrder tracked = track_order(families, index, scratch, order, NULL);
    CHECK(n_order == tracked.n && n_choice == n_order && n_lots == n_order);
    draw_topological_order(&tracked, choice, lots, scratch->spare, scratch->spare + n_order);
}

/* Move a block of neighbours to another place, reversed in half of the cases.
 *
 * The random numbers determine its length, its begin, its target and whether it is reversed. */
static void move_block(int64_t *order, int64_t n, const double *draws, int64_t *spare) {
    int64_t length = 1 + (int64_t) (draws[0] * (double) (n >= 3 ? n / 3 : 1));
    int64_t begin = (int64_t) (draws[1] * (double) (n - length + 1));
    int64_t target = (int64_t) (draws[2] * (double) (n - length + 1));
    CHECK(0 < length && 0 <= begin && begin + length <= n);
    CHECK(0 <= target && target + length <= n);
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) { /* the others, in their order */
        if (begin <= i && i < begin + length) continue;
        spare[at < target ? at : at + length] = order[i];
        at++;
    }
    for (int64_t i = 0; i < length; i++) {
        spare[target + i] = order[begin + (draws[3] < 0.5 ? length - 1 - i : i)];
    }
    memcpy(order, spare, (size_t) n * sizeof *order);
}

/* Return a parent or a child of v in the present structure; -1 if it has none. */
static int64_t choose_neighbour(const TrackedOrder *tracked, int64_t v, double draw) {
    const Families *families = tracked->families;
    const FamilyIndex *index = tracked->index;
    const uint64_t *arcs = tracked->scratch->arcs;
    int64_t first = families->start[tracked->choice[v]];
    int64_t n_parents = families->start[tracked->choice[v] + 1] - first, n_children = 0;
    int64_t begin = index->of_parent[v], end = index->of_parent[v + 1];
    for (int64_t arc = find_next(arcs, begin, end); arc < end;
         arc = find_next(arcs, arc + 1, end)) {
        n_children++;
    }
    int64_t number = (int64_t) (draw * (double) (n_parents + n_children));
    if (number < n_parents) return families->parents[first + number];
    number -= n_parents;
    if (number >= n_children) return -1;
    int64_t arc = find_next(arcs, begin, end);
    while (number-- > 0) arc = find_next(arcs, arc + 1, end);
    return index->child[arc];
}

/* Choose a group of variables that arcs connect. */
static void choose_group(const TrackedOrder *tracked, const double *draws, Group *group) {
    int64_t size = 2 + (int64_t) (draws[0] * (LARGEST_GROUP - 1));
    group->variable[0] = (int64_t) (draws[1] * (double) tracked->n);
    group->n = 1;
    CHECK(size <= LARGEST_GROUP && 0 <= group->variable[0] && group->variable[0] < tracked->n);
    for (int64_t i = 1; i < size; i++) {
        double draw = draws[1 + i] * (double) group->n;
        int64_t base = (int64_t) draw;
        int64_t v = choose_neighbour(tracked, group->variable[base], draw - (double) base);
        bool is_new = v >= 0;
        for (int64_t j = 0; j < group->n; j++) is_new = is_new && group->variable[j] != v;
        if (is_new) group->variable[group->n++] = v;
    }
}

/* Let the variables of a group exchange their places at random. */
static void shuffle_group(const TrackedOrder *tracked, const double *draws, Group *group) {
    const int32_t *place = tracked->scratch->place;
    for (int64_t i = 0; i < group->n; i++) group->target[i] = place[group->variable[i]];
    for (int64_t i = group->n - 1; i > 0; i--) {
        int64_t j = (int64_t) (draws[1 + LARGEST_GROUP + i] * (double) (i + 1));
        int64_t v = group->variable[i];
        group->variable[i] = group->variable[j];
        group->variable[j] = v;
    }
    for (int64_t i = 0; i < group->n; i++) group->home[i] = place[group->variable[i]];
    for (int64_t i = 0; i < group->n; i++) {
        int64_t v = group->variable[i], home = place[v], other = tracked->order[group->target[i]];
        if (home == group->target[i]) continue;
        put_variable(tracked, v, group->target[i]);
        put_variable(tracked, other, home);
    }
}

/* Look up the families that the exchange of places changes, and queue their children. */
static void queue_changed(TrackedOrder *tracked, const Group *group) {
    const FamilyIndex *index = tracked->index;
    const OrderScratch *scratch = tracked->scratch;
    const int64_t *begin = tracked->families->begin;
    const int32_t *place = scratch->place;
    for (int64_t i = 0; i < group->n; i++) {
        int64_t v = group->variable[i], one = group->home[i], other = place[v];
        choose_family(tracked, v, find_allowed(scratch, begin[v]));
        add_to_queue(tracked, v);
        int64_t low = one < other ? one : other, high = one < other ? other : one;
        for (int64_t arc = index->of_parent[v]; arc < index->of_parent[v + 1]; arc++) {
            int64_t w = index->child[arc];
            if (place[w] <= low || place[w] >= high) continue; /* v has not passed it */
            int64_t found = find_allowed(scratch, begin[w]);
            if (found == tracked->choice[w]) continue;
            choose_family(tracked, w, found);
            add_to_queue(tracked, w);
        }
    }
}

/* Return the score of the structure of `choice`. */
static double sum_scores(const double *score, const int64_t *choice, int64_t n) {
    double total = 0.0;
    for (int64_t v = 0; v < n; v++) total += score[choice[v]];
    return total;
}

/* Copy an order and its families. */
static void copy_solution(
    const int64_t *order, const int64_t *choice, int64_t n, int64_t *to_order, int64_t *to_choice
) {
    memcpy(to_order, order, (size_t) n * sizeof *order);
    memcpy(to_choice, choice, (size_t) n * sizeof *choice);
}

/* Return to an old solution. */
static void restore_solution(
    const TrackedOrder *tracked, const int64_t *old_order, const int64_t *old_choice,
    int64_t *old_place
) {
    restore_order(tracked, old_order, old_place);
    for (int64_t v = 0; v < tracked->n; v++) {
        if (tracked->choice[v] != old_choice[v]) choose_family(tracked, v, old_choice[v]);
    }
}

/* Perturb small parts of an order, one after another; keep what does not lower the score.
 *
 * draws[t] has the random numbers of perturbation t. */
static void perturb_locally(
    TrackedOrder *tracked, const double *draws, int64_t n_perturbations, double least_gain
) {
    int64_t n = tracked->n, *order = tracked->order, *choice = tracked->choice;
    int64_t *old_order = tracked->scratch->spare, *old_choice = old_order + n;
    int64_t *old_place = old_choice + n;
    const double *family_score = tracked->families->score;
    double highest = sum_scores(family_score, choice, n);
    copy_solution(order, choice, n, old_order, old_choice);
    put_in_order(tracked);
    list_arcs(tracked, choice);
    for (int64_t t = 0; t < n_perturbations; t++, draws += LOCAL_DRAWS) {
        Group group;
        choose_group(tracked, draws, &group);
        if (group.n < 2) continue;
        memset(tracked->scratch->moved, 0, (size_t) n);
        shuffle_group(tracked, draws, &group);
        queue_changed(tracked, &group);
        climb_from_queue(tracked, least_gain);
        double score = sum_scores(family_score, choice, n);
        if (score >= highest - least_gain) {
            if (score > highest) highest = score;
            copy_solution(order, choice, n, old_order, old_choice);
        } else {
            restore_solution(tracked, old_order, old_choice, old_place);
        }
    }
}

/* Climb from an order, then from global perturbations of the best one so far.
 *
 * draws[t] has the random numbers of perturbation t. The best order and its families replace
 * `best_order` and overwrite `best_choice`. */
static void climb_and_perturb(
    TrackedOrder *tracked, const int64_t *visits, const double *draws, int64_t n_perturbations,
    double least_gain, int64_t *best_order, int64_t *best_choice
) {
    int64_t n = tracked->n, *waiting = tracked->scratch->spare + 2 * n, *heap = waiting + n;
    double highest = -INFINITY;
    memcpy(tracked->order, best_order, (size_t) n * sizeof *best_order);
    for (int64_t trial = 0; trial <= n_perturbations; trial++) {
        if (trial > 0) {
            draw_topological_order(tracked, best_choice, draws, waiting, heap);
            move_block(tracked->order, n, draws + n, waiting);
            draws += n + GLOBAL_DRAWS;
        }
        climb_order(tracked, visits, least_gain);
        double score = sum_scores(tracked->families->score, tracked->choice, n);
        if (trial > 0 && !(score >= highest)) continue;
        highest = score;
        copy_solution(tracked->order, tracked->choice, n, best_order, best_choice);
    }
}

void climb_orders(
    int64_t *orders, int64_t n_orders, int64_t orders_width, const int64_t *visits,
    int64_t n_visits, int64_t visits_width, const double *perturbations, int64_t n_perturbations,
    int64_t perturbations_width, int64_t perturbations_depth, const double *local_draws,
    int64_t n_local_draws, int64_t local_draws_width, int64_t local_draws_depth,
    const Families *families, const FamilyIndex *index, const OrderScratch *scratch,
    double least_gain, int64_t *choice, int64_t n_choice, int64_t choice_width
) {
    int64_t n = orders_width, *order = scratch->spare, *chosen = order + n;
    int64_t n_global = perturbations_width, n_local = local_draws_width;
    CHECK(n == families->n_begin - 1 && visits_width == n && choice_width == n);
    CHECK(n_visits == n_orders && n_choice == n_orders);
    CHECK(n_perturbations == n_orders && perturbations_depth == n + GLOBAL_DRAWS);
    CHECK(n_local_draws == n_orders && local_draws_depth == LOCAL_DRAWS);
    if (n == 0) return;
    for (int64_t o = 0; o < n_orders; o++) {
        int64_t *own_order = orders + o * n, *own_choice = choice + o * n;
        const double *draws = perturbations + o * n_global * perturbations_depth;
        TrackedOrder tracked = track_order(families, index, scratch, order, chosen);
        climb_and_perturb(
            &tracked, visits + o * n, draws, n_global, least_gain, own_order, own_choice
        );
        if (n == 1) continue;
        draws = local_draws + o * n_local * LOCAL_DRAWS;
        tracked = track_order(families, index, scratch, own_order, own_choice);
        if (n_local > 0) perturb_locally(&tracked, draws, n_local, least_gain);
    }
}
