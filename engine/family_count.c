#include "family_count.h"

void score_tables(
    const CountedTables *tables, const ScoreSpec *spec, int64_t first, int64_t last,
    const Scratch *scratch, double *scores, int64_t n_scores
) {
    CHECK(0 <= first && last < tables->n_start && last < tables->n_begin && last <= n_scores);
    for (int64_t family = first; family < last; family++) {
        int64_t at = tables->begin[family], n_cells = tables->begin[family + 1] - at;
        if (n_cells == 0) continue;
        CHECK(at + n_cells <= tables->n_cells && n_cells <= scratch->n_margin);
        const int32_t *members = tables->members + tables->start[family];
        int64_t k = tables->start[family + 1] - tables->start[family];
        int64_t stride = compute_stride(tables->facts, members, k, members[0]);
        int64_t arity = get_fact(tables->facts, members[0], ARITY);
        const uint32_t *counts = tables->cells + at;
        scores[family] =
            score_table(spec, counts, n_cells, stride, arity, scratch->margin, scratch->rising);
    }
}
