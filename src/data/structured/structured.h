/* SPDX-License-Identifier: Apache-2.0 */
/* Text formats as trees whose nodes know their bytes; values found by paths, and changed with every
 * other byte kept.
 *
 *     enum structured_format format = structured_format_of("compose.yaml", head);
 *     _cleanup_structured_ struct structured tree = { 0 };
 *     if (!structured_parse(format, text, &tree, &err))
 *             ...
 *     node = structured_find(&tree, SPAN(".services.web.ports[0]"), &err);
 *     value = structured_value(&tree, node);
 *
 *     ok = structured_change(format, text, changes, 0, &out, &err);
 *
 * All formats give one kind of tree, with the values of JSON:
 *
 *     JSON, JSONC       themselves
 *     JSON Lines        an array of the lines' values
 *     YAML              the document; an array of the documents where there are several.  Dates are
 *                       strings, as in YAML 1.2; an alias has the kind, text and children of none:
 *                       it is resolved by structured_value and structured_target.
 *     TOML              the table; dates and times are strings
 *     XML               an object with one member, the root element.  An element with neither
 *                       attributes nor elements is a string, null if it is empty; any other is an
 *                       object: attributes as "@name", elements by name (an array where a name
 *                       repeats), its text without surrounding white space as "#text"
 *     CSV, TSV          an array with an object for each row after the first, which has the names;
 *                       all values are strings
 *     INI               an object: keys before the first section, and an object for each section;
 *                       values are strings, null for a key without a separator
 *     properties        an object; values are strings
 *
 * The text is UTF-8; a byte-order mark is skipped.  Nothing outside is read: of XML's entities only
 * the five predefined ones and characters by number are known.
 *
 * Not here: jq expressions and outlines (read/query.h), the file itself (edit/).
 */
#ifndef HASP_DATA_STRUCTURED_STRUCTURED_H
#define HASP_DATA_STRUCTURED_STRUCTURED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

enum structured_format {
	STRUCTURED_NONE,
	STRUCTURED_JSON,
	STRUCTURED_JSONC,
	STRUCTURED_JSON_LINES,
	STRUCTURED_YAML,
	STRUCTURED_TOML,
	STRUCTURED_XML,
	STRUCTURED_CSV, /* commas, or semicolons where the first row has no comma */
	STRUCTURED_TSV,
	STRUCTURED_INI,
	STRUCTURED_PROPERTIES,
	STRUCTURED_FORMAT_COUNT
};

enum structured_kind {
	STRUCTURED_OBJECT,
	STRUCTURED_ARRAY,
	STRUCTURED_STRING,
	STRUCTURED_NUMBER,
	STRUCTURED_BOOLEAN,
	STRUCTURED_NULL,
	STRUCTURED_ALIAS, /* YAML: stands for another node, structured_target */
};

/* A stretch of the text, in bytes; `end` is past its last one. */
struct structured_range {
	uint32_t start, end;
};

/* One value.  Nodes are in one array, parents before their children, and (but for TOML and XML) in
 * the order of the text; 0, the root's index, stands for "none" in the links. */
struct structured_node {
	uint8_t kind;      /* enum structured_kind */
	uint8_t style;     /* how it is written; each format has its own (private.h) */
	uint16_t flags;    /* likewise */
	uint32_t parent, first, last, next;
	uint32_t count;    /* children */
	struct structured_range source; /* the whole value as written, with quotation marks;
	                                 * empty where it is left out (`key:`) */
	struct structured_range key;    /* the key as written; empty for items of arrays */
	struct structured_range entry;  /* from the key, or an item's dash, to the value's end */
	uint32_t name, name_len;        /* the key's text: structured_name */
	uint32_t text, text_len;        /* a scalar's text: structured_text */
};

struct structured_extra; /* what one format keeps besides */
struct structured_steps;

struct structured {
	enum structured_format format;
	const char *label;             /* of the format; static */
	struct span text;              /* borrowed: what was parsed, byte-order mark included */
	struct structured_node *nodes; /* owned */
	uint32_t count;
	size_t cap;
	struct buf decoded;            /* texts that do not stand in `text` as they are */
	struct structured_extra *extra; /* owned; or NULL */
	const struct structured_steps *along; /* while it is read: the way to a change */
};

/* Frees the contents. */
void structured_release(struct structured *tree);
#define _cleanup_structured_ __attribute__((cleanup(structured_release)))

/* The format of a file by the last part of its name and its first bytes (of some hundred); NONE:
 * not one of these. */
enum structured_format structured_format_of(const char *name, struct span head);
/* "a YAML file"; "JSON", "CSV": for a sentence, for a label. */
const char *structured_format_words(enum structured_format format);
const char *structured_format_label(enum structured_format format);

/* Parses all of the text, which the tree borrows.  INVALID_ARGUMENT, with line and column: not the
 * format.  TOO_LARGE: more than LIMIT_STRUCTURED_BYTES, LIMIT_STRUCTURED_NODES.  Linear in the
 * text; nesting past STRUCTURED_DEPTH_MAX is INVALID_ARGUMENT.  Repeated keys are no error here:
 * each has its node. */
bool structured_parse(enum structured_format format, struct span text, struct structured *ret,
                      struct err *err);

enum { STRUCTURED_DEPTH_MAX = 1000 };

/* ---- nodes ------------------------------------------------------------------------ */

static inline const struct structured_node *structured_root(const struct structured *tree)
{
	return &tree->nodes[0];
}

/* Whether the root is an array of a YAML file's documents. */
bool structured_has_documents(const struct structured *tree);

/* The first child, and the child after one; NULL after the last. */
static inline const struct structured_node *
structured_first(const struct structured *tree, const struct structured_node *node)
{
	return node->first ? &tree->nodes[node->first] : NULL;
}

static inline const struct structured_node *
structured_next(const struct structured *tree, const struct structured_node *node)
{
	return node->next ? &tree->nodes[node->next] : NULL;
}

static inline struct span structured_bytes(const struct structured *tree,
                                           struct structured_range range)
{
	return span_of(tree->text.data + range.start, range.end - range.start);
}

/* The key of an object's member, decoded; the text of a scalar, decoded: of a string its
 * characters, of other scalars as written ("0x1F", "yes" only where the format says so).  Borrowed
 * from the tree. */
struct span structured_name(const struct structured *tree, const struct structured_node *node);
struct span structured_text(const struct structured *tree, const struct structured_node *node);
/* What an alias stands for; the node itself if it is none. */
const struct structured_node *structured_target(const struct structured *tree,
                                                const struct structured_node *node);
/* The line of the node's first byte, its key's if it has one; from 1. Linear in the text. */
unsigned structured_line(const struct structured *tree, const struct structured_node *node);
/* "an object", "a string", ... */
const char *structured_kind_phrase(const struct structured_node *node);

/* The value as JSON, a new reference; aliases are resolved, merge keys ("<<") are members like
 * others; of members with one name the last counts.  TOO_LARGE: more than LIMIT_STRUCTURED_NODES
 * values once aliases are resolved (or more than `max`, if that is not 0).  A number past what JSON
 * can hold exactly is a string of its digits. */
bool structured_value(const struct structured *tree, const struct structured_node *node,
                      size_t max, json_t **ret, struct err *err);

/* Appends the path of the node as jq writes it: `.services.web.ports[0]`, `."a key"`, "." for the
 * root. */
void structured_path(const struct structured *tree, const struct structured_node *node,
                     struct buf *out);

/* ---- paths ------------------------------------------------------------------------ */

/* The node at a path as jq writes it: `.a.b[0]`, `."a key"`, `["a"]`, `.[-1]`.  INVALID_ARGUMENT:
 * more than a path; a name that its object has twice (on the way, too); an alias or a merge key on
 * the way; nothing there, with the nearest name that is. */
const struct structured_node *structured_find(const struct structured *tree, struct span path,
                                              struct err *err);

/* ---- changes ---------------------------------------------------------------------- */

/* Makes `changes`, an array of {"op": "set", "delete", "append", "insert" or "rename", "path",
 * "value"}, one after the other, and appends the new text: that of before, byte for byte, but for
 * what the changes replace.
 *
 *     set     the value at the path; a new member where an object has none of that name
 *     delete  the member or item
 *     append  the value to the array at the path
 *     insert  the value before the item at the path ("[n]"; the array's length: after the last)
 *     rename  the member at the path: "value" is its new name
 *
 * `document`: of a YAML file with several, the one meant, from 1; 0: there is only one.
 *
 * The new text is parsed again and compared with what the change should have made of the tree; a
 * difference is INTERNAL.  INVALID_ARGUMENT as structured_parse and structured_find, and where a
 * change cannot be made, naming its number and path.  NO_CHANGE: the text stays as it is. */
bool structured_change(enum structured_format format, struct span text, const json_t *changes,
                       unsigned document, struct buf *out, struct err *err);
/* The same for the cells of a Jupyter notebook of nbformat 4: an array of {"op": "insert",
 * "replace", "delete", "move" or "clear_outputs", "cell", "after": an id or a number from 1,
 * "source", "cell_type"}.  New cells get an id where nbformat has them (4.5). */
bool structured_notebook_change(struct span text, const json_t *operations, struct buf *out,
                                struct err *err);

#endif
