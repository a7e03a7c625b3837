#include "cache.h"

/* 43 bits of hash: the product with the multiplier (20 bits) stays below 2^63. */
#define HASH_BITS 0x7FFFFFFFFFF
enum { HASH_MULTIPLIER = 1000003, HASH_SHIFT = 21 };

static int64_t hash_family(const int32_t *family, int64_t size) {
    int64_t value = size;
    for (int64_t i = 0; i < size; i++) {
        value = ((value ^ ((int64_t) family[i] + 1)) * HASH_MULTIPLIER) & HASH_BITS;
        value ^= value >> HASH_SHIFT;
    }
    return value;
}

static bool
equals_entry(const CacheEntries *entries, int64_t entry, const int32_t *family, int64_t size) {
    int64_t at = entries->start[entry];
    if (entries->start[entry + 1] - at != size) return false;
    return memcmp(entries->members + at, family, (size_t) size * sizeof *family) == 0;
}

/* Return the slot of a family, or the empty slot for it. */
static int64_t find_slot(const CacheEntries *entries, const int32_t *family, int64_t size) {
    int64_t mask = entries->n_slots - 1;
    int64_t slot = hash_family(family, size) & mask;
    while (entries->slots[slot] >= 0 &&
           !equals_entry(entries, entries->slots[slot], family, size)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Return whether these members are a child and other variables in ascending order. */
static bool is_family(const int32_t *family, int64_t size, int64_t n_variables) {
    int32_t child = family[0], before = -1;
    bool fits = 0 <= child && child < n_variables;
    for (int64_t i = 1; i < size; i++) {
        fits = fits && before < family[i] && family[i] < n_variables && family[i] != child;
        before = family[i];
    }
    return fits;
}

int64_t find_or_add(
    const CacheEntries *entries, int64_t n_entries, const int32_t *members, int64_t n_members,
    const int64_t *start, int64_t n_start, int64_t n_variables, int64_t *found, int64_t n_found
) {
    CHECK(start[n_start - 1] <= n_members && n_found >= n_start - 1);
    for (int64_t f = 0; f < n_start - 1; f++) {
        const int32_t *family = members + start[f];
        int64_t size = start[f + 1] - start[f];
        if (!is_family(family, size, n_variables)) return -1;
        int64_t slot = find_slot(entries, family, size);
        if (entries->slots[slot] < 0) {
            int64_t at = entries->start[n_entries];
            CHECK(n_entries + 1 < entries->n_start && at + size <= entries->n_members);
            entries->slots[slot] = n_entries++;
            memcpy(entries->members + at, family, (size_t) size * sizeof *family);
            entries->start[n_entries] = at + size;
        }
        found[f] = entries->slots[slot];
    }
    return n_entries;
}

void insert_all(const CacheEntries *entries, int64_t n_entries) {
    for (int64_t entry = 0; entry < n_entries; entry++) {
        int64_t at = entries->start[entry];
        int64_t slot = find_slot(entries, entries->members + at, entries->start[entry + 1] - at);
        entries->slots[slot] = entry;
    }
}
