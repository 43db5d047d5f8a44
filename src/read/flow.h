/* SPDX-License-Identifier: Apache-2.0 */
/* Text that flows: paragraphs, headings, lists and tables of a document in XML, written as Markdown
 * has them.  What each element means is a table of the format's.
 *
 *     static const struct flow_row rows[] = { { "p", FLOW_PARAGRAPH }, { "t", FLOW_TEXT }, ... };
 *     struct flow flow;
 *
 *     flow_init(&flow, rows, ARRAY_LEN(rows), &out);
 *     flow.start = on_start;                  // what the table cannot say
 *     ok = package_parse(package, name, &flow_events, &flow, &err);
 *     flow_release(&flow);
 */
#ifndef HASP_READ_FLOW_H
#define HASP_READ_FLOW_H

#include "base/buf.h"
#include "read/text_out.h"
#include "read/xml.h"

enum flow_action {
	FLOW_NONE,
	FLOW_PARAGRAPH, /* one line, unless it is in a table or another paragraph */
	FLOW_TEXT,      /* what is in it is text */
	FLOW_TAB,
	FLOW_BREAK,
	FLOW_SPACES,    /* as many as the attribute "c" says */
	FLOW_HYPHEN,
	FLOW_TABLE,
	FLOW_ROW,
	FLOW_CELL,
	FLOW_LIST,      /* deeper by one level */
	FLOW_ITEM,      /* its first paragraph begins with "- " */
	FLOW_NOTE,      /* in brackets, where it stands */
	FLOW_SKIP,      /* all in it is left out */
};

struct flow_row {
	const char *element; /* local name */
	enum flow_action action;
};

struct flow {
	const struct flow_row *rows; /* borrowed */
	size_t row_count;
	struct text_out *out;        /* borrowed */
	bool text_anywhere;          /* text in paragraphs counts without FLOW_TEXT */
	bool headings;               /* as entries of the outline, by line */
	/* Called first for each element that is not skipped; false: its row does not count.  May
	 * be NULL.  `self` is the format's own. */
	bool (*start)(struct flow *flow, const char *name, const struct xml_attributes *attributes);
	void (*end)(struct flow *flow, const char *name);
	void *self;

	const char *lead;            /* written before the next line, if there is one; or NULL */
	unsigned level;              /* of the current paragraph, if it is a heading; 0 */
	bool item;                   /* the next paragraph begins an item */
	unsigned skip;               /* elements that are open in one that is left out */
	unsigned paragraph, text, table, list; /* how many are open */
	unsigned cells;              /* of the current row */
	bool head;                   /* the current row is the table's first */
	struct buf line;             /* the paragraph or row so far */
	struct buf first;            /* the first heading, or else the first line */
	bool first_is_heading;
};

/* Events for xml_parse, with the flow as `self`. */
extern const struct xml_events flow_events;

/* Nothing is open; `rows` and `out` are borrowed. */
void flow_init(struct flow *flow, const struct flow_row *rows, size_t row_count,
               struct text_out *out);
/* Frees what it holds. */
void flow_release(struct flow *flow);
/* Adds text to the current paragraph. */
void flow_text(struct flow *flow, struct span text);
/* Before the next document of the same flow: nothing is open, no first line. */
void flow_reset(struct flow *flow);

#endif
