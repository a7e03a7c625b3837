#include "family_index.h"

enum { NOT_SEEN = -1 }; /* no word has this number */

/* List the pairs of the next child, and set where the words of each begin.
 *
 * `pair_of` and `seen` are scratch: the pair of each parent, and the last word that it was in. At
 * the begin of each child no word was seen. */
static void find_pairs(
    const Families *families, const FamilyIndex *index, int64_t child, int64_t *pair_of,
    int64_t *seen
) {
    const int64_t *start = families->start;
    const int32_t *parents = families->parents;
    int64_t first = index->of_child[child], n_pairs = first, *restrict begin = index->begin;
    for (int64_t f = families->begin[child]; f < families->begin[child + 1]; f++) {
        int64_t word = word_of(f);
        for (int64_t i = start[f]; i < start[f + 1]; i++) {
            int32_t u = parents[i];
            CHECK(0 <= u && u < families->n_begin - 1 && u != child);
            if (seen[u] == word) continue;
            if (seen[u] == NOT_SEEN) {
                index->parent[n_pairs] = u;
                index->best[n_pairs] = (int32_t) f;
                begin[n_pairs + 1] = 0;
                pair_of[u] = n_pairs++;
            }
            seen[u] = word;
            begin[pair_of[u] + 1]++;
        }
    }
    index->of_child[child + 1] = n_pairs;
    for (int64_t pair = first; pair < n_pairs; pair++) {
        begin[pair + 1] += begin[pair];
        seen[index->parent[pair]] = NOT_SEEN;
    }
}

/* Fill the words of the pairs of a child; `at` is scratch: the present word of each parent. */
static void
fill_words(const Families *families, const FamilyIndex *index, int64_t child, int64_t *at) {
    const int64_t *start = families->start;
    const int32_t *parents = families->parents;
    int32_t *restrict words = index->word;
    uint64_t *restrict bits = index->bits;
    int64_t first = index->of_child[child], end = index->of_child[child + 1];
    for (int64_t i = index->begin[first]; i < index->begin[end]; i++) bits[i] = 0;
    for (int64_t pair = first; pair < end; pair++) {
        at[index->parent[pair]] = index->begin[pair];
        words[index->begin[pair]] = (int32_t) word_of(index->best[pair]);
    }
    for (int64_t f = families->begin[child]; f < families->begin[child + 1]; f++) {
        int32_t word = (int32_t) word_of(f);
        for (int64_t i = start[f]; i < start[f + 1]; i++) {
            int64_t *own = at + parents[i];
            if (words[*own] != word) words[++*own] = word;
            bits[*own] |= bit_of(f);
        }
    }
}

/* List the pairs again, by parent, and overwrite `arc_of` with the arc of each pair. */
static void list_by_parent(const FamilyIndex *index, int64_t n, int64_t *filled, int64_t *arc_of) {
    int64_t n_pairs = index->of_child[n], *of_parent = index->of_parent;
    for (int64_t v = 0; v <= n; v++) of_parent[v] = 0;
    for (int64_t pair = 0; pair < n_pairs; pair++) of_parent[index->parent[pair] + 1]++;
    for (int64_t v = 0; v < n; v++) {
        of_parent[v + 1] += of_parent[v];
        filled[v] = of_parent[v];
    }
    for (int64_t child = 0; child < n; child++) {
        for (int64_t pair = index->of_child[child]; pair < index->of_child[child + 1]; pair++) {
            int64_t arc = filled[index->parent[pair]]++;
            index->child[arc] = (int32_t) child;
            index->pair[arc] = (int32_t) pair;
            arc_of[pair] = arc;
        }
    }
}

/* Look up the arc of each parent of the families of a child.
 *
 * `own` is scratch: the arc from each parent to the child. */
static void find_arcs(
    const Families *families, const FamilyIndex *index, int64_t child, const int64_t *arc_of,
    int64_t *own
) {
    for (int64_t pair = index->of_child[child]; pair < index->of_child[child + 1]; pair++) {
        own[index->parent[pair]] = arc_of[pair];
    }
    const int32_t *parents = families->parents;
    int32_t *restrict arc = index->arc;
    int64_t end = families->start[families->begin[child + 1]];
    for (int64_t i = families->start[families->begin[child]]; i < end; i++) {
        arc[i] = (int32_t) own[parents[i]];
    }
}

void list_pairs(
    const Families *families, const FamilyIndex *index, int64_t *spare, int64_t n_spare
) {
    int64_t n = families->n_begin - 1, most = families->n_parents;
    CHECK(families->begin[0] == 0 && families->begin[n] == families->n_score);
    CHECK(families->n_start == families->n_score + 1);
    CHECK(families->start[families->n_score] == most);
    CHECK(index->n_of_child == n + 1 && index->n_of_parent == n + 1);
    CHECK(index->n_parent >= most && index->n_best >= most && index->n_begin > most);
    CHECK(index->n_word >= most && index->n_bits >= most && index->n_arc >= most);
    CHECK(index->n_child >= most && index->n_pair >= most);
    CHECK(n_spare >= 2 * n && n_spare >= n + most);
    int64_t *by_variable = spare, *other = spare + n;
    for (int64_t v = 0; v < n; v++) other[v] = NOT_SEEN;
    index->of_child[0] = 0;
    index->begin[0] = 0;
    for (int64_t v = 0; v < n; v++) {
        find_pairs(families, index, v, by_variable, other);
        fill_words(families, index, v, by_variable);
    }
    list_by_parent(index, n, by_variable, other);
    for (int64_t v = 0; v < n; v++) find_arcs(families, index, v, other, by_variable);
}

/* Return whether a variable is among the parents of a family. */
static bool has_parent(const Families *families, int64_t family, int64_t variable) {
    for (int64_t i = families->start[family]; i < families->start[family + 1]; i++) {
        if (families->parents[i] == variable) return true;
    }
    return false;
}

int64_t list_relatives(
    const Families *families, const int64_t *choice, int64_t n_choice, int64_t variable,
    int64_t *relatives, int64_t n_relatives
) {
    int64_t n = 0;
    CHECK(n_choice == families->n_begin - 1 && n_relatives == n_choice);
    CHECK(0 <= variable && variable < n_choice);
    for (int64_t v = 0; v < n_choice; v++) {
        CHECK(families->begin[v] <= choice[v] && choice[v] < families->begin[v + 1]);
        if (v == variable || has_parent(families, choice[v], variable) ||
            has_parent(families, choice[variable], v)) {
            relatives[n++] = v;
        }
    }
    return n;
}
