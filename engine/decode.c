#include "decode.h"

enum { WORD_BITS = 64 };
enum { PLACED = -1 }; /* instead of a number of parents: the variable is in the order */

/* The hash of a family: a multiplication spreads its bits to higher ones, a shift to lower ones. */
#define HASH_MULTIPLIER UINT64_C(0x9E3779B97F4A7C15) /* 2^64 / golden ratio, odd */
enum { HASH_SHIFT = 29 };

/* Overwrite `read` with the order in which required parents come first.
 *
 * `waiting` has for each variable the number of required parents; it is used up. */
static void
read_order(const int64_t *order, const bool *required, int64_t n, int64_t *waiting, int64_t *read) {
    int64_t first = 0; /* all before it are placed */
    for (int64_t place = 0; place < n; place++) {
        while (waiting[order[first]] == PLACED) first++;
        int64_t at = first;
        while (waiting[order[at]] != 0) {
            at++;
            CHECK(at < n); /* else the required arcs have a cycle */
        }
        int64_t taken = order[at];
        read[place] = taken;
        waiting[taken] = PLACED;
        const bool *row = required + taken * n, *arc = row;
        while ((arc = memchr(arc, true, (size_t) (row + n - arc))) != NULL) waiting[arc++ - row]--;
    }
}

void read_orders(
    const int64_t *orders, int64_t n_orders, int64_t orders_width, const bool *required,
    int64_t n_required, int64_t required_width, int64_t *counts, int64_t n_counts,
    int64_t counts_width, int64_t *read, int64_t n_read, int64_t read_width
) {
    int64_t n = orders_width, *waiting = counts + n;
    CHECK(n_required == n && required_width == n && n_counts == 2 && counts_width == n);
    CHECK(n_read == n_orders && read_width == n);
    count_required(required, n, counts);
    for (int64_t i = 0; i < n_orders; i++) {
        memcpy(waiting, counts, (size_t) n * sizeof *counts);
        read_order(orders + i * n, required, n, waiting, read + i * n);
    }
}

/* Make a parent of a child in bit sets. */
INLINE void add_parent(uint64_t *sets, int64_t n, int64_t parent, int64_t child) {
    uint64_t place = (uint64_t) parent;
    sets[(int64_t) (place / WORD_BITS) * n + child] |= UINT64_C(1) << place % WORD_BITS;
}

/* Store what is the same in all solutions: the required parents. */
static void
start_scratch(const DecodeRules *rules, const ParentLimits *limits, const DecodeScratch *scratch) {
    int64_t n = rules->n_required;
    memset(scratch->required_sets, 0, (size_t) (n * scratch->n_sets) * sizeof(uint64_t));
    if (!rules->any_rule) return;
    count_required(rules->required, n, scratch->required_counts);
    count_cells(rules->required, n, limits->arities, scratch->required_cells);
    for (int64_t pair = 0; pair < n * n; pair++) {
        if (rules->required[pair]) add_parent(scratch->required_sets, n, pair / n, pair % n);
    }
}

/* Overwrite `sets` with the parents of each variable in a solution. */
static void read_parents(
    const Solutions *solutions, int64_t s, const DecodeRules *rules, const ParentLimits *limits,
    const DecodeScratch *scratch, uint64_t *restrict sets
) {
    int64_t n = solutions->orders_width, *counts = scratch->counts;
    const int64_t *order = solutions->orders + solutions->order_of[s] * n;
    double *cells = scratch->cells;
    if (rules->any_required) {
        memcpy(counts, scratch->required_counts, (size_t) n * sizeof *counts);
        read_order(order, rules->required, n, counts, scratch->order);
        order = scratch->order;
    }
    if (rules->any_rule) {
        memcpy(counts, scratch->required_counts, (size_t) n * sizeof *counts);
        memcpy(cells, scratch->required_cells, (size_t) n * sizeof *cells);
    }
    memcpy(sets, scratch->required_sets, (size_t) (n * scratch->n_sets) * sizeof *sets);
    PairReader reader = start_reader(solutions, s);
    while (read_pair(&reader)) {
        int64_t parent = order[reader.upper], child = order[reader.lower];
        if (rules->any_rule) {
            int64_t pair = parent * n + child;
            if (!rules->allowed[pair] || rules->required[pair]) continue;
            if (!take_parent(limits, child, parent, counts, cells)) continue;
        }
        add_parent(sets, n, parent, child);
    }
}

/* Overwrite `hashes` with the hash of the family of each variable. */
static void hash_families(
    const uint64_t *restrict sets, int64_t n_words, int64_t n, uint64_t *restrict hashes
) {
    for (int64_t child = 0; child < n; child++) hashes[child] = (uint64_t) child + 1;
    for (int64_t word = 0; word < n_words; word++) {
        for (int64_t child = 0; child < n; child++) {
            uint64_t hash = (hashes[child] ^ sets[word * n + child]) * HASH_MULTIPLIER;
            hashes[child] = hash ^ hash >> HASH_SHIFT;
        }
    }
}

/* Return whether a family of the table is that of a child. */
static bool equals_family(
    const FamilyTable *known, int64_t family, const uint64_t *sets, int64_t n, int64_t child
) {
    const uint64_t *words = known->families + family * known->families_width;
    if (words[0] != (uint64_t) child) return false;
    for (int64_t word = 1; word < known->families_width; word++) {
        if (words[word] != sets[(word - 1) * n + child]) return false;
    }
    return true;
}

/* Return the slot of the family of a child, or the empty slot for it. */
static int64_t
find_slot(const FamilyTable *known, uint64_t hash, const uint64_t *sets, int64_t n, int64_t child) {
    int64_t mask = known->n_slots - 1, slot = (int64_t) hash & mask;
    while (known->slots[slot] >= 0 && !equals_family(known, known->slots[slot], sets, n, child)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Append the family of a child to the table; return its size. */
static int64_t append_family(
    const FamilyTable *known, int64_t n_families, const uint64_t *sets, int64_t n, int64_t child
) {
    CHECK(n_families < known->n_families);
    uint64_t *words = known->families + n_families * known->families_width;
    int64_t size = 1;
    words[0] = (uint64_t) child;
    for (int64_t word = 1; word < known->families_width; word++) {
        words[word] = sets[(word - 1) * n + child];
        size += __builtin_popcountll(words[word]);
    }
    return size;
}

/* Ask the processor for the memory where the families of a solution are likely to be. */
static void prefetch_families(const FamilyTable *known, const uint64_t *hashes, int64_t n) {
    uint64_t mask = (uint64_t) known->n_slots - 1;
    for (int64_t child = 0; child < n; child++) {
        __builtin_prefetch(known->slots + (hashes[child] & mask));
    }
    for (int64_t child = 0; child < n; child++) {
        int64_t family = known->slots[hashes[child] & mask];
        if (family >= 0) __builtin_prefetch(known->families + family * known->families_width);
    }
}

static void check_decoding(
    const Solutions *solutions, const DecodeRules *rules, const ParentLimits *limits,
    const FamilyTable *known, const DecodeScratch *scratch
) {
    int64_t n = solutions->orders_width, n_words = (n + WORD_BITS - 1) / WORD_BITS;
    check_solutions(solutions);
    CHECK(rules->n_allowed == n && rules->allowed_width == n && limits->n_arities == n);
    CHECK(rules->n_required == n && rules->required_width == n);
    CHECK(known->families_width == n_words + 1 && known->n_slots >= 2 * known->n_families);
    CHECK((known->n_slots & (known->n_slots - 1)) == 0);
    CHECK(rules->any_rule || !rules->any_required);
    CHECK(scratch->n_required_sets == n_words && scratch->required_sets_width == n);
    CHECK(scratch->n_sets == n_words && scratch->sets_width == n);
    CHECK(scratch->n_required_counts == n && scratch->n_counts == n && scratch->n_order == n);
    CHECK(scratch->n_required_cells == n && scratch->n_cells == n);
    CHECK(scratch->n_hashes == n);
}

int64_t read_families(
    const Solutions *solutions, const DecodeRules *rules, const ParentLimits *limits,
    const FamilyTable *known, const DecodeScratch *scratch, int64_t n_known, int32_t *which,
    int64_t n_which, int64_t which_width, int64_t *start, int64_t n_start
) {
    int64_t n = solutions->orders_width, n_words = scratch->n_sets, n_families = n_known;
    uint64_t *sets = scratch->sets, *hashes = scratch->hashes;
    check_decoding(solutions, rules, limits, known, scratch);
    CHECK(n_which == solutions->n_order_of && which_width == n && n_start > n_which * n);
    start_scratch(rules, limits, scratch);
    start[0] = 0;
    for (int64_t s = 0; s < n_which; s++, which += n) {
        read_parents(solutions, s, rules, limits, scratch, sets);
        hash_families(sets, n_words, n, hashes);
        prefetch_families(known, hashes, n);
        for (int64_t child = 0; child < n; child++) {
            int64_t slot = find_slot(known, hashes[child], sets, n, child);
            if (known->slots[slot] < 0) {
                start[1] = start[0] + append_family(known, n_families, sets, n, child);
                start++;
                known->slots[slot] = (int32_t) n_families++;
            }
            which[child] = known->slots[slot];
        }
    }
    return n_families;
}

void list_members(const FamilyTable *known, int64_t first, int32_t *members, int64_t n_members) {
    int64_t n_words = known->families_width - 1, at = 0;
    for (int64_t family = first; at < n_members; family++) {
        CHECK(family < known->n_families);
        const uint64_t *words = known->families + family * known->families_width;
        members[at++] = (int32_t) words[0];
        for (int64_t word = 0; word < n_words; word++) {
            for (uint64_t left = words[1 + word]; left != 0; left &= left - 1) {
                CHECK(at < n_members);
                members[at++] = (int32_t) (word * WORD_BITS + __builtin_ctzll(left));
            }
        }
    }
}
