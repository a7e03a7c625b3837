#include "tour.h"

enum {
    MIN_CITIES = 5,
    MAX_SEGMENT = 3,      /* cities that or-opt moves together */
    MAX_BRIDGE = 30,      /* cities of each segment that a double bridge exchanges */
    DRAWS_PER_BRIDGE = 3, /* where it is, and the lengths of the two segments */
    N_BRIDGE_ENDS = 6,
    N_MOVE_ENDS = 5
};

/* A tour that climbs. */
typedef struct {
    const double *distances;
    const int64_t *rows; /* the neighbours of each city, k of them, the nearest first */
    double *credit;
    int64_t n, k;
    double least;
    int64_t *tour;
    int64_t *place; /* of each city in the tour */
    int64_t *queue; /* the cities to try, a ring of n that begins at `head` */
    int64_t *is_queued;
    int64_t head, n_queued;
} Climb;

/* A move that shortened the tour. */
typedef struct {
    int64_t slot; /* of the new neighbour in the row of the city; -1 if there is none */
    double gain;
    int64_t ends[N_MOVE_ENDS]; /* the other cities whose edges changed */
} Move;

/* Cities that are together in the tour: `size` of them from `city` on, in a direction, 1 or -1. */
typedef struct {
    int64_t city, size, step;
} Segment;

static const Move NO_MOVE = {-1, 0.0, {0}};

/* Return a position on the ring of n that is less than one round off. */
INLINE int64_t wrap(int64_t position, int64_t n) {
    if (position < 0) return position + n;
    return position < n ? position : position - n;
}

INLINE double measure(const Climb *climb, int64_t one, int64_t other) {
    return climb->distances[one * climb->n + other];
}

/* Return the city some steps away from a city. */
INLINE int64_t look(const Climb *climb, int64_t city, int64_t steps) {
    return climb->tour[wrap(climb->place[city] + steps, climb->n)];
}

INLINE void put(Climb *climb, int64_t city, int64_t position) {
    climb->tour[position] = city;
    climb->place[city] = position;
}

/* Reverse the positions from `first` to `last`, or all others, whichever are fewer. */
static void reverse(Climb *climb, int64_t first, int64_t last) {
    int64_t n = climb->n, size = wrap(last - first, n) + 1;
    if (2 * size > n) {
        int64_t after = wrap(last + 1, n);
        last = wrap(first - 1, n);
        first = after;
        size = n - size;
    }
    for (int64_t i = 0; i < size / 2; i++) {
        int64_t one = climb->tour[first], two = climb->tour[last];
        put(climb, two, first);
        put(climb, one, last);
        first = wrap(first + 1, n);
        last = wrap(last - 1, n);
    }
}

/* Replace two edges of the tour if that is shorter, one of them between `city` and the city `step`
 * away. */
static Move try_two_opt_on_side(Climb *climb, int64_t city, int64_t step) {
    const int64_t *row = climb->rows + city * climb->k;
    int64_t beside = look(climb, city, step);
    double removed = measure(climb, city, beside);
    for (int64_t slot = 0; slot < climb->k; slot++) {
        int64_t other = row[slot];
        double gain = removed - measure(climb, city, other);
        if (gain <= climb->least) break; /* the next ones are farther away */
        int64_t end = look(climb, other, step);
        gain += measure(climb, other, end) - measure(climb, beside, end);
        if (!(gain > climb->least) || other == beside) continue;
        int64_t one = climb->place[beside], two = climb->place[other];
        if (step == 1) {
            reverse(climb, one, two);
        } else {
            reverse(climb, two, one);
        }
        return (Move){slot, gain, {beside, other, end, city, city}};
    }
    return NO_MOVE;
}

static Move try_two_opt(Climb *climb, int64_t city) {
    Move found = try_two_opt_on_side(climb, city, 1);
    return found.slot >= 0 ? found : try_two_opt_on_side(climb, city, -1);
}

/* Move the cities from position `first` on by `shift` positions, forwards or back. */
static void move_cities(
    Climb *climb, const int64_t *cities, int64_t size, int64_t first, int64_t shift,
    bool is_reversed
) {
    int64_t n = climb->n, step = shift > 0 ? 1 : -1, n_steps = shift > 0 ? shift : -shift;
    int64_t free = shift > 0 ? first : wrap(first + size - 1, n);
    for (int64_t i = 0; i < n_steps; i++) { /* the cities on the way fill the place it leaves */
        put(climb, climb->tour[wrap(free + step * size, n)], free);
        free = wrap(free + step, n);
    }
    int64_t begin = wrap(first + shift, n);
    for (int64_t i = 0; i < size; i++) {
        int64_t city = is_reversed ? cities[size - 1 - i] : cities[i];
        put(climb, city, wrap(begin + i, n));
    }
}

/* Move a segment into the edge from `other` to the city `side` away, its first city to `other`. */
static void apply_or_opt(Climb *climb, Segment moved, int64_t other, int64_t side) {
    int64_t n = climb->n, size = moved.size, cities[MAX_SEGMENT];
    int64_t first = climb->place[moved.city];
    if (moved.step == -1) first = wrap(first - size + 1, n);
    for (int64_t i = 0; i < size; i++) cities[i] = climb->tour[wrap(first + i, n)];
    /* The segment goes into the edge (left, right), in the direction of growing positions. */
    int64_t left = side == 1 ? other : look(climb, other, -1);
    int64_t forwards = wrap(wrap(climb->place[left] - first, n) - size + 1, n);
    int64_t shift = 2 * forwards <= n - size ? forwards : forwards - (n - size);
    /* After a move forwards, its first city must come first if `other` is on its left. */
    bool is_city_first = cities[0] == moved.city;
    move_cities(climb, cities, size, first, shift, is_city_first != (side == 1));
}

INLINE bool is_inside(const Climb *climb, Segment segment, int64_t city) {
    int64_t distance = climb->place[city] - climb->place[segment.city];
    return wrap(segment.step * distance, climb->n) < segment.size;
}

/* Move a segment beside a new neighbour of its first city, if that is shorter. */
static Move try_segment(Climb *climb, Segment segment) {
    int64_t city = segment.city, step = segment.step, size = segment.size;
    const int64_t *row = climb->rows + city * climb->k;
    int64_t before = look(climb, city, -step); /* the city that `city` leaves */
    int64_t tail = look(climb, city, step * (size - 1)), after = look(climb, city, step * size);
    double removed =
        measure(climb, before, city) + measure(climb, tail, after) - measure(climb, before, after);
    for (int64_t slot = 0; slot < climb->k; slot++) {
        int64_t other = row[slot];
        double gain = removed - measure(climb, city, other);
        if (gain <= climb->least) break; /* the next ones are farther away */
        if (is_inside(climb, segment, other)) continue;
        for (int i = 0; i < 2; i++) {
            int64_t side = i == 0 ? step : -step, end = look(climb, other, side);
            if (is_inside(climb, segment, end)) continue;
            double total = gain + measure(climb, other, end) - measure(climb, tail, end);
            if (!(total > climb->least)) continue;
            apply_or_opt(climb, segment, other, side);
            return (Move){slot, total, {before, other, after, tail, end}};
        }
    }
    return NO_MOVE;
}

/* Move up to three cities that end with `city` beside a new neighbour, if that is shorter. */
static Move try_or_opt(Climb *climb, int64_t city) {
    int64_t longest = climb->n - 3 < MAX_SEGMENT ? climb->n - 3 : MAX_SEGMENT;
    for (int64_t step = 1; step >= -1; step -= 2) {
        for (int64_t size = 1; size <= longest; size++) {
            Move found = try_segment(climb, (Segment){city, size, step});
            if (found.slot >= 0) return found;
        }
    }
    return NO_MOVE;
}

static void add_to_queue(Climb *climb, int64_t city) {
    if (climb->is_queued[city]) return;
    climb->is_queued[city] = 1;
    climb->queue[wrap(climb->head + climb->n_queued, climb->n)] = city;
    climb->n_queued++;
}

/* Climb until the queue is empty; return the number of moves. */
static int64_t empty_queue(Climb *climb) {
    int64_t n_moves = 0;
    while (climb->n_queued > 0) {
        int64_t city = climb->queue[climb->head];
        climb->head = wrap(climb->head + 1, climb->n);
        climb->n_queued--;
        climb->is_queued[city] = 0;
        Move found = try_two_opt(climb, city);
        if (found.slot < 0) found = try_or_opt(climb, city);
        if (found.slot < 0) continue;
        n_moves++;
        climb->credit[city * climb->k + found.slot] += found.gain;
        add_to_queue(climb, city);
        for (int64_t i = 0; i < N_MOVE_ENDS; i++) add_to_queue(climb, found.ends[i]);
    }
    return n_moves;
}

/* Climb with all cities, until none of them allows a move. */
static void climb_fully(Climb *climb) {
    int64_t n_moves = 1;
    while (n_moves > 0) { /* a move may allow others at cities that left the queue */
        climb->head = 0;
        climb->n_queued = 0;
        for (int64_t i = 0; i < climb->n; i++) add_to_queue(climb, climb->tour[i]);
        n_moves = empty_queue(climb);
    }
}

/* Exchange two adjacent segments (a double bridge); queue the six cities at their ends. */
static void cross_bridge(Climb *climb, const double *draws) {
    int64_t n = climb->n, window[2 * MAX_BRIDGE];
    int64_t longest = n / 3 < MAX_BRIDGE ? n / 3 : MAX_BRIDGE;
    int64_t start = (int64_t) (draws[0] * (double) n);
    int64_t one = 1 + (int64_t) (draws[1] * (double) longest);
    int64_t two = 1 + (int64_t) (draws[2] * (double) longest);
    CHECK(0 <= start && start < n && 1 <= one && one <= longest && 1 <= two && two <= longest);
    for (int64_t i = 0; i < one + two; i++) window[i] = climb->tour[wrap(start + 1 + i, n)];
    for (int64_t i = 0; i < one + two; i++) {
        put(climb, window[wrap(i + one, one + two)], wrap(start + 1 + i, n));
    }
    climb->head = 0;
    climb->n_queued = 0;
    int64_t ends[N_BRIDGE_ENDS] = {0, 1, two, two + 1, one + two, one + two + 1};
    for (int64_t i = 0; i < N_BRIDGE_ENDS; i++) {
        add_to_queue(climb, climb->tour[wrap(start + ends[i], n)]);
    }
}

static void set_tour(Climb *climb, const int64_t *tour) {
    for (int64_t i = 0; i < climb->n; i++) {
        CHECK(0 <= tour[i] && tour[i] < climb->n);
        put(climb, tour[i], i);
    }
}

/* Climb, then perturb and climb again and again; return the length. `old` is scratch. */
static double climb_tour(Climb *climb, const double *draws, int64_t n_draws, int64_t *old) {
    climb_fully(climb);
    double length = measure_tour(climb->distances, climb->tour, climb->n);
    for (int64_t i = 0; i < n_draws; i++) {
        memcpy(old, climb->tour, (size_t) climb->n * sizeof *old);
        cross_bridge(climb, draws + i * DRAWS_PER_BRIDGE);
        empty_queue(climb);
        double after = measure_tour(climb->distances, climb->tour, climb->n);
        if (after > length + climb->least) {
            set_tour(climb, old);
        } else {
            length = after;
        }
    }
    return length;
}

static void check_table(const TourTable *table, int64_t n) {
    CHECK(n >= MIN_CITIES && table->n_distances == n && table->distances_width == n);
    CHECK(table->n_rows == n && table->n_credit == n && table->credit_width == table->rows_width);
    CHECK(table->n_scratch == TOUR_SCRATCH && table->scratch_width == n);
    for (int64_t i = 0; i < n * table->rows_width; i++) {
        CHECK(0 <= table->rows[i] && table->rows[i] < n);
        CHECK(table->rows[i] != i / table->rows_width); /* else a climb never ends */
    }
}

void climb_tours(
    const TourTable *table, int64_t *tours, int64_t n_tours, int64_t tours_width, double *lengths,
    int64_t n_lengths, const double *draws, int64_t n_draws, int64_t draws_width,
    int64_t draws_depth
) {
    int64_t n = tours_width, *scratch = table->scratch, *old = scratch + 3 * n;
    check_table(table, n);
    CHECK(n_lengths == n_tours && n_draws == n_tours && draws_depth == DRAWS_PER_BRIDGE);
    Climb climb = {
        .distances = table->distances,
        .rows = table->rows,
        .credit = table->credit,
        .n = n,
        .k = table->rows_width,
        .least = table->least,
        .place = scratch,
        .queue = scratch + n,
        .is_queued = scratch + 2 * n,
    };
    memset(climb.is_queued, 0, (size_t) n * sizeof *climb.is_queued);
    for (int64_t t = 0; t < n_tours; t++) {
        climb.tour = tours + t * n;
        set_tour(&climb, climb.tour);
        lengths[t] = climb_tour(&climb, draws, draws_width, old);
        draws += draws_width * DRAWS_PER_BRIDGE;
    }
}
