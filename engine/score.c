#include "score.h"

static const double PI = 3.141592653589793;
static const double HALF_LOG_TWO_PI = 0.9189385332046727;
static const double LARGEST_PRODUCT = 1e200; /* the next factor cannot overflow a float */

/* Return log n! or n log n. */
static double compute_term(int64_t n, bool is_factorial) {
    double count = (double) n;
    return is_factorial ? lgamma(count + 1.0) : count * log(count);
}

/* Return the sum over n cells of term(count + shift) - term(shift), where counts may exceed the
 * table of terms. */
static double
sum_computed_terms(const ScoreSpec *spec, const uint32_t *counts, int64_t n, int64_t shift) {
    double none = spec->table[shift], sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = (int64_t) counts[i] + shift;
        double term = count < spec->n_table ? spec->table[count]
                                            : compute_term(count, spec->kind == ALL_ONES);
        sum += term - none;
    }
    return sum;
}

/* Return the sum over n cells of term(count + shift) - term(shift). */
static double
sum_terms(const ScoreSpec *spec, const uint32_t *restrict counts, int64_t n, int64_t shift) {
    CHECK(shift < spec->n_table);
    if (spec->n_rows + shift >= spec->n_table) return sum_computed_terms(spec, counts, n, shift);
    const double *restrict term = spec->table + shift;
    double none = term[0], a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    int64_t i = 0;
    for (int64_t cell = 0; cell < n; cell++) CHECK(counts[cell] + shift < spec->n_table);
    for (; i + 4 <= n; i += 4) {
        a += term[counts[i]] - none;
        b += term[counts[i + 1]] - none;
        c += term[counts[i + 2]] - none;
        d += term[counts[i + 3]] - none;
    }
    for (; i < n; i++) a += term[counts[i]] - none;
    return (a + b) + (c + d);
}

/* Return log gamma(x) for x >= RISING_LENGTH, by Stirling's series.
 *
 * The first omitted term is below 1e-19 there. */
static double log_gamma(double x) {
    double square = x * x;
    double series = (1.0 / 12 - (1.0 / 360 - 1 / (1260 * square)) / square) / x;
    return (x - 0.5) * log(x) - x + HALF_LOG_TWO_PI + series;
}

/* Return log rising(a, count), from a row of `rising` if the row is long enough. */
INLINE double log_rising(const double *row, double a, uint32_t count) {
    if (count < RISING_LENGTH) return row[FIRST + count];
    if (a >= LARGE_PRIOR) return log_rising_of_large(a, count);
    return log_gamma(a + count) - row[LOG_GAMMA];
}

/* Return the row of `rising` of a divisor, with a = ess / divisor; compute it if it is not there.
 */
static const double *find_rising(double *rising, int64_t divisor, double a) {
    double *row = rising + divisor % RISING_ROWS * RISING_WIDTH;
    if (row[DIVISOR] == (double) divisor) return row;
    row[DIVISOR] = (double) divisor;
    row[LOG_GAMMA] = lgamma(a);
    row[FIRST] = 0.0;
    for (int i = 1; i < RISING_LENGTH; i++) {
        row[FIRST + i] = row[FIRST + i - 1] + log(a + (i - 1));
    }
    return row;
}

/* Return the sum over n cells of log rising(ess / divisor, count). */
static double sum_rising(
    double *rising, double ess, int64_t divisor, const uint32_t *restrict counts, int64_t n
) {
    double prior = ess / (double) divisor;
    const double *row = find_rising(rising, divisor, prior);
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += log_rising(row, prior, counts[i]);
        b += log_rising(row, prior, counts[i + 1]);
        c += log_rising(row, prior, counts[i + 2]);
        d += log_rising(row, prior, counts[i + 3]);
    }
    for (; i < n; i++) a += log_rising(row, prior, counts[i]);
    return (a + b) + (c + d);
}

/* Overwrite `margin` with the sums of the table over the axis of the child.
 *
 * Two and three states have code of their own: a loop over so few costs more than the sums. */
static void sum_over_child(
    const uint32_t *restrict counts, int64_t n_cells, int64_t stride, int64_t arity,
    uint32_t *restrict margin
) {
    for (int64_t cell = 0; cell < n_cells; cell += arity * stride, margin += stride) {
        const uint32_t *one = counts + cell, *two = one + stride, *three = two + stride;
        if (arity == 2) {
            for (int64_t i = 0; i < stride; i++) margin[i] = one[i] + two[i];
        } else if (arity == 3) {
            for (int64_t i = 0; i < stride; i++) margin[i] = one[i] + two[i] + three[i];
        } else {
            for (int64_t i = 0; i < stride; i++) {
                uint32_t total = one[i];
                for (int64_t state = 1; state < arity; state++) total += one[state * stride + i];
                margin[i] = total;
            }
        }
    }
}

double
compute_regret(const double *two_states, int64_t n_two_states, int64_t count, int64_t arity) {
    if (arity < 2 || count == 0) return 0.0;
    double n = (double) count, ratio;
    if (count < n_two_states) {
        ratio = two_states[count];
    } else {
        ratio = sqrt(0.5 * PI * n) + 2.0 / 3 + sqrt(2 * PI / n) / 24;
    }
    double product = ratio, total = 0.0;
    for (int64_t k = 1; k < arity - 1; k++) {
        ratio = 1.0 + n / (double) k / ratio;
        product *= ratio;
        if (product > LARGEST_PRODUCT) {
            total += log(product);
            product = 1.0;
        }
    }
    return total + log(product);
}

/* Return log C(n_states, n_rows), from the table or by an approximation for many states. */
static double compute_regret_of_states(const ScoreSpec *spec, double n_states) {
    /* The number of states is a product, which may be off by round-off. */
    if (n_states + 0.5 < (double) spec->n_regret) return spec->regret[(int64_t) (n_states + 0.5)];
    double n_rows = (double) spec->n_rows, alpha = n_states / n_rows;
    double excess = 2 / alpha / (1 + sqrt(1 + 4 / alpha));
    double terms = log(alpha) + (alpha + 2) * log1p(excess) - 1 / (1 + excess);
    return n_rows * terms - 0.5 * log(1 + excess + 2 / alpha);
}

double compute_quotient_penalty(const ScoreSpec *spec, double q, double arity) {
    return compute_regret_of_states(spec, q * arity) - compute_regret_of_states(spec, q);
}

/* Return how many configurations of the parents occur. */
static int64_t count_seen(const uint32_t *margin, int64_t q) {
    int64_t n = 0;
    for (int64_t i = 0; i < q; i++) n += margin[i] > 0;
    return n;
}

double score_table(
    const ScoreSpec *spec, const uint32_t *counts, int64_t n_cells, int64_t stride, int64_t arity,
    uint32_t *margin, double *rising
) {
    CHECK(arity > 0 && stride > 0 && n_cells % (arity * stride) == 0);
    CHECK(ALL_ONES <= spec->kind && spec->kind <= QUOTIENT);
    sum_over_child(counts, n_cells, stride, arity, margin);
    int64_t q = n_cells / arity;
    if (spec->kind == DIRICHLET || spec->kind == DIRICHLET_SEEN) {
        int64_t divisor = spec->kind == DIRICHLET ? q : count_seen(margin, q);
        double cells = sum_rising(rising, spec->ess, divisor * arity, counts, n_cells);
        return cells - sum_rising(rising, spec->ess, divisor, margin, q);
    }
    int64_t shift = spec->kind == ALL_ONES ? arity - 1 : 0;
    double score = sum_terms(spec, counts, n_cells, 0) - sum_terms(spec, margin, q, shift);
    if (spec->kind == FACTORISED) {
        for (int64_t i = 0; i < q; i++) {
            score -= compute_regret(spec->regret, spec->n_regret, margin[i], arity);
        }
        return score;
    }
    if (spec->kind == QUOTIENT) {
        return score - compute_quotient_penalty(spec, (double) q, (double) arity);
    }
    return score - spec->penalty * (double) q * ((double) arity - 1.0);
}
