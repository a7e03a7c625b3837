#include "gibbs.h"

/* The cells of a block of rows fit into the L1 cache, with the codes of the parents. */
enum { ROWS_PER_BLOCK = 1024 };

/* Weights are rescaled when the highest one is below: no product of hundreds of children vanishes.
 */
#define MIN_WEIGHT 1e-100

static void check_tables(const FamilyTables *tables, int64_t n_codes) {
    int64_t n = tables->n_arity;
    CHECK(n_codes == n && tables->n_prior == n && tables->n_first == n);
    CHECK(
        tables->n_first_margin == n && tables->n_start == n + 1 && tables->n_child_start == n + 1
    );
    CHECK(tables->start[n] == tables->n_parents && tables->n_stride == tables->n_parents);
    CHECK(tables->child_start[n] == tables->n_children);
    CHECK(tables->n_child_stride == tables->n_children);
}

/* Return the number of cells of the table of v. */
INLINE int64_t get_size(const FamilyTables *tables, int64_t v) {
    int64_t end = v + 1 < tables->n_first ? tables->first[v + 1] : tables->n_counts;
    return end - tables->first[v];
}

/* ---- Counting all rows ---- */

/* Overwrite cells[i] with the cell of the i-th of n rows, relative to the start of the table. */
static void find_cells(
    const FamilyTables *tables, int64_t v, const uint16_t *row, int64_t width, int64_t n,
    int64_t *restrict cells
) {
    const uint16_t *restrict own = row + v * width;
    for (int64_t i = 0; i < n; i++) cells[i] = own[i];
    for (int64_t p = tables->start[v]; p < tables->start[v + 1]; p++) {
        const uint16_t *restrict codes = row + tables->parents[p] * width;
        int64_t stride = tables->stride[p];
        for (int64_t i = 0; i < n; i++) cells[i] += stride * codes[i];
    }
}

/* Overwrite the margin of v with the sums of its counts over the states of v. */
static void sum_margin(const FamilyTables *tables, int64_t v) {
    const int64_t *counts = tables->counts + tables->first[v];
    int64_t *margin = tables->margins + tables->first_margin[v];
    int64_t size = get_size(tables, v), arity = tables->arity[v];
    for (int64_t cell = 0; cell < size; cell += arity, margin++) {
        *margin = 0;
        for (int64_t state = 0; state < arity; state++) *margin += counts[cell + state];
    }
}

void add_rows(
    const FamilyTables *tables, const uint16_t *codes, int64_t n_codes, int64_t codes_width
) {
    check_tables(tables, n_codes);
    int64_t cells[ROWS_PER_BLOCK];
    for (int64_t v = 0; v < tables->n_arity; v++) {
        int64_t *counts = tables->counts + tables->first[v];
        for (int64_t row = 0; row < codes_width; row += ROWS_PER_BLOCK) {
            int64_t n = codes_width - row < ROWS_PER_BLOCK ? codes_width - row : ROWS_PER_BLOCK;
            find_cells(tables, v, codes + row, codes_width, n, cells);
            for (int64_t i = 0; i < n; i++) {
                CHECK(cells[i] < get_size(tables, v));
                counts[cells[i]]++;
            }
        }
        sum_margin(tables, v);
    }
}

/* ---- One value ---- */

/* From here on, `row` points to the code of variable 0 in a row; that of v is row[v * width]. */

/* Return the cell that counts a row, relative to the start of the table of v. */
INLINE int64_t
find_cell(const FamilyTables *tables, int64_t v, const uint16_t *row, int64_t width) {
    int64_t cell = row[v * width];
    for (int64_t p = tables->start[v]; p < tables->start[v + 1]; p++) {
        cell += tables->stride[p] * row[tables->parents[p] * width];
    }
    CHECK(cell < get_size(tables, v));
    return cell;
}

/* The cells of a child's family that a row may be in, one for each state of a variable. */
typedef struct {
    int64_t *counts; /* of state 0 */
    int64_t *margins;
    int64_t stride, margin_stride; /* between two states */
} ChildCells;

/* Return the cells of the family of children[i] for the states of its parent v. */
INLINE ChildCells find_child_cells(
    const FamilyTables *tables, int64_t i, int64_t v, const uint16_t *row, int64_t width
) {
    int64_t child = tables->children[i], stride = tables->child_stride[i];
    int64_t arity = tables->arity[child];
    int64_t base = find_cell(tables, child, row, width) - stride * row[v * width];
    CHECK(base >= 0 && base + stride * (tables->arity[v] - 1) < get_size(tables, child));
    return (ChildCells){
        .counts = tables->counts + tables->first[child] + base,
        .margins = tables->margins + tables->first_margin[child] + base / arity,
        .stride = stride,
        .margin_stride = stride / arity,
    };
}

/* Change the state of v in a row, in the codes and in all tables that contain v. */
static void
change_value(const FamilyTables *tables, int64_t v, uint16_t *row, int64_t width, int64_t new) {
    int64_t old = row[v * width];
    int64_t *own = tables->counts + tables->first[v] + find_cell(tables, v, row, width) - old;
    own[old]--;
    own[new]++;
    for (int64_t i = tables->child_start[v]; i < tables->child_start[v + 1]; i++) {
        ChildCells cells = find_child_cells(tables, i, v, row, width);
        cells.counts[cells.stride * old]--;
        cells.counts[cells.stride * new]++;
        cells.margins[cells.margin_stride * old]--;
        cells.margins[cells.margin_stride * new]++;
    }
    row[v * width] = (uint16_t) new;
}

/* Multiply each weight by the probability of the child's state; return the highest weight. */
INLINE double multiply_by_child(
    double *restrict weights, int64_t n_states, int64_t current, ChildCells cells, double prior,
    int64_t arity
) {
    double highest = 0.0;
    for (int64_t state = 0; state < n_states; state++) {
        int64_t own_row = state == current;
        double n = (double) (cells.counts[cells.stride * state] - own_row) + prior;
        double margin = (double) (cells.margins[cells.margin_stride * state] - own_row);
        weights[state] *= n / (margin + prior * (double) arity);
        if (weights[state] > highest) highest = weights[state];
    }
    return highest;
}

/* Overwrite the weights with the probability of each state of a value, given all other values.
 *
 * They are not normalised. The counts exclude the value's own row. */
INLINE void
compute_weights(const FamilyTables *tables, int64_t v, const uint16_t *row, int64_t width) {
    double *weights = tables->weights;
    int64_t n_states = tables->arity[v], current = row[v * width];
    CHECK(n_states <= tables->n_weights && current < n_states);
    const int64_t *own = tables->counts + tables->first[v];
    own += find_cell(tables, v, row, width) - current;
    for (int64_t state = 0; state < n_states; state++) {
        weights[state] = (double) (own[state] - (state == current)) + tables->prior[v];
    }
    for (int64_t i = tables->child_start[v]; i < tables->child_start[v + 1]; i++) {
        int64_t child = tables->children[i];
        ChildCells cells = find_child_cells(tables, i, v, row, width);
        double highest = multiply_by_child(
            weights, n_states, current, cells, tables->prior[child], tables->arity[child]
        );
        if (highest < MIN_WEIGHT) {
            for (int64_t state = 0; state < n_states; state++) weights[state] /= highest;
        }
    }
}

/* Return a random state; add the probabilities of all states to `totals`, unless it is NULL. */
INLINE int64_t
draw_state(const double *restrict weights, int64_t arity, double uniform, double *restrict totals) {
    double total = 0.0;
    for (int64_t state = 0; state < arity; state++) total += weights[state];
    if (totals) {
        for (int64_t state = 0; state < arity; state++) totals[state] += weights[state] / total;
    }
    double remaining = uniform * total;
    for (int64_t state = 0; state < arity - 1; state++) {
        remaining -= weights[state];
        if (remaining < 0) return state;
    }
    return arity - 1;
}

/* Return the state of highest weight; the current one if it is among the highest. */
INLINE int64_t find_most_probable(const double *weights, int64_t arity, int64_t current) {
    int64_t best = current;
    for (int64_t state = 0; state < arity; state++) {
        if (weights[state] > weights[best]) best = state;
    }
    return best;
}

/* ---- All values ---- */

void draw_values(
    const FamilyTables *tables, uint16_t *codes, int64_t n_codes, int64_t codes_width,
    const int64_t *variables, int64_t n_variables, const int64_t *rows, int64_t n_rows,
    const double *uniforms, int64_t n_uniforms, double *totals, int64_t n_totals,
    int64_t totals_width
) {
    check_tables(tables, n_codes);
    CHECK(n_variables == n_rows && n_uniforms == n_rows && (!n_totals || n_totals == n_rows));
    for (int64_t i = 0; i < n_rows; i++) {
        int64_t v = variables[i], arity = tables->arity[v];
        CHECK(0 <= v && v < n_codes && 0 <= rows[i] && rows[i] < codes_width);
        CHECK(!n_totals || arity <= totals_width);
        uint16_t *row = codes + rows[i];
        compute_weights(tables, v, row, codes_width);
        double *own_totals = n_totals ? totals + i * totals_width : NULL;
        int64_t chosen = draw_state(tables->weights, arity, uniforms[i], own_totals);
        if (chosen != row[v * codes_width]) change_value(tables, v, row, codes_width, chosen);
    }
}

int64_t maximise_values(
    const FamilyTables *tables, uint16_t *codes, int64_t n_codes, int64_t codes_width,
    const int64_t *variables, int64_t n_variables, const int64_t *rows, int64_t n_rows
) {
    check_tables(tables, n_codes);
    CHECK(n_variables == n_rows);
    int64_t n_changed = 0;
    for (int64_t i = 0; i < n_rows; i++) {
        int64_t v = variables[i];
        CHECK(0 <= v && v < n_codes && 0 <= rows[i] && rows[i] < codes_width);
        uint16_t *row = codes + rows[i];
        int64_t current = row[v * codes_width];
        compute_weights(tables, v, row, codes_width);
        int64_t chosen = find_most_probable(tables->weights, tables->arity[v], current);
        if (chosen == current) continue;
        change_value(tables, v, row, codes_width, chosen);
        n_changed++;
    }
    return n_changed;
}
