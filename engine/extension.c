#include "extension.h"

/* Write a parent set with one more parent, ascending; return behind its end. */
static int32_t *
write_extended(const int32_t *parents, const int32_t *end, int32_t added, int32_t *written) {
    while (parents < end && *parents < added) *written++ = *parents++;
    *written++ = added;
    while (parents < end) *written++ = *parents++;
    return written;
}

static void check_sets(const ParentSets *sets) {
    CHECK(sets->n_start == sets->n_child + 1);
    CHECK(sets->start[0] == 0 && sets->start[sets->n_child] == sets->n_parents);
}

void list_families(
    const ParentSets *sets, int32_t *members, int64_t n_members, int64_t *start, int64_t n_start
) {
    check_sets(sets);
    CHECK(n_start == sets->n_start && n_members == sets->n_child + sets->n_parents);
    for (int64_t s = 0; s < sets->n_child; s++) {
        int64_t begin = sets->start[s], n_parents = sets->start[s + 1] - begin;
        start[s] = begin + s; /* one child for each set before */
        members[start[s]] = (int32_t) sets->child[s];
        memcpy(members + start[s] + 1, sets->parents + begin, (size_t) n_parents * sizeof *members);
    }
    start[sets->n_child] = n_members;
}

void flag_extensions(
    const ParentSets *sets, const int32_t *rows, int64_t n_rows, int64_t rows_width,
    const bool *allowed, int64_t n_allowed, int64_t allowed_width, const int64_t *arities,
    int64_t n_arities, int64_t max_parents, double max_table, double largest, bool *is_open,
    int64_t n_is_open, int64_t is_open_width, double *q, int64_t n_q, int64_t q_width
) {
    check_sets(sets);
    CHECK(n_rows == sets->n_child && n_is_open == n_rows && n_q == n_rows);
    CHECK(is_open_width == rows_width && q_width == rows_width);
    CHECK(n_allowed == n_arities && allowed_width == n_arities);
    for (int64_t s = 0; s < sets->n_child; s++) {
        int64_t child = sets->child[s], n_parents = sets->start[s + 1] - sets->start[s];
        const int32_t *parents = sets->parents + sets->start[s];
        CHECK(0 <= child && child < n_arities);
        double of_set = 1.0;
        for (int64_t i = 0; i < n_parents; i++) of_set *= (double) arities[parents[i]];
        for (int64_t at = s * rows_width; at < (s + 1) * rows_width; at++) {
            int32_t candidate = rows[at];
            CHECK(0 <= candidate && candidate < n_arities);
            double cells = of_set * (double) arities[candidate];
            q[at] = cells < largest ? cells : largest;
            bool is_held = false;
            for (int64_t i = 0; i < n_parents; i++) is_held |= parents[i] == candidate;
            is_open[at] = !is_held && n_parents < max_parents &&
                          allowed[candidate * n_arities + child] &&
                          q[at] * (double) arities[child] <= max_table;
        }
    }
}

int64_t list_extensions(
    const ParentSets *sets, const int32_t *rows, int64_t n_rows, int64_t rows_width,
    const bool *is_open, int64_t n_is_open, int64_t is_open_width, int32_t *members,
    int64_t n_members, int64_t *start, int64_t n_start, int64_t *place, int64_t n_place
) {
    int64_t n_families = 0;
    check_sets(sets);
    CHECK(n_rows == sets->n_child && n_is_open == n_rows && is_open_width == rows_width);
    start[0] = 0;
    for (int64_t s = 0; s < sets->n_child; s++) {
        const int32_t *parents = sets->parents + sets->start[s];
        const int32_t *end = sets->parents + sets->start[s + 1];
        for (int64_t at = s * rows_width; at < (s + 1) * rows_width; at++) {
            if (!is_open[at]) continue;
            int32_t *family = members + start[n_families];
            CHECK(start[n_families] + (end - parents) + 2 <= n_members);
            CHECK(n_families + 1 < n_start && n_families < n_place);
            *family = (int32_t) sets->child[s];
            start[n_families + 1] = write_extended(parents, end, rows[at], family + 1) - members;
            place[n_families++] = at;
        }
    }
    return n_families;
}

int64_t append_gains(
    const ParentSets *sets, const double *scores, int64_t n_scores, const int32_t *rows,
    int64_t n_rows, int64_t rows_width, const double *wider_scores, int64_t n_wider_scores,
    int64_t wider_scores_width, double least_gain, int64_t n_families, const FamilyList *families
) {
    check_sets(sets);
    CHECK(n_scores == sets->n_child && n_rows == n_scores && n_wider_scores == n_scores);
    CHECK(wider_scores_width == rows_width && families->n_start > n_families);
    int64_t *start = families->start;
    int32_t *written = families->parents + start[n_families];
    for (int64_t s = 0; s < sets->n_child; s++) {
        int64_t n_parents = sets->start[s + 1] - sets->start[s];
        CHECK(n_families < families->n_child && n_families < families->n_score);
        CHECK(start[n_families] + n_parents <= families->n_parents);
        memcpy(written, sets->parents + sets->start[s], (size_t) n_parents * sizeof *written);
        written += n_parents;
        families->child[n_families] = sets->child[s];
        families->score[n_families] = scores[s];
        start[++n_families] = written - families->parents;
    }
    for (int64_t s = 0; s < sets->n_child; s++) {
        const int32_t *parents = sets->parents + sets->start[s];
        const int32_t *end = sets->parents + sets->start[s + 1];
        double least = scores[s] + least_gain;
        for (int64_t at = s * rows_width; at < (s + 1) * rows_width; at++) {
            if (!(wider_scores[at] > least)) continue;
            CHECK(n_families < families->n_child && n_families + 1 < families->n_start);
            CHECK(start[n_families] + (end - parents) + 1 <= families->n_parents);
            written = write_extended(parents, end, rows[at], written);
            families->child[n_families] = sets->child[s];
            families->score[n_families] = wider_scores[at];
            start[++n_families] = written - families->parents;
        }
    }
    return n_families;
}
