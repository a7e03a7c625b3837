/* A batch of families: choose a counting method for each, count, score.
 *
 * plan_families sorts the variables of each family by rank, chooses a counting method by its
 * estimated cost and requests the shared tables of two and three variables. count_shared_tables
 * counts these tables, then evaluate_families counts the families and computes their scores.
 * evaluate_sparse counts the families whose tables would be too large. Only plan_families reserves
 * room for shared tables. The other functions may run on several threads, each on its own part of
 * the batch and of the pool.
 *
 * The shared tables are found in an open-addressing hash table that stays from batch to batch. The
 * table of a family is built on the table of its last three variables, and many families share
 * these variables. A table that nobody has counted yet has a price, the time to count it. Each
 * family that could be built on it adds what it would save to the credit of the table. The table is
 * counted when the credit reaches the price: in the first batch with enough such families, or when
 * enough of them have come in many small batches. Until then these families are counted in one pass
 * over the rows.
 *
 * The memory is bounded: when it is full, all shared tables are dropped. That costs time and
 * changes no count.
 */
#ifndef ENGINE_FAMILY_H
#define ENGINE_FAMILY_H

#include "count.h"
#include "score.h"

/* Counting methods: build the table level by level, count it in one pass over all rows, or count
 * only the configurations that occur (evaluate_sparse). */
enum { BY_LEVELS, ALL_ROWS, SPARSE };

/* Columns of the slots of shared tables. */
enum {
    KEY,    /* the variables as a number, or -1: the slot is empty */
    BEGIN,  /* the first cell in the pool, or -1: there is no table yet */
    CREDIT, /* nanoseconds that the table would have saved so far */
    SLOT_WIDTH
};

/* Cells of `used`. */
enum { USED_SLOTS, USED_CELLS };

/* Tables of one, two and three variables that the families of all batches share. */
typedef struct {
    int64_t *slots; /* (n_slots, SLOT_WIDTH): columns below */
    int64_t n_slots;
    int64_t slots_width;
    uint32_t *pool; /* the tables, one after another; tables of one variable first */
    int64_t n_pool;
    int64_t *used; /* (2,): the numbers of slots and of cells in use */
    int64_t n_used;
    int64_t n_singles; /* cells of the tables of one variable */
} SharedTables;

/* Working memory of one thread. */
typedef struct {
    uint32_t *counts; /* the table */
    int64_t n_counts;
    uint32_t *margin; /* the sums over the child; a second table while counting */
    int64_t n_margin;
    int64_t *stride; /* (most axes,): of each axis of the table */
    int64_t n_stride;
    int32_t *variables; /* (most axes,): for a family that is sorted by rank */
    int64_t n_variables;
    uint64_t *words; /* (most axes with bit sets, WORDS_PER_BLOCK) */
    int64_t n_words;
    int64_t words_width;
    double *rising; /* (RISING_ROWS, RISING_WIDTH), see score.h */
    int64_t n_rising;
    int64_t rising_width;
} Scratch;

/* The families of a batch, and the counting method that plan_families chooses. */
typedef struct {
    const int32_t *members; /* the child of each family, then its parents */
    int64_t n_members;
    const int64_t *start; /* (n + 1,): where each family begins */
    int64_t n_start;
    int32_t *variables; /* the same members, sorted by rank */
    int64_t n_variables;
    int8_t *method; /* (n,): the counting method */
    int64_t n_method;
    int64_t *shared_start; /* (n,): where the shared table begins in the pool */
    int64_t n_shared_start;
    int32_t *new_pairs; /* (n, 2): shared tables of two variables to count */
    int64_t n_new_pairs;
    int64_t new_pairs_width;
    int32_t *new_triples; /* (n, 3): shared tables of three variables to count */
    int64_t n_new_triples;
    int64_t new_triples_width;
} BatchPlan;

/* Where tables are added up over shards instead of being scored; empty without shards. */
typedef struct {
    const int64_t *begin; /* (n + 1,): where the table of each family begins */
    int64_t n_begin;
    uint32_t *cells;
    int64_t n_cells;
} TableSums;

/* Plan families from `first` on; return where it stops.
 *
 * Overwrite `requested` with the numbers of new pairs and new triples: tables to count before the
 * families. It stops early, before the first family whose tables do not fit into `shared`. The
 * caller must then clear `shared` before it continues. A table with more cells than `dense_limit`
 * is SPARSE. */
ENGINE_API int64_t plan_families(
    const CountIndex *index, const BatchPlan *batch, const SharedTables *shared, int64_t first,
    int64_t dense_limit, int64_t *requested, int64_t n_requested
);

/* Count shared tables that plan_families requests, from `first` to before `last`: the new pairs if
 * `size` is 2, or the new triples if it is 3. All pairs must be counted before the triples. */
ENGINE_API void count_shared_tables(
    const CountIndex *index, const BatchPlan *batch, int64_t size, int64_t first, int64_t last,
    const SharedTables *shared, const Scratch *scratch
);

/* Count families from `first` to before `last`; overwrite their scores, or add up their tables.
 *
 * Families that are SPARSE are skipped. */
ENGINE_API void evaluate_families(
    const CountIndex *index, const ScoreSpec *spec, const BatchPlan *batch, int64_t first,
    int64_t last, const SharedTables *shared, const Scratch *scratch, const TableSums *sums,
    double *scores, int64_t n_scores
);

/* Overwrite `variables` with k members, sorted by rank. */
INLINE void
sort_by_rank(const int64_t *facts, const int32_t *members, int64_t k, int32_t *variables) {
    for (int64_t n = 0; n < k; n++) {
        int64_t place = n, rank = get_fact(facts, members[n], RANK);
        while (place > 0 && get_fact(facts, variables[place - 1], RANK) > rank) {
            variables[place] = variables[place - 1];
            place--;
        }
        variables[place] = members[n];
    }
}

/* Return the stride of the child's axis. */
INLINE int64_t
find_stride(int64_t child, const int32_t *variables, int64_t k, const int64_t *stride) {
    for (int64_t axis = 0; axis < k; axis++) {
        if (variables[axis] == child) return stride[axis];
    }
    return 0;
}

#endif
