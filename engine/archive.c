#include "archive.h"

/* Return whether all parents of one family are parents of another one; both ascend. */
static bool
is_subset(const int32_t *small, int64_t n_small, const int32_t *large, int64_t n_large) {
    int64_t at = 0;
    for (int64_t i = 0; i < n_small; i++) {
        while (at < n_large && large[at] < small[i]) at++;
        if (at == n_large || large[at] != small[i]) return false;
        at++;
    }
    return true;
}

static uint64_t sign_family(const int32_t *parents, int64_t n_parents) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < n_parents; i++) bits |= bit_of(parents[i]);
    return bits;
}

/* A family of a list, wherever the list is. */
typedef struct {
    double score;
    const int32_t *parents;
    int64_t n_parents;
} OneFamily;

static OneFamily get_old(const Families *old, int64_t family) {
    int64_t begin = old->start[family];
    return (OneFamily){old->score[family], old->parents + begin, old->start[family + 1] - begin};
}

static OneFamily get_added(const NewFamilies *added, int64_t family) {
    int64_t begin = added->start[family];
    return (OneFamily){
        added->score[family], added->parents + begin, added->start[family + 1] - begin
    };
}

/* Return whether one family of a child comes before another one; false if they are equal. */
static bool comes_before(OneFamily one, OneFamily other) {
    if (one.score != other.score) return one.score > other.score;
    if (one.n_parents != other.n_parents) return one.n_parents < other.n_parents;
    return one.n_parents > 0 && one.parents[0] < other.parents[0];
}

/* Return whether a new family comes before another one: by child, by rank, then by its number. */
static bool ranks_before(const NewFamilies *added, int64_t one, int64_t other) {
    if (added->child[one] != added->child[other]) return added->child[one] < added->child[other];
    OneFamily first = get_added(added, one), second = get_added(added, other);
    if (comes_before(first, second)) return true;
    return !comes_before(second, first) && one < other;
}

/* Let a family sink in a heap with the last one on top. */
static void sink(const NewFamilies *added, int64_t at, int64_t n) {
    int64_t *ranked = added->ranked;
    for (int64_t below = 2 * at + 1; below < n; below = 2 * at + 1) {
        if (below + 1 < n && ranks_before(added, ranked[below], ranked[below + 1])) below++;
        if (!ranks_before(added, ranked[at], ranked[below])) return;
        int64_t family = ranked[at];
        ranked[at] = ranked[below];
        ranked[below] = family;
        at = below;
    }
}

/* Sort the new families by a heap: no memory is needed, and no two of them are equal. */
static void rank_families(const NewFamilies *added) {
    int64_t n = added->n_child, *ranked = added->ranked;
    for (int64_t family = 0; family < n; family++) ranked[family] = family;
    for (int64_t at = n / 2; at-- > 0;) sink(added, at, n);
    for (int64_t last = n - 1; last > 0; last--) {
        int64_t family = ranked[0];
        ranked[0] = ranked[last];
        ranked[last] = family;
        sink(added, 0, last);
    }
}

/* Append a family to those of a child that begin at `begin`, unless one of them dominates it. */
static int64_t append_family(
    const MergedFamilies *merged, int64_t begin, int64_t n_families, OneFamily family, bool is_new
) {
    uint64_t signature = sign_family(family.parents, family.n_parents);
    for (int64_t better = begin; better < n_families; better++) {
        /* A family with another bit is no subset. That spares nearly all comparisons. */
        if ((merged->signature[better] & ~signature) != 0) continue;
        if (!is_new && !merged->is_new[better]) continue;
        int64_t start = merged->start[better], n_parents = merged->start[better + 1] - start;
        if (is_subset(merged->parents + start, n_parents, family.parents, family.n_parents)) {
            return n_families;
        }
    }
    int64_t start = merged->start[n_families];
    CHECK(n_families < merged->n_score && n_families < merged->n_signature);
    CHECK(start + family.n_parents <= merged->n_parents);
    memcpy(
        merged->parents + start, family.parents, (size_t) family.n_parents * sizeof *merged->parents
    );
    merged->score[n_families] = family.score;
    merged->signature[n_families] = signature;
    merged->is_new[n_families] = is_new;
    merged->start[n_families + 1] = start + family.n_parents;
    return n_families + 1;
}

/* Drop the worst families of the last child above a limit, but for the last two. */
static int64_t
drop_worst(const MergedFamilies *merged, int64_t begin, int64_t n_families, int64_t limit) {
    int64_t kept = begin + limit - 2;
    if (n_families - begin <= limit) return n_families;
    for (int64_t family = n_families - 2; family < n_families; family++, kept++) {
        int64_t start = merged->start[family], n_parents = merged->start[family + 1] - start;
        memmove(
            merged->parents + merged->start[kept], merged->parents + start,
            (size_t) n_parents * sizeof *merged->parents
        );
        merged->score[kept] = merged->score[family];
        merged->start[kept + 1] = merged->start[kept] + n_parents;
    }
    return kept;
}

int64_t merge_families(
    const Families *old, const NewFamilies *added, int64_t limit, const MergedFamilies *merged
) {
    int64_t n = old->n_begin - 1, n_families = 0, i = 0;
    CHECK(added->n_score == added->n_child && added->n_start == added->n_child + 1);
    CHECK(added->n_ranked >= added->n_child && merged->n_begin == old->n_begin && limit >= 2);
    CHECK(merged->n_is_new >= merged->n_signature && merged->n_start > merged->n_score);
    rank_families(added);
    merged->begin[0] = merged->start[0] = 0;
    for (int64_t child = 0; child < n; child++) {
        int64_t begin = n_families, family = old->begin[child];
        while (true) {
            bool has_old = family < old->begin[child + 1];
            bool has_new = i < added->n_child && added->child[added->ranked[i]] == child;
            if (!has_old && !has_new) break;
            /* Of equal families the old one comes first. */
            bool is_new =
                !has_old ||
                (has_new && comes_before(get_added(added, added->ranked[i]), get_old(old, family)));
            OneFamily next = is_new ? get_added(added, added->ranked[i++]) : get_old(old, family++);
            n_families = append_family(merged, begin, n_families, next, is_new);
        }
        n_families = drop_worst(merged, begin, n_families, limit);
        merged->begin[child + 1] = n_families;
    }
    CHECK(i == added->n_child); /* children are in range */
    return n_families;
}

int64_t merge_hashes(
    const uint64_t *old, int64_t n_old, const uint64_t *added, int64_t n_added, uint64_t *merged,
    int64_t n_merged
) {
    int64_t i = 0, j = 0, n = 0;
    CHECK(n_merged >= n_old + n_added);
    while (i < n_old || j < n_added) {
        bool is_old = j == n_added || (i < n_old && old[i] <= added[j]);
        uint64_t next = is_old ? old[i++] : added[j++];
        if (n == 0 || merged[n - 1] != next) merged[n++] = next;
    }
    return n;
}
