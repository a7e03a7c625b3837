/* Counting the configurations of a few variables: the hot loops of coevo.
 *
 * A table holds the counts (sufficient statistics) of k variables: the number of rows for each
 * joint configuration. Its axes are sorted by the rank of the variables. The most skewed variable
 * has the first and slowest axis. The same variables therefore always have the same order of
 * cells, whatever the family and its child.
 *
 * Nearly all real variables have a state that most rows share. A table is therefore built from the
 * end. It starts with the table of the last variables, which many families share (see family.h),
 * and adds one variable at a time in front of it. For each new variable only the rows are counted
 * in which it is not in its most common state. The counts of the most common state follow by
 * subtraction (the idea of the AD-tree of Moore and Lee 1998, without the tree). Such a step is a
 * level. There are two methods for a level:
 *
 *     rows   visit these rows one by one: the cost grows with their number;
 *     bits   AND their bit sets and count the bits: the cost grows with the cells.
 *
 * Where neither method pays off, count_all_rows makes one pass over all rows. All methods give the
 * same integers. The choice between them (estimate_level) changes only the time.
 *
 * A code is one byte. A variable with more than 256 states has a second row of codes, and only
 * passes over all rows count it.
 */
#ifndef ENGINE_COUNT_H
#define ENGINE_COUNT_H

#include "engine.h"

/* Columns of `facts`, which has one row for each variable. */
enum {
    ARITY,    /* number of states */
    RANK,     /* position in the order of the axes */
    COMMON,   /* the most common state */
    SINGLE,   /* where the counts of its states begin in the pool of shared tables */
    N_OTHERS, /* number of rows in which it is not in its most common state */
    COMPACT,  /* where its compact columns begin, or -1: these rows only, of the variable itself
                 and of every variable of higher rank, one column after another */
    BITS,     /* its first row of `bits`, or -1; the most common state has no row */
    HIGH,     /* the row of `codes` with the high bytes, or -1 if it has at most 256 states */
    N_FACTS
};

/* The arrays that counting needs of a dataset. */
typedef struct {
    const int64_t *facts; /* (n_vars, N_FACTS) */
    int64_t n_facts;
    int64_t facts_width;
    const uint8_t *codes; /* (n_vars and those with high bytes, n_stored) */
    int64_t n_codes;
    int64_t codes_width;
    const int64_t *weights; /* (n_stored,), or (0,) if every row counts once */
    int64_t n_weights;
    const uint8_t *compact; /* compact columns, see COMPACT */
    int64_t n_compact;
    const uint64_t *bits; /* (n_sets, n_words) */
    int64_t n_bits;
    int64_t bits_width;
} CountIndex;

/* A table over some variables, sorted by rank, and the memory to count it. */
typedef struct {
    const int32_t *variables;
    int64_t k; /* number of variables */
    int64_t n_cells;
    const int64_t *stride; /* of each axis */
    uint32_t *counts;
    uint32_t *twin;          /* as many cells as the table: a second table while rows are counted */
    uint64_t *words;         /* WORDS_PER_BLOCK for each axis: rows of a configuration */
    const uint32_t *singles; /* the counts of the states of each variable, see SINGLE */
} Table;

/* A block of a bit set is 4 KiB: one block for each axis fits into the L1 cache. A block of rows is
 * 8 or 16 KiB of joint codes. */
enum { WORDS_PER_BLOCK = 512, ROWS_PER_BLOCK = 4096 };

/* Levels count tables up to here: a joint code then takes two bytes, and twice as many fit into a
 * vector. */
enum { MOST_CELLS_BY_LEVELS = 1 << 16 };

/* The estimated cost of a level in nanoseconds, infinite if no method is possible. */
typedef struct {
    double cost;
    bool is_by_bits;
} Level;

/* Return one fact of a variable. */
INLINE int64_t get_fact(const int64_t *facts, int64_t variable, int64_t column) {
    return facts[variable * N_FACTS + column];
}

/* Overwrite the strides of a table over k variables; return its number of cells. */
INLINE int64_t
set_strides(const int64_t *facts, const int32_t *variables, int64_t k, int64_t *stride) {
    int64_t cells = 1;
    for (int64_t axis = k - 1; axis >= 0; axis--) {
        stride[axis] = cells;
        cells *= get_fact(facts, variables[axis], ARITY);
    }
    return cells;
}

/* Return the stride of a variable in the table over k variables, which may be in any order. */
INLINE int64_t
compute_stride(const int64_t *facts, const int32_t *variables, int64_t k, int64_t variable) {
    int64_t stride = 1, rank = get_fact(facts, variable, RANK);
    for (int64_t i = 0; i < k; i++) {
        bool is_faster = get_fact(facts, variables[i], RANK) > rank;
        if (is_faster) stride *= get_fact(facts, variables[i], ARITY);
    }
    return stride;
}

/* Return the cheaper method for a level in front of a table, and its cost.
 *
 * `first` is the variable of the level. `n_columns` and `stride` are the numbers of axes and of
 * cells of one of its states. `has_bits` says whether all later variables have bit sets. */
Level estimate_level(
    const CountIndex *index, int64_t first, int64_t n_columns, double stride, bool has_bits
);

/* Return the cost of one pass over all rows for a table over k variables. */
double estimate_pass(const CountIndex *index, int64_t k);

/* Add the variable of one axis in front of a table.
 *
 * Take the part of the table over the axes from `axis` on. On entry, the cells where the first
 * variable is in its most common state hold the counts over the later axes. On return, all cells of
 * this part are right. Variables of earlier axes stay in their most common state. */
void add_level(const CountIndex *index, const Table *table, int64_t axis, bool is_by_bits);

/* Overwrite a table with one pass over all rows. */
void count_all_rows(const CountIndex *index, const Table *table);

/* Copy the counts of the last variables, from `axis` on, to their part of a table. */
void copy_part(const CountIndex *index, const Table *table, int64_t axis, const uint32_t *part);

#endif
