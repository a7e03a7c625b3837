/* The cliques of a network as a tree, and the plan that computes all marginals in it.
 *
 * Each clique sends a message to each neighbour: the factors that are left of its own and of those
 * from its other neighbours when the variables that the neighbour does not have are summed out.
 * A message is a list of factors, not their product (lazy propagation), so what evidence separates
 * is never multiplied. The marginal of a variable is computed where the fewest cells are.
 *
 * References: A. L. Madsen, F. V. Jensen (1999), Lazy propagation: a junction tree inference
 * algorithm based on lazy evaluation, Artificial Intelligence 113, 203-245. G. Shafer, P. P. Shenoy
 * (1990), Probability propagation, Annals of Mathematics and Artificial Intelligence 2, 327-351.
 */
#ifndef ENGINE_CLIQUE_TREE_H
#define ENGINE_CLIQUE_TREE_H

#include "elimination.h"

enum { NO_NODE = -1 };

/* The lengths of the rows of a tree, of messages, and of the factors of tables. */
enum { NODE_FIELDS = 12, VARIABLE_FIELDS = 5, MESSAGE_FIELDS = 4, TABLE_FIELDS = 2 };

/* The numbers in CliqueTree->counts: nodes, and the first family without an unobserved member. */
enum { COUNT_NODES, FIRST_CONSTANT_FAMILY, N_COUNTS };

/* The nodes are numbered from the roots outwards. */
typedef struct {
    const int64_t *members; /* of all cliques: those of the elimination order */
    int64_t n_members;
    int64_t *nodes; /* rows of NodeRow */
    int64_t n_nodes;
    int64_t nodes_width;
    int64_t *children; /* of all nodes */
    int64_t n_children;
    int64_t *variables; /* rows of VariableRow */
    int64_t n_variables;
    int64_t variables_width;
    int64_t *counts;
    int64_t n_counts;
} CliqueTree;

/* Rows of int64_t. Both begin at a place in CliqueTree->members. */
typedef struct {
    int64_t first_member, n_members, n_cells;
    int64_t first_shared, n_shared, n_shared_cells; /* with the node above */
    int64_t above, first_child, n_children;
    int64_t first_family; /* of those that are multiplied here; VariableRow has the next one */
    int64_t first_target, first_shared_target; /* whose marginals are computed here; likewise */
} NodeRow;

typedef struct {
    int64_t place; /* in the elimination order; -1 if it is not in it */
    int64_t node;  /* where it is summed out */
    int64_t next_family, next_target;
    int64_t target_place; /* 2 i: clique i; 2 i + 1: what it shares; -1: none */
} VariableRow;

/* What the messages of a node are: parts of Plan->lists. */
typedef struct {
    int64_t first_up, n_up, first_down, n_down;
} MessageRow;

/* Build the tree of an elimination order.
 *
 * `families` are the variables whose tables are multiplied, `targets` those that have a marginal.
 */
ENGINE_API void build_clique_tree(
    const NetworkTables *network, const EliminationOrder *elimination, const int64_t *families,
    int64_t n_families, const int64_t *targets, int64_t n_targets, const CliqueTree *tree
);

/* Plan the marginals of all targets that are not observed.
 *
 * factors[v] becomes the factor of the marginal of variable v, or -1. `messages` is scratch, a row
 * of MessageRow for each node; `tables`, two numbers for each variable. Return DONE, NO_ROOM or
 * TOO_LARGE (plan.h). */
ENGINE_API int64_t plan_marginals(
    const NetworkTables *network, const CliqueTree *tree, const EvidenceCodes *evidence,
    const Plan *plan, int64_t *messages, int64_t n_messages, int64_t messages_width,
    int64_t *tables, int64_t n_tables, int64_t tables_width, int64_t *factors, int64_t n_factors
);

#endif
