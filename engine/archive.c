#include "archive.h"

enum { WORD_BITS = 64 };

/* Return whether all parents of one family are parents of another one; both ascend. */
static bool is_subset(const int64_t *start, const int32_t *parents, int64_t small, int64_t large) {
    int64_t at = start[large], end = start[large + 1];
    for (int64_t i = start[small]; i < start[small + 1]; i++) {
        while (at < end && parents[at] < parents[i]) at++;
        if (at == end || parents[at] != parents[i]) return false;
        at++;
    }
    return true;
}

static uint64_t sign_family(const int32_t *parents, int64_t n_parents) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < n_parents; i++) bits |= UINT64_C(1) << parents[i] % WORD_BITS;
    return bits;
}

void flag_dominated(
    const int64_t *begin, int64_t n_begin, const int64_t *start, int64_t n_start,
    const int32_t *parents, int64_t n_parents, const bool *is_new, int64_t n_is_new,
    uint64_t *signature, int64_t n_signature, bool *dominated, int64_t n_dominated
) {
    int64_t n_families = n_start - 1;
    CHECK(start[n_families] <= n_parents && begin[n_begin - 1] <= n_families);
    CHECK(n_is_new >= n_families && n_signature >= n_families && n_dominated >= n_families);
    for (int64_t family = 0; family < n_families; family++) {
        signature[family] = sign_family(parents + start[family], start[family + 1] - start[family]);
    }
    for (int64_t child = 0; child < n_begin - 1; child++) {
        for (int64_t family = begin[child]; family < begin[child + 1]; family++) {
            uint64_t outside = ~signature[family];
            for (int64_t better = begin[child]; better < family; better++) {
                /* A family with another bit is no subset. That spares nearly all comparisons. */
                if ((signature[better] & outside) != 0 || dominated[better]) continue;
                if (!is_new[family] && !is_new[better]) continue;
                if (is_subset(start, parents, better, family)) {
                    dominated[family] = true;
                    break;
                }
            }
        }
    }
}
