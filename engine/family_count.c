#include "family_count.h"

void score_tables(
    const int64_t *facts, int64_t n_facts, int64_t facts_width, const int32_t *members,
    int64_t n_members, const int64_t *start, int64_t n_start, const TableSums *sums,
    const ScoreSpec *spec, int64_t first, int64_t last, const Scratch *scratch, double *scores,
    int64_t n_scores
) {
    CHECK(facts_width == N_FACTS && start[n_start - 1] <= n_members);
    CHECK(0 <= first && last < n_start && last < sums->n_begin && last <= n_scores);
    for (int64_t family = first; family < last; family++) {
        int64_t at = sums->begin[family], n_cells = sums->begin[family + 1] - at;
        if (n_cells == 0) continue;
        CHECK(at + n_cells <= sums->n_cells && n_cells <= scratch->n_margin);
        const int32_t *own = members + start[family];
        int64_t k = start[family + 1] - start[family];
        int64_t stride = compute_stride(facts, own, k, own[0]);
        int64_t arity = get_fact(facts, own[0], ARITY);
        uint32_t *margin = scratch->margin;
        scores[family] =
            score_table(spec, sums->cells + at, n_cells, stride, arity, margin, scratch->rising);
    }
}
