/* The families of an archive that are dominated: a subset has an equal or a higher score. */
#ifndef ENGINE_ARCHIVE_H
#define ENGINE_ARCHIVE_H

#include "engine.h"

/* Set dominated[family] if a subset of the family comes earlier in its child's list.
 *
 * Child v has the families begin[v] to begin[v + 1], from the best score to the worst. Family f has
 * the parents start[f] to start[f + 1], ascending. Old families do not dominate each other, so only
 * pairs with a new family are compared. `signature` is overwritten: a bit for each parent, modulo
 * 64. */
ENGINE_API void flag_dominated(
    const int64_t *begin, int64_t n_begin, const int64_t *start, int64_t n_start,
    const int32_t *parents, int64_t n_parents, const bool *is_new, int64_t n_is_new,
    uint64_t *signature, int64_t n_signature, bool *dominated, int64_t n_dominated
);

#endif
