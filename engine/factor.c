#include "factor.h"

#include <fenv.h>

/* Cells are computed in blocks: long enough for vector instructions, short enough for the stack and
 * the first-level cache. */
enum { LONG_ENOUGH = 64, BLOCK = 1024 };

/* A factor whose largest cell is below 2 to this power is scaled. A product of MAX_INPUTS factors
 * is then far above the smallest float wherever all of them are near their largest cells. */
enum { LEAST_EXPONENT = -32 };

/* How the cells of an input lie in a block. */
typedef enum { ONE_CELL, DENSE, SCATTERED } Layout;

/* The factors that a step multiplies, with the axes of its output. */
typedef struct {
    int64_t n_axes, n_inputs, n_summed;
    int64_t size[MAX_AXES];
    const double *input[MAX_INPUTS];
    int64_t stride[MAX_INPUTS][MAX_AXES]; /* 0 where an input has no such axis */
    int64_t summed_stride[MAX_INPUTS];
} Product;

/* The block of a product: its last axes. */
typedef struct {
    int64_t first_axis, n_cells;
    Layout layout[MAX_INPUTS];
    int64_t at[MAX_INPUTS][BLOCK]; /* of each cell, in the input */
} Block;

static const double *find_cells(
    const NetworkTables *network, const EvidenceCodes *evidence, const double *cells,
    const FactorRow *factor
) {
    if (factor->source == IN_TABLES) return network->tables + factor->offset;
    return (factor->source == IN_WEIGHTS ? evidence->weights : cells) + factor->offset;
}

/* Set the axes of the output of a step, and the strides of its inputs along them. */
static void open_step(
    const NetworkTables *network, const EvidenceCodes *evidence, const Plan *plan,
    const double *cells, const StepRow *step, Product *product
) {
    const FactorRow *output = get_factor(plan, step->output);
    const AxisRow *axes = get_axes(plan, output);
    CHECK(output->n_axes <= MAX_AXES && step->n_inputs <= MAX_INPUTS);
    product->n_axes = output->n_axes;
    product->n_inputs = step->n_inputs;
    product->n_summed = step->variable == NO_VARIABLE ? 1 : network->arity[step->variable];
    for (int64_t a = 0; a < output->n_axes; a++) {
        product->size[a] = network->arity[axes[a].variable];
        plan->place[axes[a].variable] = a;
    }
    for (int64_t k = 0; k < step->n_inputs; k++) {
        const FactorRow *input = get_factor(plan, plan->inputs[step->first_input + k]);
        const AxisRow *own = get_axes(plan, input);
        product->input[k] = find_cells(network, evidence, cells, input);
        product->summed_stride[k] = 0;
        for (int64_t a = 0; a < output->n_axes; a++) product->stride[k][a] = 0;
        for (int64_t i = 0; i < input->n_axes; i++) {
            if (own[i].variable == step->variable)
                product->summed_stride[k] = own[i].stride;
            else
                product->stride[k][plan->place[own[i].variable]] = own[i].stride;
        }
    }
}

/* Return whether each input can step through axes a and a + 1 as through one. */
static bool can_join(const Product *product, int64_t a) {
    int64_t n = product->size[a + 1];
    for (int64_t k = 0; k < product->n_inputs; k++)
        if (product->stride[k][a] != product->stride[k][a + 1] * n) return false;
    return product->size[a] * n <= BLOCK;
}

/* Make one axis of neighbours wherever all inputs allow it. */
static void join_axes(Product *product) {
    int64_t last = 0; /* of the axes that are done */
    for (int64_t a = 1; a < product->n_axes; a++) {
        int64_t size = product->size[a];
        product->size[last + 1] = size;
        for (int64_t k = 0; k < product->n_inputs; k++)
            product->stride[k][last + 1] = product->stride[k][a];
        if (can_join(product, last)) {
            product->size[last] *= size;
            for (int64_t k = 0; k < product->n_inputs; k++)
                product->stride[k][last] = product->stride[k][last + 1];
        } else {
            last++;
        }
    }
    if (product->n_axes) product->n_axes = last + 1;
}

/* Choose the axes of the block, and find where its cells are in an input. A block of one axis that
 * is longer than BLOCK is computed in pieces; only the first one is described. */
static void make_block(const Product *product, Block *block) {
    int64_t first = product->n_axes, n_cells = 1;
    while (first > 0 && n_cells < LONG_ENOUGH) {
        int64_t more = n_cells * product->size[first - 1];
        if (more > BLOCK && first < product->n_axes) break;
        n_cells = more;
        first--;
    }
    block->first_axis = first;
    block->n_cells = n_cells;
    int64_t n_listed = n_cells < BLOCK ? n_cells : BLOCK;
    for (int64_t k = 0; k < product->n_inputs; k++) {
        int64_t *at = block->at[k];
        int64_t n_done = 1;
        at[0] = 0;
        for (int64_t a = product->n_axes - 1; a >= first; a--) {
            int64_t stride = product->stride[k][a], size = product->size[a];
            for (int64_t i = 1; i < size && n_done * i < n_listed; i++)
                for (int64_t c = 0; c < n_done; c++) at[i * n_done + c] = at[c] + i * stride;
            n_done *= size;
        }
        bool is_dense = true, is_one = true;
        for (int64_t c = 0; c < n_listed; c++) {
            is_dense &= at[c] == c;
            is_one &= at[c] == 0;
        }
        block->layout[k] = is_one ? ONE_CELL : is_dense ? DENSE : SCATTERED;
    }
}

/* Overwrite a row with the cells of an input. */
static void read_row(
    double *restrict row, int64_t n, const double *restrict input, const int64_t *restrict at,
    Layout layout
) {
    if (layout == DENSE)
        for (int64_t c = 0; c < n; c++) row[c] = input[c];
    else if (layout == ONE_CELL)
        for (int64_t c = 0; c < n; c++) row[c] = input[0];
    else
        for (int64_t c = 0; c < n; c++) row[c] = input[at[c]];
}

static void multiply_row(
    double *restrict row, int64_t n, const double *restrict input, const int64_t *restrict at,
    Layout layout
) {
    if (layout == DENSE)
        for (int64_t c = 0; c < n; c++) row[c] *= input[c];
    else if (layout == ONE_CELL)
        for (int64_t c = 0; c < n; c++) row[c] *= input[0];
    else
        for (int64_t c = 0; c < n; c++) row[c] *= input[at[c]];
}

/* Add a row, times the cells of an input, to the sums. */
static void add_products(
    double *restrict sums, const double *restrict row, int64_t n, const double *restrict input,
    const int64_t *restrict at, Layout layout
) {
    if (layout == DENSE)
        for (int64_t c = 0; c < n; c++) sums[c] += row[c] * input[c];
    else if (layout == ONE_CELL)
        for (int64_t c = 0; c < n; c++) sums[c] += row[c] * input[0];
    else
        for (int64_t c = 0; c < n; c++) sums[c] += row[c] * input[at[c]];
}

/* Overwrite n cells of the output; input[k] is where the cells of input k begin. */
static void sum_block(
    const Product *product, const Block *block, const double *const *input, int64_t n,
    double *restrict sums
) {
    double row[BLOCK];
    int64_t last = product->n_inputs - 1;
    for (int64_t s = 0; s < product->n_summed; s++) {
        const double *at[MAX_INPUTS];
        for (int64_t k = 0; k <= last; k++) at[k] = input[k] + s * product->summed_stride[k];
        if (last == 0) {
            read_row(s ? row : sums, n, at[0], block->at[0], block->layout[0]);
            if (s)
                for (int64_t c = 0; c < n; c++) sums[c] += row[c];
            continue;
        }
        double *product_row = s ? row : sums;
        read_row(product_row, n, at[0], block->at[0], block->layout[0]);
        for (int64_t k = 1; k < last; k++)
            multiply_row(product_row, n, at[k], block->at[k], block->layout[k]);
        if (s)
            add_products(sums, row, n, at[last], block->at[last], block->layout[last]);
        else
            multiply_row(sums, n, at[last], block->at[last], block->layout[last]);
    }
}

/* Go to the next place along the axes before the block; return whether there is one. */
static bool
advance(const Product *product, const Block *block, int64_t *place, const double **input) {
    for (int64_t a = block->first_axis - 1; a >= 0; a--) {
        place[a]++;
        for (int64_t k = 0; k < product->n_inputs; k++) input[k] += product->stride[k][a];
        if (place[a] < product->size[a]) return true;
        for (int64_t k = 0; k < product->n_inputs; k++)
            input[k] -= product->size[a] * product->stride[k][a];
        place[a] = 0;
    }
    return false;
}

/* Overwrite the cells of the output; return the largest one. */
static double compute_product(const Product *product, double *output) {
    Block block;
    make_block(product, &block);
    int64_t place[MAX_AXES] = {0};
    const double *input[MAX_INPUTS];
    for (int64_t k = 0; k < product->n_inputs; k++) input[k] = product->input[k];
    double top = 0.0;
    do {
        for (int64_t begin = 0; begin < block.n_cells; begin += BLOCK) {
            const double *piece[MAX_INPUTS];
            int64_t n = block.n_cells - begin < BLOCK ? block.n_cells - begin : BLOCK;
            for (int64_t k = 0; k < product->n_inputs; k++) {
                int64_t stride = begin ? product->stride[k][product->n_axes - 1] : 0;
                piece[k] = input[k] + begin * stride;
            }
            sum_block(product, &block, piece, n, output);
            for (int64_t c = 0; c < n; c++) top = output[c] > top ? output[c] : top;
            output += n;
        }
    } while (advance(product, &block, place, input));
    return top;
}

static int64_t count_cells(const Product *product) {
    int64_t n = 1;
    for (int64_t a = 0; a < product->n_axes; a++) n *= product->size[a];
    return n;
}

static void run_step(
    const NetworkTables *network, const EvidenceCodes *evidence, const Plan *plan, double *cells,
    int64_t n_cells, const StepRow *step
) {
    Product product;
    FactorRow *output = get_factor(plan, step->output);
    open_step(network, evidence, plan, cells, step, &product);
    join_axes(&product);
    int64_t n = count_cells(&product);
    CHECK(output->source == IN_CELLS && output->offset >= 0 && output->offset + n <= n_cells);
    double top = compute_product(&product, cells + output->offset);
    int exponent = 0;
    if (top > 0.0) frexp(top, &exponent);
    if (exponent < LEAST_EXPONENT) {
        double scale = ldexp(1.0, -exponent);
        for (int64_t c = 0; c < n; c++) cells[output->offset + c] *= scale;
        output->exponent = exponent;
    } else {
        output->exponent = 0;
    }
    for (int64_t k = 0; k < step->n_inputs; k++)
        output->exponent += get_factor(plan, plan->inputs[step->first_input + k])->exponent;
}

int64_t run_plan(
    const NetworkTables *network, const EvidenceCodes *evidence, const Plan *plan, double *cells,
    int64_t n_cells, double *total, int64_t n_total
) {
    CHECK(n_total == 2 && plan->used[USED_CELLS] <= n_cells);
    feclearexcept(FE_UNDERFLOW);
    for (int64_t i = 0; i < plan->used[USED_STEPS]; i++)
        run_step(network, evidence, plan, cells, n_cells, get_step(plan, i));
    bool is_too_small = fetestexcept(FE_UNDERFLOW) != 0;
    double product = 1.0;
    int64_t exponent = 0;
    for (int64_t i = 0; i < plan->used[USED_CONSTANTS]; i++) {
        const FactorRow *factor = get_factor(plan, plan->constants[i]);
        int power;
        product = frexp(product * find_cells(network, evidence, cells, factor)[0], &power);
        exponent += power + factor->exponent;
    }
    total[0] = product;
    total[1] = (double) exponent;
    return is_too_small;
}

/* Overwrite the distribution of an unobserved variable. */
static void read_marginal(
    const Plan *plan, const FactorRow *factor, const double *from, int64_t arity, double *own
) {
    CHECK(factor->n_axes == 1);
    int64_t stride = get_axes(plan, factor)->stride;
    double sum = 0.0;
    for (int64_t s = 0; s < arity; s++) sum += from[s * stride];
    for (int64_t s = 0; s < arity; s++) own[s] = from[s * stride] / sum;
}

void read_marginals(
    const NetworkTables *network, const EvidenceCodes *evidence, const Plan *plan,
    const double *cells, int64_t n_cells, const int64_t *factors, int64_t n_factors,
    const int64_t *starts, int64_t n_starts, double *marginals, int64_t n_marginals
) {
    int64_t n = network->n_arity;
    CHECK(evidence->n_codes == n && n_factors == n && n_starts == n + 1);
    for (int64_t v = 0; v < n; v++) {
        double *own = marginals + starts[v];
        int64_t arity = network->arity[v], code = evidence->codes[v];
        CHECK(starts[v] >= 0 && starts[v] + arity <= n_marginals);
        if (code >= 0) {
            for (int64_t s = 0; s < arity; s++) own[s] = s == code ? 1.0 : 0.0;
        } else if (factors[v] >= 0) {
            const FactorRow *factor = get_factor(plan, factors[v]);
            const double *from = find_cells(network, evidence, cells, factor);
            read_marginal(plan, factor, from, arity, own);
        }
    }
}
