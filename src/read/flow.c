/* SPDX-License-Identifier: Apache-2.0 */
/* Elements to lines of text. */
#include "read/flow.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "read/format.h"

enum {
	FLOW_LINE = 4 << 20,   /* one paragraph, or one row of a table */
	FLOW_SPACES_MAX = 200,
	FLOW_FIRST = 300,
	FLOW_INDENT_MAX = 8,
	FLOW_LEVEL_MAX = 6,
	FLOW_CELLS = 200,      /* of the line under a table's head */
};

void flow_init(struct flow *flow, const struct flow_row *rows, size_t row_count,
               struct text_out *out)
{
	*flow = (struct flow){ .rows = rows, .row_count = row_count, .out = out };
	flow->line = (struct buf)BUF_INIT(FLOW_LINE);
	flow->first = (struct buf)BUF_INIT(FLOW_FIRST + 8);
}

void flow_release(struct flow *flow)
{
	buf_release(&flow->line);
	buf_release(&flow->first);
}

void flow_reset(struct flow *flow)
{
	buf_clear(&flow->line);
	buf_clear(&flow->first);
	flow->lead = NULL;
	flow->first_is_heading = flow->item = false;
	flow->level = flow->skip = flow->paragraph = flow->text = flow->table = flow->list = 0;
}

void flow_text(struct flow *flow, struct span text)
{
	while (text.len) {
		const char *bar = flow->table ? memchr(text.data, '|', text.len) : NULL;
		const size_t len = bar ? (size_t)(bar - text.data) : text.len;

		buf_span(&flow->line, span_head(text, len));
		if (bar)
			buf_str(&flow->line, "\\|");
		text = span_skip(text, len + (bar != NULL));
	}
}

/* ---- lines ----------------------------------------------------------------------------- */

static void note_first(struct flow *flow, struct span line)
{
	if (flow->first.len && (flow->first_is_heading || !flow->level))
		return;
	buf_clear(&flow->first);
	buf_span(&flow->first, utf8_head(line, FLOW_FIRST));
	flow->first_is_heading = flow->level != 0;
}

static void write_lead(struct flow *flow)
{
	if (flow->lead)
		text_out(flow->out, span_str(flow->lead));
	flow->lead = NULL;
}

static void write_paragraph(struct flow *flow, struct span line)
{
	static const char marks[] = "######", blanks[] = "                ";
	const unsigned level = flow->level < FLOW_LEVEL_MAX ? flow->level : FLOW_LEVEL_MAX;
	const unsigned indent = flow->list > 1 ? flow->list - 1 : 0;

	if (level) {
		if (flow->headings)
			format_entry_count(format_outline_at(flow->out->ret, line, "line",
			                                     flow->out->line),
			                   "level", level);
		text_out(flow->out, span_of(marks, level));
		text_out(flow->out, SPAN(" "));
	} else if (flow->list) {
		text_out(flow->out, span_of(blanks, 2 * (indent < FLOW_INDENT_MAX ? indent :
		                                         FLOW_INDENT_MAX)));
		text_out(flow->out, flow->item ? SPAN("- ") : SPAN("  "));
	}
	text_out(flow->out, line);
	text_out(flow->out, SPAN("\n"));
}

static void end_paragraph(struct flow *flow)
{
	const struct span line = span_trim(buf_view(&flow->line));

	if (flow->paragraph || flow->table) {
		if (line.len && flow->line.data[flow->line.len - 1] != ' ')
			buf_char(&flow->line, ' ');
		return;
	}
	if (flow->line.overflowed)
		text_out(flow->out, SPAN("(A paragraph of more than 4 MB was cut.)\n"));
	if (line.len) {
		note_first(flow, line);
		write_lead(flow);
		write_paragraph(flow, line);
		flow->item = false;
	}
	flow->level = 0;
	buf_clear(&flow->line);
}

static void end_row(struct flow *flow)
{
	struct span line = span_trim(buf_view(&flow->line));

	flow->level = 0;
	if (!span_is_blank(line)) {
		note_first(flow, line);
		write_lead(flow);
		text_out_printf(flow->out, "| ");
		text_out(flow->out, line);
		text_out_printf(flow->out, " |\n");
		for (unsigned i = 0; flow->head && i < flow->cells && i < FLOW_CELLS; i++)
			text_out(flow->out, i ? SPAN(" --- |") : SPAN("| --- |"));
		if (flow->head && flow->cells)
			text_out(flow->out, SPAN("\n"));
		flow->head = false;
	}
	buf_clear(&flow->line);
}

/* ---- elements -------------------------------------------------------------------------- */

static enum flow_action flow_action_of(const struct flow *flow, const char *name)
{
	for (size_t i = 0; i < flow->row_count; i++)
		if (strcmp(flow->rows[i].element, name) == 0)
			return flow->rows[i].action;
	return FLOW_NONE;
}

static void start_table(struct flow *flow)
{
	if (!flow->table && !flow->paragraph)
		buf_clear(&flow->line);
	if (!flow->table++)
		flow->head = true;
}

/* Line ends in a cell are blanks. */
static void put_break(struct flow *flow)
{
	buf_char(&flow->line, flow->table || flow->level ? ' ' : '\n');
}

static void start_element(struct flow *flow, enum flow_action action,
                          const struct xml_attributes *attributes)
{
	switch (action) {
	case FLOW_PARAGRAPH:
		flow->paragraph++;
		break;
	case FLOW_TEXT:
		flow->text++;
		break;
	case FLOW_TAB:
		buf_char(&flow->line, flow->table ? ' ' : '\t');
		break;
	case FLOW_BREAK:
		put_break(flow);
		break;
	case FLOW_SPACES:
		for (unsigned i = xml_attribute_count(attributes, "c", 1, FLOW_SPACES_MAX); i; i--)
			buf_char(&flow->line, ' ');
		break;
	case FLOW_HYPHEN:
		buf_char(&flow->line, '-');
		break;
	case FLOW_TABLE:
		start_table(flow);
		break;
	case FLOW_ROW:
		flow->cells = flow->table == 1 ? 0 : flow->cells;
		break;
	case FLOW_CELL:
		if (flow->table == 1 && flow->cells++)
			buf_str(&flow->line, "| ");
		break;
	case FLOW_LIST:
		flow->list++;
		break;
	case FLOW_ITEM:
		flow->item = true;
		break;
	case FLOW_NOTE:
		buf_str(&flow->line, " [note: ");
		break;
	case FLOW_SKIP:
		flow->skip = 1;
		break;
	case FLOW_NONE:
		break;
	}
}

static void end_element(struct flow *flow, enum flow_action action)
{
	switch (action) {
	case FLOW_PARAGRAPH:
		flow->paragraph -= flow->paragraph > 0;
		end_paragraph(flow);
		break;
	case FLOW_TEXT:
		flow->text -= flow->text > 0;
		break;
	case FLOW_TABLE:
		flow->table -= flow->table > 0;
		break;
	case FLOW_ROW:
		if (flow->table == 1 && !flow->paragraph)
			end_row(flow);
		break;
	case FLOW_LIST:
		flow->list -= flow->list > 0;
		break;
	case FLOW_NOTE:
		while (flow->line.len && flow->line.data[flow->line.len - 1] == ' ')
			flow->line.len--;
		buf_char(&flow->line, ']');
		break;
	default:
		break;
	}
}

static bool on_start(void *self, const char *name, const struct xml_attributes *attributes)
{
	struct flow *flow = self;

	if (flow->skip)
		flow->skip++;
	else if (!flow->start || flow->start(flow, name, attributes))
		start_element(flow, flow_action_of(flow, name), attributes);
	return !flow->out->full;
}

static bool on_end(void *self, const char *name)
{
	struct flow *flow = self;

	if (flow->skip && --flow->skip)
		return true;
	if (flow->end)
		flow->end(flow, name);
	end_element(flow, flow_action_of(flow, name));
	return !flow->out->full;
}

static bool on_text(void *self, struct span text)
{
	struct flow *flow = self;

	if (!flow->skip && (flow->text || (flow->text_anywhere && flow->paragraph)))
		flow_text(flow, text);
	return !flow->out->full;
}

const struct xml_events flow_events = { on_start, on_text, on_end };
