/* SPDX-License-Identifier: Apache-2.0 */
/* Jupyter notebooks (nbformat 3 and 4): cells with their ids, sources, and outputs cut short. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "read/format.h"
#include "read/text_out.h"

enum {
	NOTEBOOK_MAX = 100 << 20, /* bytes */
	NOTEBOOK_DEPTH = 64,
	OUTPUT_MAX = 1500,        /* bytes of one cell's outputs, unless the cell is asked for */
	OUTPUT_CELL_MAX = 40000,
	NAME_MAX_CELL = 80,
};

struct ipynb {
	const json_t *cells; /* borrowed */
	const char *language;
	const struct derive_request *request;
	struct derive_result *ret;
	struct text_out out;
};

/* Nbformat has texts as one string, or as an array of lines. */
static void notebook_join(const json_t *text, struct buf *out)
{
	size_t i;
	const json_t *line;

	buf_span(out, json_span(text));
	json_array_foreach(text, i, line)
		buf_span(out, json_span(line));
}

/* In version 3 a code cell's source is "input". */
static void cell_source(const json_t *cell, struct buf *out)
{
	const json_t *source = json_object_get(cell, "source");

	notebook_join(source ? source : json_object_get(cell, "input"), out);
}

static struct span cell_id(const json_t *cell)
{
	return json_span(json_object_get(cell, "id"));
}

/* ---- outputs --------------------------------------------------------------------------- */

/* Text without terminal escapes, at most `room` bytes, with how much is left out. */
static size_t notebook_output(struct ipynb *notebook, struct span text, size_t room)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(text.len + 1);
	struct span head;

	for (size_t i = 0; i < text.len; i++) {
		const bool escape = span_starts(span_skip(text, i), SPAN("\x1b["));

		for (i += 2 * escape; escape && i < text.len; i++)
			if (text.data[i] >= '@' && text.data[i] <= '~')
				break;
		if (!escape)
			buf_char(&plain, text.data[i]);
	}
	head = utf8_head(span_trim(buf_view(&plain)), room);
	text_out(&notebook->out, head);
	text_out_line(&notebook->out);
	if (head.len < span_trim(buf_view(&plain)).len)
		text_out_printf(&notebook->out, "... [%zu bytes more]\n",
		                span_trim(buf_view(&plain)).len - head.len);
	return head.len;
}

/* Pictures of a cell that is asked for are handed over; others are named. */
static void put_picture(struct ipynb *notebook, const char *type, const json_t *data)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_DERIVE_PICTURES / 3 * 4 + 4);
	json_t *picture;

	notebook_join(data, &text);
	text_out_printf(&notebook->out, "[%.60s, %zu bytes]\n", type, text.len / 4 * 3);
	if (!notebook->request->cell || text.overflowed)
		return;
	if (!notebook->ret->pictures)
		notebook->ret->pictures = json_array();
	if (json_array_size(notebook->ret->pictures) >= 4)
		return;
	picture = json_pack("{s:s, s:o}", "mime_type", type, "data",
	                    json_text(span_trim(buf_view(&text))));
	json_array_append_new(notebook->ret->pictures, picture);
}

/* An output's representations: pictures, then its text, else their names. */
static size_t notebook_data(struct ipynb *notebook, const json_t *data, size_t room)
{
	_cleanup_buf_ struct buf text = BUF_INIT(NOTEBOOK_MAX);
	const json_t *plain = json_object_get(data, "text/plain"), *value;
	const char *type;

	json_object_foreach((json_t *)data, type, value) {
		if (strcmp(type, "image/png") == 0 || strcmp(type, "image/jpeg") == 0)
			put_picture(notebook, type, value);
		else if (!plain && strcmp(type, "text/html") != 0)
			text_out_printf(&notebook->out, "[%.60s]\n", type);
	}
	notebook_join(plain ? plain : json_object_get(data, "text/markdown"), &text);
	return text.len ? notebook_output(notebook, buf_view(&text), room) : 0;
}

static size_t notebook_error(struct ipynb *notebook, const json_t *output, size_t room)
{
	_cleanup_buf_ struct buf text = BUF_INIT(NOTEBOOK_MAX);
	const json_t *lines = json_object_get(output, "traceback"), *line;
	size_t i;

	buf_span(&text, json_span(json_object_get(output, "ename")));
	buf_str(&text, ": ");
	buf_span(&text, json_span(json_object_get(output, "evalue")));
	buf_char(&text, '\n');
	json_array_foreach(lines, i, line) {
		buf_span(&text, json_span(line));
		buf_char(&text, '\n');
	}
	return notebook_output(notebook, buf_view(&text), room);
}

static void put_outputs(struct ipynb *notebook, const json_t *outputs)
{
	size_t room = notebook->request->cell ? OUTPUT_CELL_MAX : OUTPUT_MAX, i;
	const json_t *output;

	if (json_array_size(outputs))
		text_out(&notebook->out, SPAN("--- output\n"));
	json_array_foreach(outputs, i, output) {
		const struct span type = json_span(json_object_get(output, "output_type"));
		_cleanup_buf_ struct buf text = BUF_INIT(NOTEBOOK_MAX);
		size_t put;

		if (span_eq(type, SPAN("error")) || span_eq(type, SPAN("pyerr"))) {
			put = notebook_error(notebook, output, room);
		} else if (json_object_get(output, "data")) {
			put = notebook_data(notebook, json_object_get(output, "data"), room);
		} else {
			notebook_join(json_object_get(output, "text"), &text);
			put = notebook_output(notebook, buf_view(&text), room);
		}
		room -= put < room ? put : room;
	}
}

/* ---- cells ----------------------------------------------------------------------------- */

static void notebook_cell(struct ipynb *notebook, size_t number, const json_t *cell)
{
	_cleanup_buf_ struct buf source = BUF_INIT(NOTEBOOK_MAX);
	const struct span type = json_span(json_object_get(cell, "cell_type"));
	const json_t *count = json_object_get(cell, "execution_count");
	const struct span id = cell_id(cell);

	cell_source(cell, &source);
	text_out_printf(&notebook->out, "=== cell %zu%s%.*s%s: %.*s", number,
	                id.len ? " (id " : "", (int)utf8_head(id, 64).len, id.len ? id.data : "",
	                id.len ? ")" : "", (int)utf8_head(type, 20).len, type.len ? type.data : "");
	if (json_is_integer(count))
		text_out_printf(&notebook->out, ", run [%lld]", json_integer_value(count));
	text_out(&notebook->out, SPAN("\n"));
	text_out(&notebook->out, buf_view(&source));
	text_out_line(&notebook->out);
	put_outputs(notebook, json_object_get(cell, "outputs"));
}

/* By its first line that says something. */
static void outline_cell(struct ipynb *notebook, size_t number, const json_t *cell)
{
	_cleanup_buf_ struct buf source = BUF_INIT(NOTEBOOK_MAX);
	const struct span type = json_span(json_object_get(cell, "cell_type"));
	struct span rest, line = { NULL, 0 };
	json_t *entry;

	cell_source(cell, &source);
	rest = buf_view(&source);
	while (line_next(&rest, &line) && span_is_blank(line))
		;
	entry = format_outline_at(notebook->ret, utf8_head(span_trim(line), NAME_MAX_CELL), "cell",
	                          number);
	if (entry)
		json_object_set_new(entry, "type", json_text(utf8_head(type, 20)));
	format_entry_count(entry, "lines", lines_count(buf_view(&source)));
}

/* By its id, else by its number; 0: there is none. */
static size_t find_cell(const struct ipynb *notebook, const char *name)
{
	const struct span text = span_str(name);
	size_t i, number = 0;
	const json_t *cell;

	json_array_foreach(notebook->cells, i, cell)
		if (span_eq(cell_id(cell), text))
			return i + 1;
	if (span_digits(text) == text.len && text.len && text.len < 10)
		number = strtoul(name, NULL, 10);
	return number <= json_array_size(notebook->cells) ? number : 0;
}

static bool notebook_cells(struct ipynb *notebook, struct err *err)
{
	const char *only = notebook->request->cell;
	const size_t found = only ? find_cell(notebook, only) : 0;
	size_t i;
	const json_t *cell;

	if (only && !found)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "It has no cell \"%.100s\": there are %zu, by number from 1 or by "
		               "id.", only, json_array_size(notebook->cells));
	text_out_init(&notebook->out, notebook->request, notebook->ret);
	json_array_foreach(notebook->cells, i, cell) {
		outline_cell(notebook, i + 1, cell);
		if (notebook->request->want == DERIVE_TEXT && (!found || found == i + 1))
			notebook_cell(notebook, i + 1, cell);
	}
	text_out_end(&notebook->out);
	return true;
}

static void put_facts(struct ipynb *notebook, const json_t *top)
{
	const json_t *metadata = json_object_get(top, "metadata");
	const json_t *language = json_object_get(metadata, "language_info");
	char version[32];

	snprintf(version, sizeof(version), "%lld.%lld",
	         (long long)json_integer_value(json_object_get(top, "nbformat")),
	         (long long)json_integer_value(json_object_get(top, "nbformat_minor")));
	format_library(notebook->ret, "hasp %s", HASP_VERSION);
	format_fact(notebook->ret, "nbformat", span_str(version));
	format_fact(notebook->ret, "kernel",
	            json_span(json_object_get(json_object_get(metadata, "kernelspec"), "name")));
	format_fact(notebook->ret, "language",
	            json_span(json_object_get(language, "name")));
	format_fact_count(notebook->ret, "cells", json_array_size(notebook->cells));
}

bool format_ipynb_read(const struct format_input *input, const struct derive_request *request,
                       struct derive_result *ret, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(NOTEBOOK_MAX);
	struct ipynb notebook = { .request = request, .ret = ret };
	json_auto_t *top = NULL;
	struct err problem = ERR_INIT;

	if (!format_slurp(input, NOTEBOOK_MAX, &bytes, err))
		return false;
	if (!json_parse_foreign(buf_view(&bytes), NOTEBOOK_DEPTH, &top, NULL, &problem))
		return err_set(err, ERR_NOT_TEXT,
		               "It is not the JSON of a notebook: %.300s Read it by its lines "
		               "(part \"source\").", problem.message);
	notebook.cells = json_object_get(top, "cells");
	if (!notebook.cells) /* version 3 */
		notebook.cells = json_object_get(
			json_array_get(json_object_get(top, "worksheets"), 0), "cells");
	if (!json_is_array(notebook.cells))
		return err_set(err, ERR_NOT_TEXT,
		               "It has no cells, so it is no notebook. Read it by its lines (part "
		               "\"source\").");
	put_facts(&notebook, top);
	return notebook_cells(&notebook, err);
}
