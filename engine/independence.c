#include "independence.h"

/* Return the term of a cell with count n; `one` and `other` are the counts of its states, `total`
 * is that of its stratum. */
INLINE double compute_term(int64_t kind, double n, double total, double one, double other) {
    if (kind == X2) {
        double expected = one * other / total;
        return (n - expected) * (n - expected) / expected;
    }
    return n > 0.0 ? 2.0 * n * log(n * total / (one * other)) : 0.0;
}

/* ---- Tests that have a table ---- */

/* The axes of x and y in a table: their strides and their numbers of states. The outer axis is the
 * slower one, whichever variable that is. */
typedef struct {
    int64_t outer, n_outer, inner, n_inner;
} Axes;

static Axes find_axes(const int64_t *facts, const int32_t *members, int64_t k) {
    int32_t x = members[0], y = members[1];
    bool is_x_slower = get_fact(facts, x, RANK) < get_fact(facts, y, RANK);
    int32_t slow = is_x_slower ? x : y, fast = is_x_slower ? y : x;
    return (Axes){
        .outer = compute_stride(facts, members, k, slow),
        .n_outer = get_fact(facts, slow, ARITY),
        .inner = compute_stride(facts, members, k, fast),
        .n_inner = get_fact(facts, fast, ARITY),
    };
}

/* Return how many of n sums are not 0. */
static int64_t count_seen(const int64_t *sums, int64_t n) {
    int64_t n_seen = 0;
    for (int64_t i = 0; i < n; i++) n_seen += sums[i] > 0;
    return n_seen;
}

/* Return the statistic of one stratum, and add its degrees of freedom.
 *
 * `cells` begins with the cell of the first states of x and y. */
static double measure_stratum(
    int64_t kind, const uint32_t *restrict cells, Axes axes, int64_t *restrict states,
    int64_t *freedom
) {
    int64_t *restrict one = states, *restrict other = states + axes.n_outer, total = 0;
    memset(other, 0, (size_t) axes.n_inner * sizeof *other);
    for (int64_t a = 0; a < axes.n_outer; a++) {
        const uint32_t *row = cells + a * axes.outer;
        one[a] = 0;
        for (int64_t b = 0; b < axes.n_inner; b++) {
            one[a] += row[b * axes.inner];
            other[b] += row[b * axes.inner];
        }
        total += one[a];
    }
    if (total == 0) return 0.0;
    int64_t n_seen = count_seen(one, axes.n_outer), n_others = count_seen(other, axes.n_inner);
    if (n_seen < 2 || n_others < 2) return 0.0;

    double statistic = 0.0;
    for (int64_t a = 0; a < axes.n_outer; a++) {
        if (one[a] == 0) continue;
        for (int64_t b = 0; b < axes.n_inner; b++) {
            if (other[b] == 0) continue;
            double n = cells[a * axes.outer + b * axes.inner];
            statistic += compute_term(kind, n, (double) total, (double) one[a], (double) other[b]);
        }
    }
    *freedom += (n_seen - 1) * (n_others - 1);
    return statistic;
}

/* Return the statistic of one table of n cells, and add its degrees of freedom. */
static double measure_table(
    int64_t kind, const uint32_t *cells, int64_t n, Axes axes, int64_t *states, int64_t *freedom
) {
    int64_t slow_step = axes.outer * axes.n_outer, middle_step = axes.inner * axes.n_inner;
    double statistic = 0.0;
    for (int64_t slow = 0; slow < n; slow += slow_step) {
        for (int64_t middle = slow; middle < slow + axes.outer; middle += middle_step) {
            for (int64_t base = middle; base < middle + axes.inner; base++) {
                statistic += measure_stratum(kind, cells + base, axes, states, freedom);
            }
        }
    }
    return statistic;
}

void measure_tables(
    const int64_t *facts, int64_t n_facts, int64_t facts_width, const int32_t *members,
    int64_t n_members, const int64_t *start, int64_t n_start, const TableSums *sums, int64_t kind,
    int64_t first, int64_t last, int64_t *states, int64_t n_states, double *statistics,
    int64_t n_statistics, double *freedoms, int64_t n_freedoms
) {
    CHECK(facts_width == N_FACTS && start[n_start - 1] <= n_members && (kind == G2 || kind == X2));
    CHECK(0 <= first && last < n_start && last < sums->n_begin);
    CHECK(last <= n_statistics && last <= n_freedoms);
    for (int64_t test = first; test < last; test++) {
        int64_t at = sums->begin[test], n_cells = sums->begin[test + 1] - at, freedom = 0;
        if (n_cells == 0) continue;
        Axes axes = find_axes(facts, members + start[test], start[test + 1] - start[test]);
        CHECK(at + n_cells <= sums->n_cells && n_cells % (axes.outer * axes.n_outer) == 0);
        CHECK(axes.n_outer + axes.n_inner <= n_states);
        statistics[test] = measure_table(kind, sums->cells + at, n_cells, axes, states, &freedom);
        freedoms[test] = (double) freedom;
    }
}

/* ---- Tests that read the rows ---- */

/* What measure_sparse groups the rows by, and so the places of the groupings in its scratch: the
 * strata, the pairs of a stratum and a state of x, those of y, and the cells. The numbers of states
 * of x and of y that each stratum shows come behind. */
enum {
    STRATA,
    X_PAIRS,
    Y_PAIRS,
    CELLS,
    X_STATES = GROUP_ARRAYS * (CELLS + 1),
    Y_STATES,
};
_Static_assert(INDEPENDENCE_ARRAYS == Y_STATES + 1, "the rows of the scratch");

/* Return groups that are split further by the states of a variable. */
static Groups split_groups(RowKeys *keys, Groups groups, int32_t variable, int64_t place) {
    set_keys(keys, groups);
    append_variables(keys, &variable, 1);
    return group_rows(keys, place);
}

/* Overwrite the number of states that each stratum shows, given the pairs of both. */
static void count_states(Groups strata, Groups pairs, uint32_t *n_states) {
    memset(n_states, 0, (size_t) strata.n * sizeof *n_states);
    for (int64_t pair = 0; pair < pairs.n; pair++) n_states[strata.of_row[pairs.first_row[pair]]]++;
}

/* Return the degrees of freedom: whole numbers, so that their sum is exact in any order. */
static double
sum_freedoms(const SparseScratch *scratch, Groups strata, Groups x_pairs, Groups y_pairs) {
    uint32_t *x_states = scratch->groups + X_STATES * scratch->groups_width;
    uint32_t *y_states = scratch->groups + Y_STATES * scratch->groups_width;
    count_states(strata, x_pairs, x_states);
    count_states(strata, y_pairs, y_states);
    double freedom = 0.0;
    for (int64_t stratum = 0; stratum < strata.n; stratum++) {
        freedom += (x_states[stratum] - 1.0) * (y_states[stratum] - 1.0);
    }
    return freedom;
}

/* Return the sum of n values, from the lowest to the highest: the order of rows must not matter. */
static double sum_sorted(double *values, int64_t n) {
    sort_values(values, n);
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += values[i];
    return sum;
}

/* Return the statistic of all cells that occur.
 *
 * X2 is the sum over these cells of n^2 / e, minus the number of rows: so the cells that do not
 * occur need no term. */
static double sum_cells(
    int64_t kind, Groups strata, Groups x_pairs, Groups y_pairs, Groups cells, double *terms
) {
    double n_rows = 0.0; /* exact, like every sum of whole numbers */
    for (int64_t cell = 0; cell < cells.n; cell++) {
        uint32_t row = cells.first_row[cell];
        double n = cells.size[cell], total = strata.size[strata.of_row[row]];
        double one = x_pairs.size[x_pairs.of_row[row]], other = y_pairs.size[y_pairs.of_row[row]];
        double n_over_e = n * total / (one * other);
        terms[cell] = kind == G2 ? 2.0 * n * log(n_over_e) : n * n_over_e;
        n_rows += n;
    }
    double sum = sum_sorted(terms, cells.n);
    return kind == G2 ? sum : sum - n_rows;
}

void measure_sparse(
    const CountIndex *index, int64_t kind, const int32_t *members, int64_t n_members,
    const SparseScratch *scratch, double *measured, int64_t n_measured
) {
    CHECK(n_members >= 2 && n_measured == 2 && (kind == G2 || kind == X2));
    CHECK(scratch->n_groups >= INDEPENDENCE_ARRAYS);
    RowKeys keys = make_keys(index, scratch);
    append_variables(&keys, members + 2, n_members - 2);
    Groups strata = group_rows(&keys, STRATA);
    Groups x_pairs = split_groups(&keys, strata, members[0], X_PAIRS);
    Groups y_pairs = split_groups(&keys, strata, members[1], Y_PAIRS);
    Groups cells = split_groups(&keys, x_pairs, members[1], CELLS);
    double freedom = sum_freedoms(scratch, strata, x_pairs, y_pairs), statistic = 0.0;
    if (freedom > 0.0) {
        double sum = sum_cells(kind, strata, x_pairs, y_pairs, cells, scratch->terms);
        if (sum > 0.0) statistic = sum; /* round-off may leave less than nothing */
    }
    measured[0] = statistic;
    measured[1] = freedom;
}

/* ---- P-values ---- */

/* The p-value is the regularised upper incomplete gamma function Q(df / 2, statistic / 2): its
 * series below the mean, its continued fraction above it. Their common factor
 * x^a e^-x / Gamma(a + 1) is written with the distance of x from a, because the plain form loses
 * digits for large a. */

static const double PI = 3.141592653589793;
static const double LEAST_STIRLING = 10.0; /* the series of log gamma has 16 digits from here on */
static const double SMALL_EXCESS = 0.2;    /* below it, x - log(1 + x) is a series */
static const double TINY = 1e-300;         /* takes the place of 0 in the continued fraction */

/* Return x - log(1 + x), without cancellation for small x. */
static double compute_deviance(double excess) {
    if (fabs(excess) > SMALL_EXCESS) return excess - log1p(excess);
    double ratio = excess / (2.0 + excess);
    double square = ratio * ratio, series = 0.0;
    for (int k = 21; k > 1; k -= 2) series = (series + 1.0 / k) * square;
    return ratio * (excess - 2.0 * series);
}

/* Return x^a e^-x / Gamma(a + 1). */
static double compute_factor(double a, double x) {
    if (a < LEAST_STIRLING) return exp(a * log(x) - x - lgamma(a + 1.0));
    double square = 1.0 / (a * a);
    double series = 1.0 / 1188 - square * (691.0 / 360360 - square / 156);
    series = 1.0 / 12 -
             square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square * series)));
    double deviance = a * compute_deviance((x - a) / a);
    return exp(-deviance - series / a) / sqrt(2.0 * PI * a);
}

/* Return the sum of x^k / ((a + 1) ... (a + k)) over all k. */
static double sum_series(double a, double x) {
    double term = 1.0, total = 1.0;
    for (double n = a + 1.0; term > 1e-17 * total; n += 1.0) {
        term *= x / n;
        total += term;
    }
    return total;
}

INLINE double avoid_zero(double value) {
    return fabs(value) > TINY ? value : TINY;
}

/* Return the continued fraction of the upper tail, by the method of Lentz. */
static double compute_fraction(double a, double x) {
    double b = x + 1.0 - a;
    double c = 1.0 / TINY, d = 1.0 / b, fraction = d, step = 2.0;
    for (double i = 1.0; fabs(step - 1.0) > 1e-16; i += 1.0) {
        double numerator = i * (a - i);
        b += 2.0;
        d = 1.0 / avoid_zero(numerator * d + b);
        c = avoid_zero(b + numerator / c);
        step = c * d;
        fraction *= step;
    }
    return fraction;
}

/* Return Q(a, x), for a > 0 and x >= 0. */
static double compute_upper_tail(double a, double x) {
    if (x <= 0.0) return 1.0;
    double factor = compute_factor(a, x);
    if (x < a + 1.0) {
        double tail = 1.0 - factor * sum_series(a, x);
        return tail > 0.0 ? tail : 0.0;
    }
    if (factor == 0.0) return 0.0;
    double tail = factor * a * compute_fraction(a, x);
    return tail < 1.0 ? tail : 1.0;
}

void compute_upper_tails(
    const double *statistics, int64_t n_statistics, const double *freedoms, int64_t n_freedoms,
    double *tails, int64_t n_tails
) {
    CHECK(n_statistics == n_tails && n_freedoms == n_tails);
    for (int64_t i = 0; i < n_tails; i++) {
        CHECK(isfinite(freedoms[i]) && statistics[i] >= 0.0); /* else the fraction may not end */
        bool has_freedom = freedoms[i] > 0.0;
        tails[i] = has_freedom ? compute_upper_tail(0.5 * freedoms[i], 0.5 * statistics[i]) : 1.0;
    }
}
