#include "clique_tree.h"

#include "plan.h"

enum { NO_FACTOR = -1, NO_LINK = -1, NO_PLACE = -1, NOT_WANTED = -2 };

/* The factors of the table of a variable and of a finding about it. */
typedef struct {
    int64_t table, finding;
} TableFactors;

static const int64_t MANY_CELLS = (int64_t) 1 << 62; /* larger tables count as equal */

INLINE NodeRow *get_node(const CliqueTree *tree, int64_t i) {
    return (NodeRow *) tree->nodes + i;
}

INLINE VariableRow *get_variable(const CliqueTree *tree, int64_t v) {
    return (VariableRow *) tree->variables + v;
}

/* -- building */

static int64_t count_cells(const NetworkTables *network, const int64_t *members, int64_t n) {
    int64_t n_cells = 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t arity = network->arity[members[i]];
        n_cells = n_cells > MANY_CELLS / arity ? MANY_CELLS : n_cells * arity;
    }
    return n_cells;
}

/* Add a node for each clique; a clique that is one more variable than its neighbour replaces it. */
static void add_nodes(const EliminationOrder *elimination, const CliqueTree *tree) {
    const int64_t *order = elimination->order, *clique_start = elimination->clique_start;
    int64_t n_nodes = 0;
    for (int64_t i = elimination->n_order - 1; i >= 0; i--) {
        int64_t begin = clique_start[i], n = clique_start[i + 1] - begin;
        int64_t above = NO_NODE, own = n_nodes;
        if (n > 1) above = get_variable(tree, tree->members[begin + n - 2])->node;
        CHECK(tree->members[begin + n - 1] == order[i] && (n == 1 || above != NO_NODE));
        if (above != NO_NODE && get_node(tree, above)->n_members == n - 1) {
            own = above;
        } else {
            CHECK(n_nodes < tree->n_nodes);
            *get_node(tree, n_nodes++) = (NodeRow){
                .first_shared = begin,
                .n_shared = n - 1,
                .above = above,
                .first_family = NO_LINK,
                .first_target = NO_LINK,
                .first_shared_target = NO_LINK,
            };
        }
        get_node(tree, own)->first_member = begin;
        get_node(tree, own)->n_members = n;
        *get_variable(tree, order[i]) = (VariableRow){i, own, NO_LINK, NO_LINK, NOT_WANTED};
    }
    tree->counts[COUNT_NODES] = n_nodes;
}

/* List the children of each node, in the sequence of their numbers. */
static void list_children(const CliqueTree *tree) {
    int64_t n_nodes = tree->counts[COUNT_NODES], n_listed = 0;
    for (int64_t i = 0; i < n_nodes; i++) {
        int64_t above = get_node(tree, i)->above;
        if (above != NO_NODE) get_node(tree, above)->n_children++;
    }
    for (int64_t i = 0; i < n_nodes; i++) {
        NodeRow *node = get_node(tree, i);
        node->first_child = n_listed;
        n_listed += node->n_children;
        node->n_children = 0;
    }
    CHECK(n_listed <= tree->n_children);
    for (int64_t i = 0; i < n_nodes; i++) {
        int64_t above = get_node(tree, i)->above;
        if (above == NO_NODE) continue;
        NodeRow *parent = get_node(tree, above);
        tree->children[parent->first_child + parent->n_children++] = i;
    }
}

/* Put each table into the clique of the member of its family that is summed out first. */
static void place_families(
    const NetworkTables *network, const int64_t *families, int64_t n_families,
    const CliqueTree *tree
) {
    tree->counts[FIRST_CONSTANT_FAMILY] = NO_LINK;
    for (int64_t i = n_families - 1; i >= 0; i--) {
        int64_t v = families[i], first = NO_LINK;
        for (int64_t k = network->family_start[v]; k < network->family_start[v + 1]; k++) {
            int64_t member = network->family[k], place = get_variable(tree, member)->place;
            if (place < 0) continue;
            if (first == NO_LINK || place < get_variable(tree, first)->place) first = member;
        }
        int64_t *link = &tree->counts[FIRST_CONSTANT_FAMILY];
        if (first != NO_LINK) link = &get_node(tree, get_variable(tree, first)->node)->first_family;
        get_variable(tree, v)->next_family = *link;
        *link = v;
    }
}

/* The variables of a clique, or of what it shares with the one above. */
typedef struct {
    const int64_t *members;
    int64_t n, n_cells;
} Place;

static Place get_place(const CliqueTree *tree, int64_t place) {
    const NodeRow *node = get_node(tree, place / 2);
    if (place % 2)
        return (Place){tree->members + node->first_shared, node->n_shared, node->n_shared_cells};
    return (Place){tree->members + node->first_member, node->n_members, node->n_cells};
}

/* Compute the marginals of the variables of a place there, where it has fewer cells than before. */
static void offer_place(const CliqueTree *tree, int64_t place) {
    Place offered = get_place(tree, place);
    for (int64_t k = 0; k < offered.n; k++) {
        VariableRow *variable = get_variable(tree, offered.members[k]);
        int64_t best = variable->target_place;
        if (best == NOT_WANTED) continue;
        if (best == NO_PLACE || offered.n_cells < get_place(tree, best).n_cells)
            variable->target_place = place;
    }
}

/* Choose where the marginal of each target is computed. */
static void place_targets(const int64_t *targets, int64_t n_targets, const CliqueTree *tree) {
    for (int64_t i = 0; i < n_targets; i++) get_variable(tree, targets[i])->target_place = NO_PLACE;
    for (int64_t place = 0; place < 2 * tree->counts[COUNT_NODES]; place++)
        offer_place(tree, place);
    for (int64_t i = n_targets - 1; i >= 0; i--) {
        VariableRow *variable = get_variable(tree, targets[i]);
        CHECK(variable->target_place != NO_PLACE);
        NodeRow *node = get_node(tree, variable->target_place / 2);
        bool is_shared = variable->target_place % 2;
        int64_t *link = is_shared ? &node->first_shared_target : &node->first_target;
        variable->next_target = *link;
        *link = targets[i];
    }
}

void build_clique_tree(
    const NetworkTables *network, const EliminationOrder *elimination, const int64_t *families,
    int64_t n_families, const int64_t *targets, int64_t n_targets, const CliqueTree *tree
) {
    CHECK(tree->n_variables == network->n_arity && tree->n_members == elimination->n_members);
    for (int64_t v = 0; v < tree->n_variables; v++)
        *get_variable(tree, v) = (VariableRow){NO_PLACE, NO_NODE, NO_LINK, NO_LINK, NOT_WANTED};
    add_nodes(elimination, tree);
    list_children(tree);
    for (int64_t i = 0; i < tree->counts[COUNT_NODES]; i++) {
        NodeRow *node = get_node(tree, i);
        node->n_cells = count_cells(network, tree->members + node->first_member, node->n_members);
        node->n_shared_cells =
            count_cells(network, tree->members + node->first_shared, node->n_shared);
    }
    place_families(network, families, n_families, tree);
    place_targets(targets, n_targets, tree);
}

/* -- planning */

/* What all parts of planning marginals share. */
typedef struct {
    Planner planner;
    const CliqueTree *tree;
    MessageRow *messages;
    TableFactors *tables;
    int64_t *factors;
} Propagation;

static MessageRow *get_message(const Propagation *propagation, int64_t node) {
    return propagation->messages + node;
}

/* Add the tables of a node, and the findings about their variables, to the plan. */
static int64_t add_tables(Propagation *propagation, int64_t first) {
    for (int64_t v = first; v != NO_LINK; v = get_variable(propagation->tree, v)->next_family) {
        TableFactors *own = propagation->tables + v;
        own->finding = NO_FACTOR;
        TRY(add_table(&propagation->planner, v, &own->table));
        if (has_finding(&propagation->planner, v))
            TRY(add_finding(&propagation->planner, v, &own->finding));
    }
    return DONE;
}

static int64_t push_tables(Propagation *propagation, int64_t first, LiveList *list) {
    for (int64_t v = first; v != NO_LINK; v = get_variable(propagation->tree, v)->next_family) {
        const TableFactors *own = propagation->tables + v;
        TRY(push_factor(&propagation->planner, own->table, list));
        if (own->finding != NO_FACTOR) TRY(push_factor(&propagation->planner, own->finding, list));
    }
    return DONE;
}

static int64_t push_message(Propagation *propagation, int64_t first, int64_t n, LiveList *list) {
    for (int64_t i = first; i < first + n; i++)
        TRY(push_factor(&propagation->planner, propagation->planner.plan->lists[i], list));
    return DONE;
}

static int64_t push_up(Propagation *propagation, int64_t child, LiveList *list) {
    const MessageRow *message = get_message(propagation, child);
    return push_message(propagation, message->first_up, message->n_up, list);
}

static int64_t push_down(Propagation *propagation, int64_t node, LiveList *list) {
    const MessageRow *message = get_message(propagation, node);
    return push_message(propagation, message->first_down, message->n_down, list);
}

static LiveList begin_list(const Propagation *propagation) {
    return (LiveList){propagation->planner.plan->used[USED_LIVE], 0};
}

/* Work in the clique of a node, or in what it shares with the node above. */
static int64_t enter_place(Propagation *propagation, int64_t place) {
    Place entered = get_place(propagation->tree, place);
    return enter_clique(&propagation->planner, entered.members, entered.n);
}

/* Return the bits of the variables that a node shares. */
static int64_t mask_shared(const Propagation *propagation, const NodeRow *node) {
    int64_t mask = 0;
    for (int64_t k = 0; k < node->n_shared; k++) {
        int64_t v = propagation->tree->members[node->first_shared + k];
        mask |= (int64_t) 1 << propagation->planner.plan->place[v];
    }
    return mask;
}

/* Sum out what the neighbour does not share, and keep the factors that are left as a message. */
static int64_t
send_message(Propagation *propagation, int64_t shared, LiveList *list, int64_t *first, int64_t *n) {
    Planner *planner = &propagation->planner;
    const Plan *plan = planner->plan;
    TRY(sum_out(planner, mask_list(planner, *list) & ~shared, list));
    TRY(join_equals(planner, list));
    if (plan->used[USED_LISTS] + list->n > plan->n_lists) return NO_ROOM;
    *first = plan->used[USED_LISTS];
    *n = list->n;
    for (int64_t i = 0; i < list->n; i++)
        plan->lists[plan->used[USED_LISTS]++] = get_live(planner, list->begin + i)->factor;
    drop_list(planner, *list);
    return DONE;
}

/* Send the message of each node to the one above; what the roots have left are constants. */
static int64_t send_up(Propagation *propagation) {
    const CliqueTree *tree = propagation->tree;
    propagation->planner.keeps_constants = true;
    for (int64_t i = tree->counts[COUNT_NODES] - 1; i >= 0; i--) {
        const NodeRow *node = get_node(tree, i);
        MessageRow *message = get_message(propagation, i);
        *message = (MessageRow){0, 0, 0, 0};
        TRY(enter_place(propagation, 2 * i));
        TRY(add_tables(propagation, node->first_family));
        LiveList list = begin_list(propagation);
        TRY(push_tables(propagation, node->first_family, &list));
        for (int64_t k = 0; k < node->n_children; k++)
            TRY(push_up(propagation, tree->children[node->first_child + k], &list));
        int64_t shared = mask_shared(propagation, node);
        TRY(send_message(propagation, shared, &list, &message->first_up, &message->n_up));
    }
    propagation->planner.keeps_constants = false;
    return DONE;
}

/* Send messages to some children of the node at work. `list` has all factors but those from these
 * children. Each half of them gets those from the other half, and so on. */
static int64_t
send_down(Propagation *propagation, const int64_t *children, int64_t n, LiveList list) {
    LiveList copy;
    if (n == 1) {
        MessageRow *message = get_message(propagation, children[0]);
        int64_t shared = mask_shared(propagation, get_node(propagation->tree, children[0]));
        TRY(copy_list(&propagation->planner, list, &copy));
        return send_message(propagation, shared, &copy, &message->first_down, &message->n_down);
    }
    int64_t half = n / 2;
    for (int64_t side = 0; side < 2; side++) {
        int64_t begin = side ? 0 : half, end = side ? half : n; /* whose messages are added */
        TRY(copy_list(&propagation->planner, list, &copy));
        for (int64_t k = begin; k < end; k++) TRY(push_up(propagation, children[k], &copy));
        TRY(join_equals(&propagation->planner, &copy));
        if (side)
            TRY(send_down(propagation, children + half, n - half, copy));
        else
            TRY(send_down(propagation, children, half, copy));
        drop_list(&propagation->planner, copy);
    }
    return DONE;
}

/* Plan the marginals of some variables, as bits, from factors whose other axes are summed out. Each
 * half of the variables is summed out once for the other half, and so on. */
static int64_t split_targets(Propagation *propagation, int64_t targets, LiveList list) {
    Planner *planner = &propagation->planner;
    if ((targets & (targets - 1)) == 0) {
        int64_t v = planner->members[find_lowest_bit(targets)];
        return join_all(planner, list, false, &propagation->factors[v]);
    }
    int64_t half = 0, n = 0, n_targets = __builtin_popcountll((uint64_t) targets);
    for (int64_t left = targets; n < n_targets / 2; left &= left - 1, n++) half |= left & -left;
    for (int64_t side = 0; side < 2; side++) {
        int64_t kept = side ? half : targets & ~half;
        LiveList copy;
        TRY(copy_list(planner, list, &copy));
        TRY(sum_out(planner, targets & ~kept, &copy));
        TRY(split_targets(propagation, kept, copy));
        drop_list(planner, copy);
    }
    return DONE;
}

/* Plan the marginals of the targets of a place from all factors there. */
static int64_t plan_targets(Propagation *propagation, int64_t first, LiveList *list) {
    Planner *planner = &propagation->planner;
    int64_t targets = 0;
    for (int64_t v = first; v != NO_LINK; v = get_variable(propagation->tree, v)->next_target)
        if (planner->evidence->codes[v] < 0) targets |= (int64_t) 1 << planner->plan->place[v];
    if (targets) {
        TRY(sum_out(planner, mask_list(planner, *list) & ~targets, list));
        TRY(split_targets(propagation, targets, *list));
    }
    drop_list(planner, *list);
    return DONE;
}

/* Send the messages of each node to its children, and plan the marginals. */
static int64_t spread(Propagation *propagation, int64_t i) {
    const CliqueTree *tree = propagation->tree;
    const NodeRow *node = get_node(tree, i);
    const int64_t *children = tree->children + node->first_child;
    if (node->first_shared_target != NO_LINK) {
        TRY(enter_place(propagation, 2 * i + 1));
        LiveList shared = begin_list(propagation);
        TRY(push_up(propagation, i, &shared));
        TRY(push_down(propagation, i, &shared));
        TRY(plan_targets(propagation, node->first_shared_target, &shared));
    }
    if (node->n_children == 0 && node->first_target == NO_LINK) return DONE;
    TRY(enter_place(propagation, 2 * i));
    LiveList list = begin_list(propagation);
    TRY(push_tables(propagation, node->first_family, &list));
    TRY(push_down(propagation, i, &list));
    if (node->n_children) TRY(send_down(propagation, children, node->n_children, list));
    if (node->first_target != NO_LINK) {
        for (int64_t k = 0; k < node->n_children; k++)
            TRY(push_up(propagation, children[k], &list));
        TRY(plan_targets(propagation, node->first_target, &list));
    }
    drop_list(&propagation->planner, list);
    return DONE;
}

int64_t plan_marginals(
    const NetworkTables *network, const CliqueTree *tree, const EvidenceCodes *evidence,
    const Plan *plan, int64_t *messages, int64_t n_messages, int64_t messages_width,
    int64_t *tables, int64_t n_tables, int64_t tables_width, int64_t *factors, int64_t n_factors
) {
    CHECK(evidence->n_codes == network->n_arity && n_factors == network->n_arity);
    CHECK(n_tables == network->n_arity && n_messages >= tree->counts[COUNT_NODES]);
    Planner planner = {.network = network, .evidence = evidence, .plan = plan};
    Propagation propagation = {
        planner, tree, (MessageRow *) messages, (TableFactors *) tables, factors,
    };
    int64_t constants = tree->counts[FIRST_CONSTANT_FAMILY];
    LiveList none = {0, 0};
    for (int64_t i = 0; i < N_USED; i++) plan->used[i] = 0;
    for (int64_t v = 0; v < n_factors; v++) factors[v] = NO_FACTOR;
    propagation.planner.keeps_constants = true;
    TRY(add_tables(&propagation, constants));
    TRY(push_tables(&propagation, constants, &none));
    TRY(send_up(&propagation));
    for (int64_t i = 0; i < tree->counts[COUNT_NODES]; i++) TRY(spread(&propagation, i));
    return DONE;
}
