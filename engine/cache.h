/* The lookup of a family among millions: an open-addressing hash table with exact keys.
 *
 * `members` holds all families, one after another: the child first, then the parents in ascending
 * order. Entry e begins at start[e]. A slot holds an entry or -1. The lookup compares keys member
 * by member, so that it never confuses two families.
 */
#ifndef ENGINE_CACHE_H
#define ENGINE_CACHE_H

#include "engine.h"

/* The arrays of the table; `members` and `start` have room for more. */
typedef struct {
    int64_t *slots; /* a power of two, at most half full */
    int64_t n_slots;
    int64_t *start; /* capacity + 1 */
    int64_t n_start;
    int32_t *members;
    int64_t n_members;
} CacheEntries;

/* Overwrite found[f] with the entry of each family f; add the family if it is new.
 *
 * Return the new number of entries, or -1 at the first invalid family. The caller has made room for
 * all families and has checked that `start` fits `members`. */
ENGINE_API int64_t find_or_add(
    const CacheEntries *entries, int64_t n_entries, const int32_t *members, int64_t n_members,
    const int64_t *start, int64_t n_start, int64_t n_variables, int64_t *found, int64_t n_found
);

/* Insert all entries into empty slots, after the table has grown. */
ENGINE_API void insert_all(const CacheEntries *entries, int64_t n_entries);

#endif
