#include "allowed.h"

TrackedOrder track_order(
    const Families *families, const FamilyIndex *index, const OrderScratch *scratch, int64_t *order,
    int64_t *choice
) {
    int64_t n = families->n_begin - 1, n_words = families->n_score / WORD_BITS + 1;
    CHECK(index->n_of_child == n + 1 && index->n_arc == families->n_parents);
    CHECK(scratch->n_missing == n_words && scratch->missing_width > 0);
    CHECK(scratch->n_allowed == n_words && scratch->n_one_missing == n_words);
    CHECK(scratch->n_arcs * WORD_BITS > families->n_parents);
    CHECK(scratch->n_marks * WORD_BITS > n && scratch->n_other_marks == scratch->n_marks);
    CHECK(scratch->n_place == n && scratch->n_pair_of == n && scratch->n_child_pair_of == n);
    CHECK(scratch->n_gain_of == n && scratch->n_queue == n && scratch->n_is_queued == n);
    CHECK(scratch->n_moved == n && scratch->n_spare == 4 && scratch->spare_width == n);
    return (TrackedOrder){families, index, scratch, n, order, choice, 0, 0};
}

/* Find out which families of a word have no missing parent, and which have one. */
static void summarise(const OrderScratch *scratch, int64_t word) {
    int64_t n_planes = scratch->missing_width;
    const uint64_t *planes = scratch->missing + word * n_planes;
    uint64_t many = join_planes(planes + 1, n_planes - 1);
    scratch->allowed[word] = ~(planes[0] | many);
    scratch->one_missing[word] = planes[0] & ~many;
}

/* One parent more is missing for the families of a pair, or one fewer. */
static void change_missing(const TrackedOrder *tracked, int64_t pair, bool is_more) {
    const FamilyIndex *index = tracked->index;
    const OrderScratch *scratch = tracked->scratch;
    int64_t n_planes = scratch->missing_width;
    for (int64_t i = index->begin[pair]; i < index->begin[pair + 1]; i++) {
        uint64_t *planes = scratch->missing + index->word[i] * n_planes;
        if (is_more) {
            add_one(planes, n_planes, index->bits[i]);
        } else {
            subtract_one(planes, n_planes, index->bits[i]);
        }
        summarise(scratch, index->word[i]);
    }
}

void put_in_order(const TrackedOrder *tracked) {
    const FamilyIndex *index = tracked->index;
    const OrderScratch *scratch = tracked->scratch;
    int64_t n = tracked->n, n_words = scratch->n_missing, n_planes = scratch->missing_width;
    uint64_t *missing = scratch->missing;
    int32_t *place = scratch->place;
    for (int64_t i = 0; i < n; i++) {
        CHECK(0 <= tracked->order[i] && tracked->order[i] < n);
        place[tracked->order[i]] = (int32_t) i;
    }
    memset(missing, 0, (size_t) (n_words * n_planes) * sizeof *missing);
    for (int64_t child = 0; child < n; child++) {
        for (int64_t pair = index->of_child[child]; pair < index->of_child[child + 1]; pair++) {
            if (place[index->parent[pair]] < place[child]) continue;
            for (int64_t i = index->begin[pair]; i < index->begin[pair + 1]; i++) {
                add_one(missing + index->word[i] * n_planes, n_planes, index->bits[i]);
            }
        }
    }
    for (int64_t word = 0; word < n_words; word++) summarise(scratch, word);
}

void put_variable(const TrackedOrder *tracked, int64_t v, int64_t target) {
    const FamilyIndex *index = tracked->index;
    int32_t *place = tracked->scratch->place;
    int64_t home = place[v], step = target > home ? 1 : -1, *order = tracked->order;
    CHECK(0 <= target && target < tracked->n);
    for (int64_t at = home; at != target; at += step) {
        order[at] = order[at + step];
        place[order[at]] = (int32_t) at;
    }
    order[target] = v;
    place[v] = (int32_t) target;
    tracked->scratch->moved[v] = true;

    /* Where those are now that v has passed. */
    int64_t low = home < target ? home : target + 1, high = home < target ? target - 1 : home;
    for (int64_t arc = index->of_parent[v]; arc < index->of_parent[v + 1]; arc++) {
        int64_t at = place[index->child[arc]];
        if (low <= at && at <= high) change_missing(tracked, index->pair[arc], target > home);
    }
    for (int64_t pair = index->of_child[v]; pair < index->of_child[v + 1]; pair++) {
        int64_t at = place[index->parent[pair]];
        if (low <= at && at <= high) change_missing(tracked, pair, target < home);
    }
}

/* v has moved: return to the old families of its pairs. */
static void restore_pairs(const TrackedOrder *tracked, int64_t v, const int64_t *old_place) {
    const FamilyIndex *index = tracked->index;
    const int32_t *place = tracked->scratch->place;
    const bool *moved = tracked->scratch->moved;
    for (int64_t pair = index->of_child[v]; pair < index->of_child[v + 1]; pair++) {
        int32_t u = index->parent[pair];
        bool is_before = place[u] < place[v], was_before = old_place[u] < old_place[v];
        if (is_before != was_before) change_missing(tracked, pair, is_before);
    }
    for (int64_t arc = index->of_parent[v]; arc < index->of_parent[v + 1]; arc++) {
        int32_t w = index->child[arc];
        if (moved[w]) continue; /* the pair is one of w, too */
        bool is_before = place[v] < place[w], was_before = old_place[v] < old_place[w];
        if (is_before != was_before) change_missing(tracked, index->pair[arc], is_before);
    }
}

void restore_order(const TrackedOrder *tracked, const int64_t *old_order, int64_t *old_place) {
    int32_t *place = tracked->scratch->place;
    for (int64_t i = 0; i < tracked->n; i++) {
        old_place[old_order[i]] = i;
        tracked->order[i] = old_order[i];
    }
    for (int64_t v = 0; v < tracked->n; v++) {
        if (tracked->scratch->moved[v]) restore_pairs(tracked, v, old_place);
    }
    for (int64_t v = 0; v < tracked->n; v++) place[v] = (int32_t) old_place[v];
}

void list_arcs(const TrackedOrder *tracked, const int64_t *choice) {
    const Families *families = tracked->families;
    const OrderScratch *scratch = tracked->scratch;
    memset(scratch->arcs, 0, (size_t) scratch->n_arcs * sizeof *scratch->arcs);
    for (int64_t v = 0; v < tracked->n; v++) {
        CHECK(families->begin[v] <= choice[v] && choice[v] < families->begin[v + 1]);
        for (int64_t i = families->start[choice[v]]; i < families->start[choice[v] + 1]; i++) {
            mark(scratch->arcs, tracked->index->arc[i]);
        }
    }
}

void choose_family(const TrackedOrder *tracked, int64_t child, int64_t family) {
    const int64_t *start = tracked->families->start, old = tracked->choice[child];
    const int32_t *arc = tracked->index->arc;
    uint64_t *arcs = tracked->scratch->arcs;
    for (int64_t i = start[old]; i < start[old + 1]; i++) {
        arcs[word_of(arc[i])] &= ~bit_of(arc[i]);
    }
    for (int64_t i = start[family]; i < start[family + 1]; i++) mark(arcs, arc[i]);
    tracked->choice[child] = family;
}
