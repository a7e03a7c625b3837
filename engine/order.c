#include "order.h"

/* A move of a variable: the best one so far. */
typedef struct {
    double gain;
    int64_t place; /* -1 for none */
} Move;

/* Return the score that the next family of a child must be above, or the move cannot be better.
 *
 * `most` is what it would gain in the best case if the child lost nothing. */
static double find_floor(double score, double most, const Move *best) {
    return score - (most - best->gain);
}

/* Return the first family of a pair, before `end`, that has its bit in `flags`; `end` if none. */
static int64_t
find_in_pair(const FamilyIndex *index, int64_t pair, const uint64_t *flags, int64_t end) {
    for (int64_t i = index->begin[pair]; i < index->begin[pair + 1]; i++) {
        int64_t word = index->word[i];
        if (word * WORD_BITS >= end) break;
        uint64_t found = index->bits[i] & flags[word];
        if (found == 0) continue;
        int64_t family = word * WORD_BITS + find_lowest(found);
        return family < end ? family : end;
    }
    return end;
}

/* Return the first allowed family, from `family` on, that is not in a pair of the same child. */
static int64_t find_allowed_without(const TrackedOrder *tracked, int64_t pair, int64_t family) {
    const FamilyIndex *index = tracked->index;
    const uint64_t *allowed = tracked->scratch->allowed;
    int64_t word = word_of(family), i = index->begin[pair], end = index->begin[pair + 1];
    uint64_t found = keep_from(allowed[word], family);
    for (;; found = allowed[++word]) {
        while (i < end && index->word[i] < word) i++;
        if (i < end && index->word[i] == word) found &= ~index->bits[i];
        if (found != 0) return word * WORD_BITS + find_lowest(found);
    }
}

/* Return the place of the last parent of a family, -1 without parents. */
static int64_t find_last_parent(const TrackedOrder *tracked, int64_t family) {
    const Families *families = tracked->families;
    int64_t last = -1;
    for (int64_t i = families->start[family]; i < families->start[family + 1]; i++) {
        int64_t at = tracked->scratch->place[families->parents[i]];
        if (at > last) last = at;
    }
    return last;
}

/* v is about to move to a later place. Mark the later variables with which it has a family that is
 * better than its current one, and copy how many parents of these families are missing. */
static void begin_later(const TrackedOrder *tracked, int64_t v, int64_t current) {
    const FamilyIndex *index = tracked->index;
    const OrderScratch *scratch = tracked->scratch;
    const int32_t *place = scratch->place;
    for (int64_t pair = index->of_child[v]; pair < index->of_child[v + 1]; pair++) {
        if (index->best[pair] >= current) break; /* they ascend */
        int32_t u = index->parent[pair];
        if (place[u] < place[v]) continue;
        scratch->pair_of[u] = (int32_t) pair;
        mark(scratch->marks, place[u]);
    }
    int64_t n_planes = scratch->missing_width, first = word_of(tracked->families->begin[v]);
    int64_t n_copied = (word_of(current) + 1 - first) * n_planes;
    CHECK(n_copied <= scratch->n_own);
    memcpy(
        scratch->own, scratch->missing + first * n_planes, (size_t) n_copied * sizeof *scratch->own
    );
}

/* v has passed the parent of a pair. Return its first family now, if that is before `current`. */
static int64_t pass_later(const TrackedOrder *tracked, int64_t v, int64_t pair, int64_t current) {
    const FamilyIndex *index = tracked->index;
    int64_t n_planes = tracked->scratch->missing_width;
    int64_t first = word_of(tracked->families->begin[v]);
    for (int64_t i = index->begin[pair]; i < index->begin[pair + 1]; i++) {
        int64_t word = index->word[i];
        if (word * WORD_BITS >= current) break;
        uint64_t *planes = tracked->scratch->own + (word - first) * n_planes;
        subtract_one(planes, n_planes, index->bits[i]);
        uint64_t found = index->bits[i] & ~join_planes(planes, n_planes);
        if (found == 0) continue;
        /* Words after this one are behind the family, and are not asked for again. */
        int64_t family = word * WORD_BITS + find_lowest(found);
        return family < current ? family : current;
    }
    return current;
}

/* Mark the children of v; all of them come later. */
static void mark_children(const TrackedOrder *tracked, int64_t v) {
    const FamilyIndex *index = tracked->index;
    const OrderScratch *scratch = tracked->scratch;
    int64_t end = index->of_parent[v + 1];
    for (int64_t arc = find_next(scratch->arcs, index->of_parent[v], end); arc < end;
         arc = find_next(scratch->arcs, arc + 1, end)) {
        int32_t w = index->child[arc];
        scratch->child_pair_of[w] = index->pair[arc];
        mark(scratch->other_marks, scratch->place[w]);
    }
}

/* Return the best move of v to a later place, if it gains more than `bar`.
 *
 * v gains possible parents, and its children lose v. All later gains are gains of v, so that the
 * score of its best family limits what its children may lose. */
static Move find_best_later_place(const TrackedOrder *tracked, int64_t v, double bar) {
    const OrderScratch *scratch = tracked->scratch;
    const double *score = tracked->families->score;
    const int64_t *choice = tracked->choice;
    int64_t current = choice[v];
    double gain = 0.0, top = score[tracked->families->begin[v]];
    Move best = {bar, -1};
    bool is_over = !(top - score[current] > bar);
    if (is_over) return best;
    begin_later(tracked, v, current);
    mark_children(tracked, v);
    for (int64_t word = word_of(scratch->place[v]); word < scratch->n_marks; word++) {
        uint64_t parents = scratch->marks[word], children = scratch->other_marks[word];
        scratch->marks[word] = 0;
        scratch->other_marks[word] = 0;
        for (uint64_t bits = parents | children; bits != 0 && !is_over; bits &= bits - 1) {
            int64_t at = word * WORD_BITS + find_lowest(bits), w = tracked->order[at];
            if (children & bit_of(at)) {
                double most = gain + (top - score[current]);
                double floor = find_floor(score[choice[w]], most, &best);
                int64_t pair = scratch->child_pair_of[w];
                int64_t lost = find_allowed_without(tracked, pair, choice[w] + 1);
                is_over = !(score[lost] > floor);
                if (is_over) break;
                gain += score[lost] - score[choice[w]];
            }
            if (parents & bit_of(at)) {
                int64_t found = pass_later(tracked, v, scratch->pair_of[w], current);
                gain += score[found] - score[current];
                current = found;
            }
            if (gain > best.gain) best = (Move){gain, at};
            is_over = gain + (top - score[current]) <= best.gain;
        }
    }
    return best;
}

/* Mark the earlier variables that gain when v passes them; return the sum of their gains.
 *
 * What a variable gains does not depend on how far v moves. Bits are set for the distance from
 * the end, so that the last place comes first. */
static double mark_gains_of_others(const TrackedOrder *tracked, int64_t v) {
    const OrderScratch *scratch = tracked->scratch;
    const FamilyIndex *index = tracked->index;
    const double *score = tracked->families->score;
    const int32_t *place = scratch->place;
    const int64_t *choice = tracked->choice;
    double possible = 0.0;
    for (int64_t arc = index->of_parent[v]; arc < index->of_parent[v + 1]; arc++) {
        int32_t w = index->child[arc];
        if (place[w] > place[v]) continue;
        int64_t found = find_in_pair(index, index->pair[arc], scratch->one_missing, choice[w]);
        if (found == choice[w]) continue;
        scratch->gain_of[w] = score[found] - score[choice[w]];
        possible += scratch->gain_of[w];
        mark(scratch->marks, tracked->n - 1 - place[w]);
    }
    return possible;
}

/* v is about to move to an earlier place. Mark its earlier possible parents, by the distance from
 * the end, and note that it has passed none of them. */
static void begin_earlier(const TrackedOrder *tracked, int64_t v) {
    const FamilyIndex *index = tracked->index;
    const OrderScratch *scratch = tracked->scratch;
    const int64_t *begin = tracked->families->begin;
    const int32_t *place = scratch->place;
    for (int64_t pair = index->of_child[v]; pair < index->of_child[v + 1]; pair++) {
        int32_t u = index->parent[pair];
        if (place[u] > place[v]) continue;
        scratch->pair_of[u] = (int32_t) pair;
        mark(scratch->other_marks, tracked->n - 1 - place[u]);
    }
    int64_t n_words = word_of(begin[v + 1] - 1) + 1 - word_of(begin[v]);
    CHECK(n_words <= scratch->n_own);
    memset(scratch->own, 0, (size_t) n_words * sizeof *scratch->own);
}

/* v moves from place `high` to place `low`. Return the first family that is allowed there, after
 * the current one, whose last parent was at `low`. */
static int64_t
pass_earlier(const TrackedOrder *tracked, int64_t v, int64_t low, int64_t high, int64_t current) {
    const FamilyIndex *index = tracked->index;
    const OrderScratch *scratch = tracked->scratch;
    uint64_t *lost = scratch->own;
    int64_t end = tracked->n - low, base = word_of(tracked->families->begin[v]);
    for (int64_t i = find_next(scratch->other_marks, tracked->n - high, end); i < end;
         i = find_next(scratch->other_marks, i + 1, end)) {
        int64_t pair = scratch->pair_of[tracked->order[tracked->n - 1 - i]];
        for (int64_t k = index->begin[pair]; k < index->begin[pair + 1]; k++) {
            lost[index->word[k] - base] |= index->bits[k];
        }
    }
    int64_t word = word_of(current + 1);
    uint64_t found = keep_from(scratch->allowed[word] & ~lost[word - base], current + 1);
    while (found == 0) {
        word++;
        found = scratch->allowed[word] & ~lost[word - base];
    }
    return word * WORD_BITS + find_lowest(found);
}

/* Forget the possible parents of v that `begin_earlier` has marked. */
static void end_earlier(const TrackedOrder *tracked, int64_t v) {
    const OrderScratch *scratch = tracked->scratch;
    int64_t word = word_of(tracked->n - 1 - scratch->place[v]);
    for (; word < scratch->n_other_marks; word++) scratch->other_marks[word] = 0;
}

/* Return the best move of v to an earlier place, if it gains more than `bar`.
 *
 * v loses possible parents, and others gain v as a parent. Their gains limit what v may lose. */
static Move find_best_earlier_place(const TrackedOrder *tracked, int64_t v, double bar) {
    const OrderScratch *scratch = tracked->scratch;
    const double *score = tracked->families->score;
    int64_t home = scratch->place[v], current = tracked->choice[v], passed = home;
    int64_t last = find_last_parent(tracked, current);
    double gain = 0.0, possible = mark_gains_of_others(tracked, v);
    Move best = {bar, -1};
    bool is_over = !(possible > bar);
    for (int64_t word = word_of(tracked->n - 1 - home); word < scratch->n_marks; word++) {
        uint64_t bits = scratch->marks[word];
        scratch->marks[word] = 0;
        for (; bits != 0 && !is_over; bits &= bits - 1) {
            int64_t at = tracked->n - 1 - (word * WORD_BITS + find_lowest(bits));
            while (last >= at && !is_over) { /* v passes a parent */
                double floor = find_floor(score[current], gain + possible, &best);
                /* Often the next family is too bad already, whatever v has passed. */
                is_over = !(score[find_allowed(scratch, current + 1)] > floor);
                if (is_over) break;
                if (passed == home) begin_earlier(tracked, v);
                int64_t lost = pass_earlier(tracked, v, last, passed, current);
                passed = last;
                is_over = !(score[lost] > floor);
                if (is_over) break;
                gain += score[lost] - score[current];
                current = lost;
                last = find_last_parent(tracked, current);
            }
            if (is_over) break;
            double own = scratch->gain_of[tracked->order[at]];
            possible -= own;
            gain += own;
            if (gain > best.gain) best = (Move){gain, at};
            is_over = gain + possible <= best.gain;
        }
    }
    if (passed != home) end_earlier(tracked, v);
    return best;
}

/* Add a variable and the parents of one of its families to the queue. */
static void queue_with_parents(TrackedOrder *tracked, int64_t v, int64_t family) {
    const Families *families = tracked->families;
    add_to_queue(tracked, v);
    for (int64_t i = families->start[family]; i < families->start[family + 1]; i++) {
        add_to_queue(tracked, families->parents[i]);
    }
}

/* Move v to a place, update all families that change, and queue what is near. */
static void move_variable(TrackedOrder *tracked, int64_t v, int64_t target) {
    const OrderScratch *scratch = tracked->scratch;
    const FamilyIndex *index = tracked->index;
    const int32_t *place = scratch->place;
    const int64_t *choice = tracked->choice, home = place[v];
    put_variable(tracked, v, target);
    int64_t low = home < target ? home : target, high = home < target ? target : home;
    for (int64_t arc = index->of_parent[v]; arc < index->of_parent[v + 1]; arc++) {
        int64_t w = index->child[arc], found = choice[w];
        if (place[w] < low || place[w] > high) continue;
        if (target < home) { /* v is a new possible parent of w */
            found = find_in_pair(index, index->pair[arc], scratch->allowed, found);
        } else { /* it was one; the family of w may have lost it */
            found = find_allowed(scratch, found);
        }
        if (found == choice[w]) continue;
        queue_with_parents(tracked, w, choice[w]);
        choose_family(tracked, w, found);
        queue_with_parents(tracked, w, found);
    }
    queue_with_parents(tracked, v, choice[v]);
    choose_family(tracked, v, find_allowed(scratch, tracked->families->begin[v]));
    queue_with_parents(tracked, v, choice[v]);
}

bool climb_from_queue(TrackedOrder *tracked, double least_gain) {
    const OrderScratch *scratch = tracked->scratch;
    bool has_moved = false;
    while (tracked->n_queued > 0) {
        int64_t v = scratch->queue[tracked->head];
        tracked->head = tracked->head + 1 < tracked->n ? tracked->head + 1 : 0;
        tracked->n_queued--;
        scratch->is_queued[v] = false;
        Move later = find_best_later_place(tracked, v, least_gain);
        Move earlier = find_best_earlier_place(tracked, v, later.gain);
        int64_t target = earlier.place >= 0 ? earlier.place : later.place;
        if (target < 0) continue;
        move_variable(tracked, v, target);
        has_moved = true;
    }
    return has_moved;
}

void climb_order(TrackedOrder *tracked, const int64_t *visits, double least_gain) {
    put_in_order(tracked);
    for (int64_t v = 0; v < tracked->n; v++) {
        tracked->choice[v] = find_allowed(tracked->scratch, tracked->families->begin[v]);
    }
    list_arcs(tracked, tracked->choice);
    bool has_moved = true;
    while (has_moved) {
        for (int64_t i = 0; i < tracked->n; i++) {
            CHECK(0 <= visits[i] && visits[i] < tracked->n);
            add_to_queue(tracked, visits[i]);
        }
        has_moved = climb_from_queue(tracked, least_gain);
    }
}

/* Flag the responses of v if it has one predecessor fewer or moves to an earlier place. */
static void flag_losses(const TrackedOrder *tracked, int64_t v, bool *asked) {
    const int64_t *start = tracked->families->start, now = tracked->choice[v];
    const FamilyIndex *index = tracked->index;
    if (start[now] == start[now + 1]) return;
    for (int64_t i = start[now]; i < start[now + 1]; i++) {
        asked[find_allowed_without(tracked, index->pair[index->arc[i]], now + 1)] = true;
    }
    int64_t current = now, passed = tracked->scratch->place[v];
    begin_earlier(tracked, v);
    for (int64_t last = find_last_parent(tracked, current); last >= 0;
         last = find_last_parent(tracked, current)) {
        current = pass_earlier(tracked, v, last, passed, current);
        passed = last;
        asked[current] = true;
    }
    end_earlier(tracked, v);
}

/* Flag the responses of v if it has one predecessor more or moves to a later place. */
static void flag_gains(const TrackedOrder *tracked, int64_t v, bool *asked) {
    const OrderScratch *scratch = tracked->scratch;
    int64_t now = tracked->choice[v], current = now;
    begin_later(tracked, v, now);
    for (int64_t word = word_of(scratch->place[v]); word < scratch->n_marks; word++) {
        uint64_t bits = scratch->marks[word];
        scratch->marks[word] = 0;
        for (; bits != 0; bits &= bits - 1) {
            int64_t w = tracked->order[word * WORD_BITS + find_lowest(bits)];
            int64_t pair = scratch->pair_of[w];
            int64_t found = find_in_pair(tracked->index, pair, scratch->one_missing, now);
            if (found != now) asked[found] = true;
            current = pass_later(tracked, v, pair, current);
            if (current != now) asked[current] = true;
        }
    }
}

void flag_nearby_responses(
    const int64_t *order, int64_t n_order, const int64_t *choice, int64_t n_choice,
    const Families *families, const FamilyIndex *index, const OrderScratch *scratch, bool *asked,
    int64_t n_asked
) {
    int64_t *own_order = scratch->spare, *own_choice = own_order + n_order;
    TrackedOrder tracked = track_order(families, index, scratch, own_order, own_choice);
    CHECK(n_order == tracked.n && n_choice == n_order && n_asked == families->n_score);
    memcpy(own_order, order, (size_t) n_order * sizeof *order);
    memcpy(own_choice, choice, (size_t) n_order * sizeof *choice);
    put_in_order(&tracked);
    for (int64_t v = 0; v < n_order; v++) {
        flag_losses(&tracked, v, asked);
        flag_gains(&tracked, v, asked);
    }
}
