#include "available.h"

/* Return the number of cells of the table over k variables, or 0 if it has more than `limit`. */
static int64_t
count_cells(const IncompleteRows *rows, const int32_t *variables, int64_t k, int64_t limit) {
    int64_t cells = 1;
    for (int64_t i = 0; i < k; i++) {
        int64_t arity = rows->arity[variables[i]];
        if (cells > limit / arity) return 0;
        cells *= arity;
    }
    return cells;
}

/* Overwrite the cells of n rows from `begin` on, and whether a value is missing there. The first
 * variable varies fastest. */
static void find_cells(
    const IncompleteRows *rows, const int32_t *variables, int64_t k, int64_t begin, int64_t n,
    uint32_t *restrict cells, bool *restrict is_missing
) {
    memset(cells, 0, (size_t) n * sizeof *cells);
    memset(is_missing, 0, (size_t) n * sizeof *is_missing);
    for (int64_t axis = k - 1; axis >= 0; axis--) {
        int64_t at = variables[axis] * rows->codes_width + begin;
        const uint16_t *restrict codes = rows->codes + at;
        const bool *restrict missing = rows->missing + at;
        uint32_t arity = (uint32_t) rows->arity[variables[axis]];
        for (int64_t i = 0; i < n; i++) cells[i] = cells[i] * arity + codes[i];
        for (int64_t i = 0; i < n; i++) is_missing[i] |= missing[i];
    }
}

/* Overwrite the table over k variables; return the number of rows that observe all of them. */
static int64_t count_complete(
    const IncompleteRows *rows, const int32_t *variables, int64_t k, uint32_t *restrict counts,
    int64_t n_cells
) {
    uint32_t cells[ROWS_PER_BLOCK];
    bool is_missing[ROWS_PER_BLOCK];
    int64_t n_complete = 0;
    memset(counts, 0, (size_t) n_cells * sizeof *counts);
    for (int64_t begin = 0; begin < rows->codes_width; begin += ROWS_PER_BLOCK) {
        int64_t rest = rows->codes_width - begin;
        int64_t n = rest < ROWS_PER_BLOCK ? rest : ROWS_PER_BLOCK;
        find_cells(rows, variables, k, begin, n, cells, is_missing);
        for (int64_t i = 0; i < n; i++) {
            CHECK(cells[i] < n_cells);
            counts[cells[i]] += !is_missing[i];
            n_complete += !is_missing[i];
        }
    }
    return n_complete;
}

/* Overwrite `reduced` with a table of n cells, summed over a variable. */
static void sum_over(
    const uint32_t *restrict counts, int64_t n_cells, int64_t stride, int64_t arity,
    uint32_t *restrict reduced
) {
    for (int64_t block = 0; block < n_cells; block += stride * arity, reduced += stride) {
        const uint32_t *one = counts + block;
        memcpy(reduced, one, (size_t) stride * sizeof *reduced);
        for (int64_t state = 1; state < arity; state++) {
            for (int64_t i = 0; i < stride; i++) reduced[i] += one[state * stride + i];
        }
    }
}

/* Overwrite the score of the family of the first of k members, and those without each parent. */
static void score_without_each(
    const IncompleteRows *rows, const ScoreSpec *spec, const int32_t *members, int64_t k,
    int64_t n_cells, const Scratch *scratch, uint32_t *reduced, double *scores
) {
    int64_t child_arity = rows->arity[members[0]], stride = child_arity;
    uint32_t *margin = scratch->margin;
    double *rising = scratch->rising;
    scores[0] = score_table(spec, scratch->counts, n_cells, 1, child_arity, margin, rising);
    for (int64_t i = 1; i < k; i++) {
        int64_t arity = rows->arity[members[i]];
        sum_over(scratch->counts, n_cells, stride, arity, reduced);
        scores[i] = score_table(spec, reduced, n_cells / arity, 1, child_arity, margin, rising);
        stride *= arity;
    }
}

void evaluate_available(
    const IncompleteRows *rows, const ScoreSpec *spec, const int32_t *members, int64_t n_members,
    const int64_t *start, int64_t n_start, int64_t first, int64_t last, const Scratch *scratch,
    uint32_t *reduced, int64_t n_reduced, double *scores, int64_t n_scores, int64_t *n_complete,
    int64_t n_n_complete
) {
    CHECK(0 <= first && last < n_start && start[n_start - 1] <= n_members);
    CHECK(n_members <= n_scores && last <= n_n_complete);
    CHECK(scratch->n_counts <= n_reduced && scratch->n_counts <= scratch->n_margin);
    CHECK(rows->n_codes == rows->n_arity && rows->n_missing == rows->n_codes);
    CHECK(rows->missing_width == rows->codes_width);
    for (int64_t family = first; family < last; family++) {
        const int32_t *own = members + start[family];
        int64_t k = start[family + 1] - start[family];
        int64_t n_cells = count_cells(rows, own, k, scratch->n_counts);
        n_complete[family] = 0;
        if (n_cells == 0) continue;
        n_complete[family] = count_complete(rows, own, k, scratch->counts, n_cells);
        double *own_scores = scores + start[family];
        score_without_each(rows, spec, own, k, n_cells, scratch, reduced, own_scores);
    }
}
