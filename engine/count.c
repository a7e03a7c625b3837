#include "count.h"
#include "bits.h"

/* Nanoseconds, measured by benchmarks/kernels.py on one core. Only their ratios matter. They decide
 * which method computes a result, and all methods give the same result. */
static const double ROWS = 50.0;                       /* to begin with rows */
static const double ROW = 0.42, ROW_AND_COLUMN = 0.05; /* a row, and each column of it */
static const double NODE = 12.0, WORD = 0.18;          /* a cell by bit sets, each word of a set */
static const double CELL = 1.0;                        /* to clear, subtract and add up a cell */

/* Tables of at most this size are counted in four parts, if there are so many rows for each cell.
 */
enum { MOST_CELLS_IN_PARTS = 1024, LEAST_ROWS_OF_A_CELL = 4 };

/* The cells of a table are numbers of 32 bits, so it cannot have more columns: a variable with two
 * columns has more than 2^8 states, and one with a single state needs no column. */
enum { MOST_COLUMNS = 32 };

Level estimate_level(
    const CountIndex *index, int64_t first, int64_t n_columns, double stride, bool has_bits
) {
    const int64_t *facts = index->facts;
    Level level = {INFINITY, false};
    if (get_fact(facts, first, COMPACT) >= 0) {
        double n_others = (double) get_fact(facts, first, N_OTHERS);
        level.cost = ROWS + n_others * (ROW + ROW_AND_COLUMN * (double) n_columns);
    }
    if (has_bits && get_fact(facts, first, BITS) >= 0) {
        double n_nodes = ((double) get_fact(facts, first, ARITY) - 1.0) * stride;
        double by_bits = n_nodes * (NODE + WORD * (double) index->bits_width);
        if (by_bits < level.cost) level = (Level){by_bits, true};
    }
    level.cost += CELL * stride;
    return level;
}

double estimate_pass(const CountIndex *index, int64_t k) {
    return ROWS + (double) index->codes_width * (ROW + ROW_AND_COLUMN * (double) k);
}

/* Return the first cell of the part of a table where the variables before an axis are in their most
 * common states. */
static int64_t find_part(const CountIndex *index, const Table *table, int64_t axis) {
    int64_t cell = 0;
    for (int64_t earlier = 0; earlier < axis; earlier++) {
        cell += get_fact(index->facts, table->variables[earlier], COMMON) * table->stride[earlier];
    }
    return cell;
}

/* ---- Counting rows ---- */

/* Columns of codes, and the distance of two states of each in the table. */
typedef struct {
    const uint8_t *codes[MOST_COLUMNS];
    uint32_t stride[MOST_COLUMNS];
    int64_t n;
} Columns;

static void add_column(Columns *columns, const uint8_t *codes, int64_t stride) {
    CHECK(columns->n < MOST_COLUMNS);
    columns->codes[columns->n] = codes;
    columns->stride[columns->n++] = (uint32_t) stride;
}

/* Overwrite `joint` with the cells of a block of rows.
 *
 * The vector unit does that, before the cells are counted one by one. Two bytes for a cell, where
 * they suffice, are twice as fast as four: there is one function for each. */
#define DEFINE_JOIN(NAME, JOINT)                                                                   \
    static void NAME(const Columns *columns, int64_t start, int64_t n, JOINT *restrict joint) {    \
        for (int64_t c = 0; c < columns->n; c++) {                                                 \
            const uint8_t *restrict codes = columns->codes[c] + start;                             \
            JOINT stride = (JOINT) columns->stride[c];                                             \
            if (c == 0) {                                                                          \
                for (int64_t i = 0; i < n; i++) joint[i] = (JOINT) (codes[i] * stride);            \
            } else {                                                                               \
                for (int64_t i = 0; i < n; i++) joint[i] += (JOINT) (codes[i] * stride);           \
            }                                                                                      \
        }                                                                                          \
    }

/* Count the cells in `joint`, in four tables by turns.
 *
 * Neighbouring rows often share a cell, and the processor must finish one addition to a cell before
 * the next. With several tables it waits less often. */
#define DEFINE_ADD(NAME, JOINT)                                                                    \
    static void NAME(const JOINT *joint, int64_t n, uint32_t *const *tables) {                     \
        uint32_t *one = tables[0], *two = tables[1], *three = tables[2], *four = tables[3];        \
        int64_t i = 0;                                                                             \
        for (; i + 4 <= n; i += 4) {                                                               \
            one[joint[i]]++;                                                                       \
            two[joint[i + 1]]++;                                                                   \
            three[joint[i + 2]]++;                                                                 \
            four[joint[i + 3]]++;                                                                  \
        }                                                                                          \
        for (; i < n; i++) one[joint[i]]++;                                                        \
    }

DEFINE_JOIN(join_short, uint16_t)
DEFINE_JOIN(join_long, uint32_t)
DEFINE_ADD(add_short, uint16_t)
DEFINE_ADD(add_long, uint32_t)

/* Return the length of the block that begins at `start`. */
INLINE int64_t clip_block(int64_t start, int64_t n, int64_t size) {
    return n - start < size ? n - start : size;
}

/* Add rows to a table. `twin` has room for as many cells, and for 3 * MOST_CELLS_IN_PARTS. */
static void count_rows(
    const Columns *columns, int64_t n_rows, uint32_t *restrict counts, uint32_t *restrict twin,
    int64_t n_cells
) {
    bool is_in_parts = n_cells <= MOST_CELLS_IN_PARTS && n_cells * LEAST_ROWS_OF_A_CELL <= n_rows;
    int64_t n_twins = is_in_parts ? 3 : 1;
    uint32_t *tables[4] = {counts, twin, counts, twin};
    if (is_in_parts) tables[2] = twin + n_cells, tables[3] = twin + 2 * n_cells;
    memset(twin, 0, (size_t) (n_twins * n_cells) * sizeof *twin);
    for (int64_t start = 0; start < n_rows; start += ROWS_PER_BLOCK) {
        int64_t n = clip_block(start, n_rows, ROWS_PER_BLOCK);
        if (n_cells <= MOST_CELLS_BY_LEVELS) {
            uint16_t joint[ROWS_PER_BLOCK];
            join_short(columns, start, n, joint);
            for (int64_t i = 0; i < n; i++) CHECK(joint[i] < n_cells);
            add_short(joint, n, tables);
        } else {
            uint32_t joint[ROWS_PER_BLOCK];
            join_long(columns, start, n, joint);
            for (int64_t i = 0; i < n; i++) CHECK(joint[i] < n_cells);
            add_long(joint, n, tables);
        }
    }
    for (int64_t part = 0; part < n_twins; part++, twin += n_cells) {
        for (int64_t cell = 0; cell < n_cells; cell++) counts[cell] += twin[cell];
    }
}

/* Add rows with weights to a table. */
static void count_weighted_rows(
    const Columns *columns, int64_t n_rows, const int64_t *weights, uint32_t *counts,
    int64_t n_cells
) {
    uint32_t joint[ROWS_PER_BLOCK];
    for (int64_t start = 0; start < n_rows; start += ROWS_PER_BLOCK) {
        int64_t n = clip_block(start, n_rows, ROWS_PER_BLOCK);
        join_long(columns, start, n, joint);
        for (int64_t i = 0; i < n; i++) CHECK(joint[i] < n_cells);
        for (int64_t i = 0; i < n; i++) counts[joint[i]] += (uint32_t) weights[start + i];
    }
}

void count_all_rows(const CountIndex *index, const Table *table) {
    Columns columns = {.n = 0};
    int64_t n_rows = index->codes_width;
    for (int64_t axis = 0; axis < table->k; axis++) {
        int64_t variable = table->variables[axis], stride = table->stride[axis];
        int64_t high = get_fact(index->facts, variable, HIGH);
        if (get_fact(index->facts, variable, ARITY) > 1 || axis == table->k - 1) {
            add_column(&columns, index->codes + variable * n_rows, stride);
        }
        if (high >= 0) add_column(&columns, index->codes + high * n_rows, 256 * stride);
    }
    memset(table->counts, 0, (size_t) table->n_cells * sizeof *table->counts);
    if (index->n_weights) {
        count_weighted_rows(&columns, n_rows, index->weights, table->counts, table->n_cells);
    } else {
        count_rows(&columns, n_rows, table->counts, table->twin, table->n_cells);
    }
}

/* Count the rows in which the variable of an axis is not in its most common state. They are
 * contiguous in its compact columns. */
static void
count_by_rows(const CountIndex *index, const Table *table, int64_t axis, uint32_t *counts) {
    int64_t first = table->variables[axis], arity = get_fact(index->facts, first, ARITY);
    int64_t n_others = get_fact(index->facts, first, N_OTHERS);
    int64_t rank = get_fact(index->facts, first, RANK);
    const uint8_t *compact = index->compact + get_fact(index->facts, first, COMPACT);
    Columns columns = {.n = 0};
    for (int64_t later = axis; later < table->k; later++) {
        int64_t place = get_fact(index->facts, table->variables[later], RANK) - rank;
        if (get_fact(index->facts, table->variables[later], ARITY) > 1) {
            add_column(&columns, compact + place * n_others, table->stride[later]);
        }
    }
    count_rows(&columns, n_others, counts, table->twin, arity * table->stride[axis]);
}

/* ---- Counting bits ---- */

/* A table, and a block of words of all bit sets. */
typedef struct {
    const int64_t *facts;
    const Table *table;
    const uint64_t *bits; /* the first word of the block, in the first set */
    int64_t n_words;      /* of the block */
    int64_t bits_width;   /* of a bit set */
} Block;

/* Count all configurations of the axes from `axis` on within a set of rows, depth first.
 *
 * `cell` counts the rows of the set: there, the variables from `axis` on are in any state. The most
 * common state of a variable is counted as "any state", which needs no AND. The search goes no
 * deeper where no row is left. */
static void count_configurations(
    const Block *block, int64_t axis, const uint64_t *rows, int64_t cell, uint64_t *room
) {
    const Table *table = block->table;
    for (int64_t later = axis; later < table->k; later++) {
        int64_t variable = table->variables[later], stride = table->stride[later];
        int64_t common = get_fact(block->facts, variable, COMMON);
        int64_t arity = get_fact(block->facts, variable, ARITY);
        const uint64_t *set =
            block->bits + get_fact(block->facts, variable, BITS) * block->bits_width;
        for (int64_t state = 0; state < arity; state++) {
            if (state == common) continue;
            int64_t next = cell + (state - common) * stride;
            if (later == table->k - 1) {
                table->counts[next] += (uint32_t) and_count(rows, set, block->n_words);
            } else {
                int64_t found = and_store(rows, set, block->n_words, room);
                table->counts[next] += (uint32_t) found;
                if (found) {
                    count_configurations(block, later + 1, room, next, room + WORDS_PER_BLOCK);
                }
            }
            set += block->bits_width;
        }
    }
}

/* Turn counts of "any state" into counts of the most common state, on the axes after `axis`. The
 * counts begin at `cell`. */
static void
subtract_other_states(const CountIndex *index, const Table *table, int64_t axis, int64_t cell) {
    for (int64_t later = axis + 1; later < table->k; later++) {
        int64_t variable = table->variables[later], stride = table->stride[later];
        int64_t common = get_fact(index->facts, variable, COMMON);
        int64_t arity = get_fact(index->facts, variable, ARITY);
        uint32_t *end = table->counts + cell + table->stride[axis];
        for (uint32_t *part = table->counts + cell; part < end; part += arity * stride) {
            uint32_t *rest = part + common * stride;
            for (int64_t state = 0; state < arity; state++) {
                if (state == common) continue;
                for (int64_t i = 0; i < stride; i++) rest[i] -= part[state * stride + i];
            }
        }
    }
}

/* Count the same rows as count_by_rows with bit sets. The table begins at `cell`.
 *
 * A block of all sets is used for all configurations before the next block: it stays in the
 * cache. */
static void count_by_bits(const CountIndex *index, const Table *table, int64_t axis, int64_t cell) {
    const int64_t *facts = index->facts;
    int64_t first = table->variables[axis], arity = get_fact(facts, first, ARITY);
    int64_t common = get_fact(facts, first, COMMON), stride = table->stride[axis];
    const uint32_t *single = table->singles + get_fact(facts, first, SINGLE);
    int64_t any = cell; /* all later variables in their most common state: any state, so far */
    for (int64_t later = axis + 1; later < table->k; later++) {
        any += get_fact(facts, table->variables[later], COMMON) * table->stride[later];
    }
    for (int64_t state = 0; state < arity; state++) {
        if (state != common) table->counts[any + state * stride] = single[state];
    }
    for (int64_t start = 0; start < index->bits_width; start += WORDS_PER_BLOCK) {
        int64_t n_words = clip_block(start, index->bits_width, WORDS_PER_BLOCK);
        Block block = {facts, table, index->bits + start, n_words, index->bits_width};
        const uint64_t *set = block.bits + get_fact(facts, first, BITS) * block.bits_width;
        for (int64_t state = 0; state < arity; state++) {
            if (state == common) continue;
            count_configurations(&block, axis + 1, set, any + state * stride, table->words);
            set += block.bits_width;
        }
    }
    for (int64_t state = 0; state < arity; state++) {
        if (state != common) subtract_other_states(index, table, axis, cell + state * stride);
    }
}

void add_level(const CountIndex *index, const Table *table, int64_t axis, bool is_by_bits) {
    int64_t first = table->variables[axis], arity = get_fact(index->facts, first, ARITY);
    int64_t common = get_fact(index->facts, first, COMMON), stride = table->stride[axis];
    int64_t cell = find_part(index, table, axis);
    uint32_t *counts = table->counts + cell, *rest = counts + common * stride;
    for (int64_t state = 0; state < arity; state++) {
        if (state != common) memset(counts + state * stride, 0, (size_t) stride * sizeof *counts);
    }
    if (is_by_bits) {
        count_by_bits(index, table, axis, cell);
    } else {
        count_by_rows(index, table, axis, counts);
    }
    for (int64_t state = 0; state < arity; state++) {
        if (state == common) continue;
        for (int64_t i = 0; i < stride; i++) rest[i] -= counts[state * stride + i];
    }
}

void copy_part(const CountIndex *index, const Table *table, int64_t axis, const uint32_t *part) {
    uint32_t *counts = table->counts + find_part(index, table, axis);
    int64_t arity = get_fact(index->facts, table->variables[axis], ARITY);
    memcpy(counts, part, (size_t) (arity * table->stride[axis]) * sizeof *part);
}
