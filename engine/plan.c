#include "plan.h"

/* No machine has so many cells, or multiplies so many. Neither number overflows. */
static const int64_t MAX_CELLS = (int64_t) 1 << 40;
static const int64_t MAX_WORK = (int64_t) 1 << 58;

enum { LEAST_FREE = 64 };

INLINE bool is_full(const Planner *planner, int64_t what, int64_t more, int64_t room) {
    return planner->plan->used[what] + more > room;
}

int64_t enter_clique(Planner *planner, const int64_t *members, int64_t n_members) {
    if (n_members > MAX_AXES) return TOO_LARGE;
    planner->members = members;
    planner->n_members = n_members;
    for (int64_t b = 0; b < n_members; b++) planner->plan->place[members[b]] = b;
    return DONE;
}

/* Add a factor without axes yet; make sure that there is room for some. */
static int64_t
add_factor(Planner *planner, int64_t source, int64_t offset, int64_t n_axes, int64_t *factor) {
    const Plan *plan = planner->plan;
    if (is_full(planner, USED_FACTORS, 1, plan->n_factors)) return NO_ROOM;
    if (is_full(planner, USED_AXES, n_axes, plan->n_axes)) return NO_ROOM;
    *factor = plan->used[USED_FACTORS]++;
    FactorRow *row = get_factor(plan, *factor);
    *row = (FactorRow){source, offset, plan->used[USED_AXES], 0, 0};
    return DONE;
}

static void
add_axis(Planner *planner, int64_t factor, int64_t variable, int64_t stride, bool is_head) {
    FactorRow *row = get_factor(planner->plan, factor);
    get_axes(planner->plan, row)[row->n_axes++] = (AxisRow){variable, stride, is_head};
    planner->plan->used[USED_AXES]++;
}

int64_t add_table(Planner *planner, int64_t variable, int64_t *factor) {
    const NetworkTables *network = planner->network;
    int64_t begin = network->family_start[variable], end = network->family_start[variable + 1];
    TRY(add_factor(planner, IN_TABLES, network->table_start[variable], end - begin, factor));
    FactorRow *row = get_factor(planner->plan, *factor);
    int64_t stride = 1;
    for (int64_t i = end - 1; i >= begin; i--) {
        int64_t member = network->family[i], code = planner->evidence->codes[member];
        CHECK(code < network->arity[member]);
        if (code < 0)
            add_axis(planner, *factor, member, stride, member == variable);
        else
            row->offset += code * stride;
        stride *= network->arity[member];
    }
    return DONE;
}

int64_t add_finding(Planner *planner, int64_t variable, int64_t *factor) {
    int64_t code = planner->evidence->codes[variable];
    int64_t offset = planner->evidence->findings[variable];
    CHECK(offset + planner->network->arity[variable] <= planner->evidence->n_weights);
    TRY(add_factor(planner, IN_WEIGHTS, offset, 1, factor));
    if (code < 0)
        add_axis(planner, *factor, variable, 1, false);
    else
        get_factor(planner->plan, *factor)->offset += code;
    return DONE;
}

static int64_t count_cells(const Planner *planner, const FactorRow *factor) {
    const AxisRow *first = get_axes(planner->plan, factor);
    return factor->n_axes ? first->stride * planner->network->arity[first->variable] : 1;
}

/* Return where some cells can be: in the first free range that is long enough, or after all. */
static int64_t find_room(const Planner *planner, int64_t n_cells) {
    const Plan *plan = planner->plan;
    FreeRow *ranges = (FreeRow *) plan->free;
    for (int64_t i = 0; i < plan->used[USED_FREE]; i++) {
        int64_t offset = ranges[i].offset;
        if (ranges[i].n_cells < n_cells) continue;
        ranges[i].offset += n_cells;
        ranges[i].n_cells -= n_cells;
        if (ranges[i].n_cells == 0) ranges[i] = ranges[--plan->used[USED_FREE]];
        return offset;
    }
    plan->used[USED_CELLS] += n_cells;
    return plan->used[USED_CELLS] - n_cells;
}

/* Free the cells of a factor that a step has computed, and join them with the free ranges beside
 * them. Few cells are not worth the search; where the list is full, they only cost memory. */
static void free_cells(const Planner *planner, int64_t factor) {
    const Plan *plan = planner->plan;
    FreeRow *ranges = (FreeRow *) plan->free;
    const FactorRow *row = get_factor(plan, factor);
    FreeRow range = {row->offset, count_cells(planner, row)};
    if (row->source != IN_CELLS || range.n_cells < LEAST_FREE) return;
    for (int64_t i = plan->used[USED_FREE] - 1; i >= 0; i--) {
        bool is_before = ranges[i].offset + ranges[i].n_cells == range.offset;
        bool is_after = range.offset + range.n_cells == ranges[i].offset;
        if (!is_before && !is_after) continue;
        if (is_before) range.offset = ranges[i].offset;
        range.n_cells += ranges[i].n_cells;
        ranges[i] = ranges[--plan->used[USED_FREE]];
    }
    if (plan->used[USED_FREE] < plan->n_free) ranges[plan->used[USED_FREE]++] = range;
}

static int64_t push_row(Planner *planner, LiveRow row, LiveList *list) {
    const Plan *plan = planner->plan;
    CHECK(list->begin + list->n == plan->used[USED_LIVE]);
    if (is_full(planner, USED_LIVE, 1, plan->n_live)) return NO_ROOM;
    *get_live(planner, plan->used[USED_LIVE]++) = row;
    list->n++;
    return DONE;
}

static int64_t keep_constant(Planner *planner, int64_t factor) {
    const Plan *plan = planner->plan;
    if (!planner->keeps_constants) return DONE;
    if (is_full(planner, USED_CONSTANTS, 1, plan->n_constants)) return NO_ROOM;
    plan->constants[plan->used[USED_CONSTANTS]++] = factor;
    return DONE;
}

int64_t push_factor(Planner *planner, int64_t factor, LiveList *list) {
    const Plan *plan = planner->plan;
    const FactorRow *row = get_factor(plan, factor);
    const AxisRow *axes = get_axes(plan, row);
    if (row->n_axes == 0) return keep_constant(planner, factor);
    int64_t mask = 0, heads = 0;
    for (int64_t a = 0; a < row->n_axes; a++) {
        int64_t at = plan->place[axes[a].variable];
        CHECK(at < planner->n_members && planner->members[at] == axes[a].variable);
        mask |= (int64_t) 1 << at;
        if (axes[a].is_head) heads |= (int64_t) 1 << at;
    }
    return push_row(planner, (LiveRow){factor, mask, heads}, list);
}

int64_t copy_list(Planner *planner, LiveList list, LiveList *copy) {
    *copy = (LiveList){planner->plan->used[USED_LIVE], 0};
    for (int64_t i = 0; i < list.n; i++)
        TRY(push_row(planner, *get_live(planner, list.begin + i), copy));
    return DONE;
}

/* Add a step: the product of some rows, with a variable summed out, or with none (0). */
static int64_t
add_step(Planner *planner, const LiveRow *rows, int64_t n, int64_t summed, LiveRow *product) {
    const Plan *plan = planner->plan;
    const int64_t *arity = planner->network->arity;
    int64_t mask = 0, heads = 0, n_cells = 1;
    bool is_distribution = true;
    for (int64_t i = 0; i < n; i++) {
        mask |= rows[i].mask;
        heads |= rows[i].heads;
        is_distribution &= rows[i].heads != 0;
    }
    mask &= ~summed;
    heads = is_distribution ? heads & ~summed : 0;
    if (is_full(planner, USED_STEPS, 1, plan->n_steps)) return NO_ROOM;
    if (is_full(planner, USED_INPUTS, n, plan->n_inputs)) return NO_ROOM;
    int64_t factor;
    TRY(add_factor(planner, IN_CELLS, 0, planner->n_members, &factor));
    FactorRow *row = get_factor(plan, factor);
    AxisRow *axes = get_axes(plan, row);
    for (int64_t b = planner->n_members - 1; b >= 0; b--)
        if (mask >> b & 1) add_axis(planner, factor, planner->members[b], 0, heads >> b & 1);
    for (int64_t a = row->n_axes - 1; a >= 0; a--) { /* the last axis is dense */
        axes[a].stride = n_cells;
        n_cells *= arity[axes[a].variable];
        if (n_cells > MAX_CELLS) return TOO_LARGE;
    }
    int64_t variable = summed ? planner->members[find_lowest_bit(summed)] : NO_VARIABLE;
    int64_t first = plan->used[USED_INPUTS];
    for (int64_t i = 0; i < n; i++) plan->inputs[first + i] = rows[i].factor;
    *get_step(plan, plan->used[USED_STEPS]++) = (StepRow){variable, first, n, factor};
    plan->used[USED_INPUTS] += n;
    plan->used[USED_WORK] += n * n_cells * (summed ? arity[variable] : 1);
    row->offset = find_room(planner, n_cells);
    if (plan->used[USED_CELLS] > MAX_CELLS || plan->used[USED_WORK] > MAX_WORK) return TOO_LARGE;
    for (int64_t i = 0; i < n && planner->is_used_once; i++) free_cells(planner, rows[i].factor);
    *product = (LiveRow){factor, mask, heads};
    return DONE;
}

/* Multiply rows, which are overwritten, and sum a variable out (0: none). */
static int64_t
multiply(Planner *planner, LiveRow *rows, int64_t n, int64_t summed, LiveRow *product) {
    while (n > MAX_INPUTS) {
        int64_t n_left = 0;
        for (int64_t i = 0; i < n; i += MAX_INPUTS) {
            int64_t n_now = n - i < MAX_INPUTS ? n - i : MAX_INPUTS;
            LiveRow joined = rows[i];
            if (n_now > 1) TRY(add_step(planner, rows + i, n_now, 0, &joined));
            rows[n_left++] = joined;
        }
        n = n_left;
    }
    return add_step(planner, rows, n, summed, product);
}

/* Move the rows that `mask` wants to the top of the stack: those with these axes, or with some. */
static int64_t
take_rows(Planner *planner, int64_t mask, bool is_equal, LiveList *list, LiveList *taken) {
    int64_t n_left = 0;
    *taken = (LiveList){planner->plan->used[USED_LIVE], 0};
    for (int64_t i = 0; i < list->n; i++) {
        LiveRow row = *get_live(planner, list->begin + i);
        if (is_equal ? row.mask == mask : (row.mask & mask) != 0)
            TRY(push_row(planner, row, taken));
        else
            *get_live(planner, list->begin + n_left++) = row;
    }
    list->n = n_left;
    return DONE;
}

/* Return whether n factors with a variable are one distribution of it alone, with the sum 1. */
INLINE bool sums_to_one(int64_t n, int64_t heads, int64_t bit) {
    return n == 0 || (n == 1 && heads == bit);
}

/* Sum one variable out. */
static int64_t sum_one_out(Planner *planner, int64_t bit, LiveList *list) {
    LiveList taken;
    LiveRow product;
    TRY(take_rows(planner, bit, false, list, &taken));
    LiveRow *rows = get_live(planner, taken.begin);
    bool is_one = sums_to_one(taken.n, taken.n ? rows[0].heads : 0, bit);
    bool is_used = mask_list(planner, taken) != bit || planner->keeps_constants;
    if (!is_one && is_used) {
        TRY(join_equals(planner, &taken));
        TRY(multiply(planner, rows, taken.n, bit, &product));
    }
    planner->plan->used[USED_LIVE] = list->begin + list->n;
    if (is_one || !is_used) return DONE;
    if (product.mask == 0) return keep_constant(planner, product.factor);
    return push_row(planner, product, list);
}

static double count_mask_cells(const Planner *planner, int64_t mask) {
    double n = 1.0;
    for (; mask; mask &= mask - 1)
        n *= (double) planner->network->arity[planner->members[find_lowest_bit(mask)]];
    return n;
}

/* Return the variable, as a bit, whose elimination multiplies the fewest cells. */
static int64_t choose_variable(const Planner *planner, int64_t variables, LiveList list) {
    const LiveRow *rows = get_live(planner, list.begin);
    int64_t best = 0;
    double fewest = INFINITY;
    for (int64_t left = variables; left; left &= left - 1) {
        int64_t bit = left & -left, mask = 0, heads = 0, n = 0;
        for (int64_t i = 0; i < list.n; i++)
            if (rows[i].mask & bit) {
                mask |= rows[i].mask;
                heads = rows[i].heads;
                n++;
            }
        bool is_one = sums_to_one(n, heads, bit);
        double n_cells = is_one ? 0.0 : count_mask_cells(planner, mask);
        if (n_cells <= fewest) { /* of equal ones, that which was to be eliminated first */
            fewest = n_cells;
            best = bit;
        }
    }
    return best;
}

int64_t sum_out(Planner *planner, int64_t variables, LiveList *list) {
    while (variables) {
        int64_t bit = variables;
        if (variables & (variables - 1)) bit = choose_variable(planner, variables, *list);
        TRY(sum_one_out(planner, bit, list));
        variables &= ~bit;
    }
    return DONE;
}

int64_t join_equals(Planner *planner, LiveList *list) {
    for (int64_t i = 0; i < list->n; i++) {
        int64_t mask = get_live(planner, list->begin + i)->mask;
        bool has_equal = false;
        for (int64_t j = i + 1; j < list->n && !has_equal; j++)
            has_equal = get_live(planner, list->begin + j)->mask == mask;
        if (!has_equal) continue;
        LiveList rest = {list->begin + i, list->n - i}, taken;
        LiveRow product;
        TRY(take_rows(planner, mask, true, &rest, &taken));
        TRY(multiply(planner, get_live(planner, taken.begin), taken.n, 0, &product));
        list->n = i + rest.n;
        planner->plan->used[USED_LIVE] = list->begin + list->n;
        TRY(push_row(planner, product, list));
        LiveRow *rows = get_live(planner, list->begin);
        rows[list->n - 1] = rows[i]; /* the product takes the place of the first */
        rows[i] = product;
    }
    return DONE;
}

int64_t join_all(Planner *planner, LiveList list, bool is_copied, int64_t *factor) {
    LiveRow *rows = get_live(planner, list.begin), product = rows[0];
    CHECK(list.n > 0);
    TRY(join_equals(planner, &list));
    if (list.n > 1 || is_copied)
        TRY(multiply(planner, rows, list.n, 0, &product));
    else
        product = rows[0];
    *factor = product.factor;
    return DONE;
}
