/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats share (structured.h is the public face).
 *
 *     formats.c      one row for each format
 *     tree.c         nodes, their texts, values, paths as text
 *     path.c         paths: read, and followed
 *     change.c       the changes: one after the other, each compared with what it should do
 *     edits.c        replacements of ranges of the text
 *     verify.c       that comparison
 *     notebook.c     Jupyter's notebooks
 *     list.c         lists in brackets with commas: JSON, flow collections of YAML, TOML's values
 *     json_tree.c    JSON, JSON with comments, JSON Lines
 *     yaml_tree.c    YAML read; yaml_write.c: YAML changed
 *     toml_tree.c    TOML read; toml_write.c: TOML changed
 *     xml_tree.c     XML read; xml_write.c: XML changed
 *     csv_tree.c     CSV and TSV
 *     ini_tree.c     INI and properties
 *
 * To add a format: an identifier in structured.h, a row in formats.c, a reader and the four
 * functions
 * of a writer; rows in test/data/structured/, fuzz/fuzz_structured.c and docs/data.md.
 */
#ifndef HASP_DATA_STRUCTURED_PRIVATE_H
#define HASP_DATA_STRUCTURED_PRIVATE_H

#include "data/structured/structured.h"

/* Bits of a node's flags. */
enum {
	NODE_NAME_DECODED = 1,  /* its name is in tree->decoded, not in the text */
	NODE_TEXT_DECODED = 2,
	NODE_ANCHORED = 4,      /* YAML: has an anchor; `source` begins after anchor and tag */
	NODE_TAGGED = 8,        /* YAML: has a tag */
	NODE_COMPLEX_KEY = 16,  /* YAML: `? key`, or a key that is no scalar; cannot be changed */
	NODE_MERGE = 32,        /* YAML: its key is << */
	NODE_DOCUMENTS = 64,    /* YAML: the root that stands for several documents */
	NODE_ATTRIBUTE = 128,   /* XML */
	NODE_REPEATED = 256,    /* XML: the array of elements that share a name; TOML: [[name]] */
	NODE_IMPLICIT = 512,    /* TOML: a table that only headers or dotted keys beneath it name */
	NODE_MIXED = 1024,      /* XML: its text is in several pieces */
	NODE_PARTIAL = 2048,    /* not all of its children have nodes: tree->along */
};

/* How a value is written. */
enum structured_style {
	STYLE_PLAIN,   /* without quotation marks; JSON's scalars but strings */
	STYLE_DOUBLE,
	STYLE_SINGLE,
	STYLE_LITERAL, /* YAML's |, TOML's """ */
	STYLE_FOLDED,  /* YAML's >, TOML's ''' */
	STYLE_FLOW,    /* in brackets */
	STYLE_BLOCK,   /* YAML: by indentation; TOML: under a header; INI: a section */
	STYLE_ELEMENT, /* XML */
};

/* ---- reading: tree.c ---------------------------------------------------------------- */

/* Nodes that are looked at to learn how a file is written. */
enum { TREE_SAMPLES = 2000 };

/* A reader of a format: fills tree->nodes from tree->text, whose byte-order mark takes the first
 * `at` bytes.  The text is valid UTF-8. */
typedef bool structured_read(struct structured *tree, uint32_t at, struct err *err);

/* Adds a node as the last child of `parent` (itself for the root, which comes first) and returns
 * its index; UINT32_MAX, with *err: there are too many, or nested too deep. */
uint32_t tree_add(struct structured *tree, uint32_t parent, enum structured_kind kind,
                  struct err *err);
/* Takes the nodes from `count` on out of the tree again, all of them beneath `parent`, of whose
 * children `last` (0: none) is the last one that stays; and the bytes that tree->decoded has past
 * `decoded`.  parent->count stays: NODE_PARTIAL is set. */
void tree_drop(struct structured *tree, uint32_t parent, uint32_t last, uint32_t count,
               size_t decoded);
/* structured_parse for a change at the end of `along`: all of the text is read as strictly, but of
 * JSON and CSV only nodes on the way have all of their children.  Others may lack some
 * (NODE_PARTIAL): these are compared by their bytes.  NULL: as structured_parse. */
bool structured_parse_along(enum structured_format format, struct span text,
                            const struct structured_steps *along, struct structured *ret,
                            struct err *err);
/* The name and the text of a node: a range of the text, or other bytes, which are copied. */
void tree_name_range(struct structured *tree, uint32_t node, uint32_t start, uint32_t end);
bool tree_name_decoded(struct structured *tree, uint32_t node, struct span name, struct err *err);
void tree_text_range(struct structured *tree, uint32_t node, uint32_t start, uint32_t end);
bool tree_text_decoded(struct structured *tree, uint32_t node, struct span text, struct err *err);
/* INVALID_ARGUMENT: "Not LABEL, line N, column N: WHAT." for the byte at `at`. */
bool tree_refuse(const struct structured *tree, uint32_t at, const char *what, struct err *err);
/* The index of a node; how many containers it is in. */
static inline uint32_t tree_index(const struct structured *tree,
                                  const struct structured_node *node)
{
	return (uint32_t)(node - tree->nodes);
}

/* Parents of the node, the root included. */
unsigned tree_depth(const struct structured *tree, const struct structured_node *node);
/* The item by number; NULL: there are fewer. */
const struct structured_node *tree_item(const struct structured *tree,
                                        const struct structured_node *node, size_t index);
/* The sibling before it; NULL: it is the first. */
const struct structured_node *tree_previous(const struct structured *tree,
                                            const struct structured_node *node);
/* The member of that name; NULL: none. *ret_again: a second member has it, too. */
const struct structured_node *tree_member(const struct structured *tree,
                                          const struct structured_node *object,
                                          struct span name, bool *ret_again);

/* ---- writing: edits.c, change.c -------------------------------------------------------------- */

/* Where a change goes. */
struct structured_place {
	const struct structured *tree;
	const struct structured_node *parent; /* NULL: the node is the root */
	const struct structured_node *node;   /* NULL: it is added */
	struct span name;                     /* of the member to be added */
	uint32_t index;                       /* added before this item; the count: last */
};

/* A replacement of a range of the old text. */
struct structured_edit {
	uint32_t start, end;
	size_t text, len; /* in `texts` */
};

struct structured_edits {
	struct structured_edit *items; /* owned */
	size_t count, cap;
	struct buf texts;
};

/* Replaces [start, end) by `text`, which is copied.  Ranges do not overlap; those at one place
 * apply in the order in which they were added. */
void edits_add(struct structured_edits *edits, uint32_t start, uint32_t end, struct span text);
/* Puts the text with all edits made in place of what `out` has.  TOO_LARGE; INTERNAL: they
 * overlap. */
bool edits_apply(struct structured_edits *edits, struct span text, struct buf *out,
                 struct err *err);
/* Frees the edits. */
void edits_release(struct structured_edits *edits);

/* How a format changes: each adds edits, or fails with INVALID_ARGUMENT. */
struct structured_writer {
	/* The node's value becomes `value`. */
	bool (*replace)(const struct structured_place *place, const json_t *value,
	                struct structured_edits *edits, struct err *err);
	/* A member (place->name) or an item (place->index) is added. */
	bool (*add)(const struct structured_place *place, const json_t *value,
	            struct structured_edits *edits, struct err *err);
	bool (*remove)(const struct structured_place *place, struct structured_edits *edits,
	               struct err *err);
	bool (*rename)(const struct structured_place *place, struct span name,
	               struct structured_edits *edits, struct err *err);
};

/* One row for each format. */
struct structured_row {
	const char *label, *words;
	const char *extensions; /* with blanks around each */
	const char *names;      /* whole names, likewise */
	structured_read *read;
	const struct structured_writer *writer;
};

/* Never NULL: that of NONE has no functions. */
const struct structured_row *structured_row(enum structured_format format);

/* ---- paths: path.c ------------------------------------------------------------------ */

struct structured_step {
	json_t *name;     /* owned; NULL: an index */
	long index;       /* from the end if it is negative */
	struct span path; /* the path up to and including this step; borrowed */
	size_t start;     /* where the step begins in it */
};

struct structured_steps {
	struct structured_step *items; /* owned */
	size_t count, cap;
	bool for_change; /* nothing on the way may be an alias, or be shown elsewhere by one */
};

/* Reads a path, which must outlive the steps. INVALID_ARGUMENT: it is more than one, or none. */
bool structured_steps_read(struct span text, struct structured_steps *ret, struct err *err);
/* Frees the steps. */
void structured_steps_release(struct structured_steps *steps);
#define _cleanup_structured_steps_ __attribute__((cleanup(structured_steps_release)))

/* Follows the steps from a node. `may_end`: the last one may name what is not there yet, a new
 * member or the end of an array (place->node is NULL then).  INVALID_ARGUMENT as structured_find.
 * */
bool structured_follow(const struct structured *tree, const struct structured_node *from,
                       const struct structured_steps *steps, bool may_end,
                       struct structured_place *ret, struct err *err);

/* ---- comparison: verify.c ----------------------------------------------------------- */

/* Whether a changed text says what the change meant: its tree is compared with the old one, node by
 * node, in time linear in both. */

enum structured_op {
	STRUCTURED_SET,
	STRUCTURED_DELETE,
	STRUCTURED_APPEND,
	STRUCTURED_INSERT,
	STRUCTURED_RENAME,
};

/* Whether `after` is place->tree but for what the operation does there; `value`: the new value, or
 * name.  Where a format fixes no order (TOML, XML), only values are compared. */
bool structured_verify(const struct structured_place *place, enum structured_op op,
                       const json_t *value, const struct structured *after);

/* Whether what is read of the place alone, without the rest of the text, shows that a scalar was
 * set there: `edits` lie within the old one, and what they made reads as the value and nothing
 * else, so that all before and after it means what it did.  False: only the whole text can show
 * it. */
bool structured_verify_alone(const struct structured_place *place,
                             const struct structured_edits *edits, const json_t *value,
                             struct span after);

/* ---- text around a place ------------------------------------------------------------ */

/* The first byte of the line that has the byte at `at`; the end of that line, before its line end;
 * and after it. */
uint32_t tree_line_start(struct span text, uint32_t at);
uint32_t tree_line_end(struct span text, uint32_t at);
uint32_t tree_line_next(struct span text, uint32_t at);
/* The blanks and tabs with which that line begins. */
struct span tree_indent(struct span text, uint32_t at);
/* Whether only blanks and tabs stand between the line's start and `at`. */
bool tree_leads_line(struct span text, uint32_t at);
/* "\r\n" if the text's first line ends so, "\n" otherwise. */
struct span tree_newline(struct span text);
/* Past blanks and tabs, from `at` to `end` at most. */
uint32_t tree_skip_blanks(struct span text, uint32_t at, uint32_t end);
/* One level of indentation as the tree shows it; two blanks where it shows none. */
struct span tree_indent_unit(const struct structured *tree);

/* JSON, properties: appends the character of \uXXXX at *at, or of a pair of them, and moves past;
 * false: these are no four digits.  Half of a pair is U+FFFD. */
bool json_tree_unicode(struct span text, size_t *at, struct buf *out);
/* XML: past the name (XML 1.0, section 2.3) at `at`; `at` if there is none. */
uint32_t xml_tree_name_end(struct span text, uint32_t at);
/* YAML: what a plain scalar of that text is, by the core schema. */
enum structured_kind yaml_tree_kind(struct span text);
/* YAML: past white space, line ends and comments. */
uint32_t yaml_tree_skip(struct span text, uint32_t at);
/* YAML: after the anchor and tag that follow; `at` if there is neither. */
uint32_t yaml_tree_properties(struct span text, uint32_t at);

/* ---- the formats -------------------------------------------------------------------- */

structured_read json_tree_read, json_tree_lines_read, yaml_tree_read, toml_tree_read, xml_tree_read,
	csv_tree_read, ini_tree_read, ini_tree_read_properties;
extern const struct structured_writer json_writer, json_lines_writer, yaml_writer, toml_writer,
	xml_writer, csv_writer, ini_writer;

/* The value as reading what is written of it gives it: an array of one is its item, "" is null
 * (of attributes it stays), "#text" alone is its text; a new reference. */
json_t *xml_write_normal(json_t *value);
/* The row with a value for each column, "" where `value` has none; a new reference. */
bool csv_tree_row(const struct structured *tree, const json_t *value, json_t **ret,
                  struct err *err);

#endif
