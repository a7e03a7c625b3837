#include "relevance.h"

enum { NONE = -1 };

/* A question, with one number for each variable. */
typedef struct {
    const NetworkTables *network;
    const EvidenceCodes *evidence;
    int64_t n;
    int64_t *is_relevant; /* not barren */
    int64_t *part;        /* of a forest: another variable of its part, or itself */
    int64_t *is_asked;    /* of the root of a part: whether something in it is asked about */
    int64_t *state;       /* of the witness */
    int64_t *stack;       /* later the number of each unobserved variable */
} Question;

INLINE bool is_free(const Question *question, int64_t v) {
    return question->evidence->codes[v] < 0;
}

static int64_t find_root(const Question *question, int64_t v) {
    int64_t *part = question->part;
    while (part[v] != v) v = part[v] = part[part[v]];
    return v;
}

/* Mark some variables that are asked about, the evidence, and all their ancestors. */
static void mark_relevant(const Question *question, const int64_t *asked, int64_t n_asked) {
    const NetworkTables *network = question->network;
    const EvidenceCodes *evidence = question->evidence;
    int64_t n_waiting = 0;
    for (int64_t v = 0; v < question->n; v++) question->is_relevant[v] = false;
    for (int64_t i = 0; i < n_asked; i++) question->is_relevant[asked[i]] = true;
    for (int64_t v = 0; v < question->n; v++) {
        /* a variable with one state is no evidence */
        bool is_observed = evidence->codes[v] >= 0 && network->arity[v] > 1;
        if (is_observed || evidence->findings[v] >= 0) question->is_relevant[v] = true;
        if (question->is_relevant[v]) question->stack[n_waiting++] = v;
    }
    while (n_waiting) {
        int64_t v = question->stack[--n_waiting];
        for (int64_t k = network->family_start[v]; k < network->family_start[v + 1]; k++) {
            int64_t member = network->family[k];
            if (question->is_relevant[member]) continue;
            question->is_relevant[member] = true;
            question->stack[n_waiting++] = member;
        }
    }
}

/* Return an unobserved variable of a family, or NONE. */
static int64_t find_free_member(const Question *question, int64_t v) {
    const NetworkTables *network = question->network;
    for (int64_t k = network->family_start[v]; k < network->family_start[v + 1]; k++)
        if (is_free(question, network->family[k])) return network->family[k];
    return NONE;
}

/* Join the unobserved variables of each table, and mark the parts that are asked about. */
static void find_parts(const Question *question, const int64_t *asked, int64_t n_asked) {
    const NetworkTables *network = question->network;
    for (int64_t v = 0; v < question->n; v++) {
        question->part[v] = v;
        question->is_asked[v] = false;
    }
    for (int64_t v = 0; v < question->n; v++) {
        int64_t first = question->is_relevant[v] ? find_free_member(question, v) : NONE;
        if (first == NONE) continue;
        for (int64_t k = network->family_start[v]; k < network->family_start[v + 1]; k++)
            if (is_free(question, network->family[k]))
                question->part[find_root(question, network->family[k])] =
                    find_root(question, first);
    }
    for (int64_t i = 0; i < n_asked; i++) question->is_asked[find_root(question, asked[i])] = true;
}

/* Return whether a table belongs to a part that is asked about. */
static bool is_needed(const Question *question, int64_t v) {
    int64_t member = find_free_member(question, v);
    return member != NONE && question->is_asked[find_root(question, member)];
}

/* Choose the most probable state of a variable given those of its parents, with its finding; return
 * its probability. An observed variable has its state. */
static double choose_state(const Question *question, int64_t v) {
    const NetworkTables *network = question->network;
    int64_t last = network->family_start[v + 1] - 1, arity = network->arity[v], row = 0;
    for (int64_t k = network->family_start[v]; k < last; k++)
        row = row * network->arity[network->family[k]] + question->state[network->family[k]];
    const double *table = network->tables + network->table_start[v] + row * arity;
    int64_t finding = question->evidence->findings[v], code = question->evidence->codes[v];
    double most = -1.0;
    for (int64_t s = code < 0 ? 0 : code; s <= (code < 0 ? arity - 1 : code); s++) {
        double weight = finding < 0 ? 1.0 : question->evidence->weights[finding + s];
        if (table[s] * weight <= most) continue;
        most = table[s] * weight;
        question->state[v] = s;
    }
    return most;
}

/* Return whether a witness shows that the evidence of all other parts is possible. */
static bool has_witness(const Question *question, const int64_t *topological) {
    for (int64_t i = 0; i < question->n; i++) {
        int64_t v = topological[i];
        if (!question->is_relevant[v]) continue;
        if (is_needed(question, v)) {
            question->state[v] = is_free(question, v) ? 0 : question->evidence->codes[v];
            continue;
        }
        if (!(choose_state(question, v) > 0.0)) return false;
    }
    return true;
}

/* List the tables that are read; number their unobserved variables. */
static void list_scopes(const Question *question, bool is_total, const Scopes *scopes) {
    const NetworkTables *network = question->network;
    int64_t *number = question->stack, n_families = 0, n_variables = 0, n_members = 0;
    for (int64_t v = 0; v < question->n; v++) number[v] = NONE;
    for (int64_t v = 0; v < question->n; v++) {
        if (!question->is_relevant[v] || !(is_total || is_needed(question, v))) continue;
        scopes->families[n_families++] = v;
        for (int64_t k = network->family_start[v]; k < network->family_start[v + 1]; k++)
            if (is_free(question, network->family[k])) number[network->family[k]] = 0;
    }
    for (int64_t v = 0; v < question->n; v++) {
        if (number[v] == NONE) continue;
        scopes->variables[n_variables] = v;
        number[v] = n_variables++;
    }
    for (int64_t i = 0; i < n_families; i++) {
        int64_t v = scopes->families[i];
        scopes->start[i] = n_members;
        for (int64_t k = network->family_start[v]; k < network->family_start[v + 1]; k++)
            if (is_free(question, network->family[k]))
                scopes->members[n_members++] = number[network->family[k]];
    }
    scopes->start[n_families] = n_members;
    scopes->counts[COUNT_FAMILIES] = n_families;
    scopes->counts[COUNT_VARIABLES] = n_variables;
}

void find_scopes(
    const NetworkTables *network, const EvidenceCodes *evidence, const int64_t *topological,
    int64_t n_topological, const int64_t *asked, int64_t n_asked, int64_t is_total,
    const Scopes *scopes, int64_t *scratch, int64_t n_scratch, int64_t scratch_width
) {
    int64_t n = network->n_arity;
    CHECK(n_topological == n && evidence->n_codes == n && scratch_width == n);
    CHECK(n_scratch == RELEVANCE_ROWS && scopes->n_families == n && scopes->n_variables == n);
    CHECK(scopes->n_start == n + 1 && scopes->n_members == network->n_family);
    CHECK(scopes->n_counts == N_SCOPE_COUNTS);
    Question question = {
        network,         evidence,        n, scratch, scratch + n, scratch + 2 * n,
        scratch + 3 * n, scratch + 4 * n,
    };
    mark_relevant(&question, asked, n_asked);
    find_parts(&question, asked, n_asked);
    bool reads_all = is_total || !has_witness(&question, topological);
    list_scopes(&question, reads_all, scopes);
}
