/* SPDX-License-Identifier: Apache-2.0 */
/* What was found, for people: in the layout of grep and its successors on a terminal, the
 * file's name above its lines, numbers before them and the match in colour. */

#include "base/text.h"
#include "cli/view/cells.h"
#include "cli/view/parts.h"
#include "data/json.h"

#define MATCH_STYLE "\033[1;31m"

/* The bytes of the first `count` characters. */
static size_t bytes_of(struct span text, json_int_t count)
{
	size_t at = 0;

	for (; at < text.len; at++) {
		if (((unsigned char)text.data[at] & 0xc0) != 0x80 && count-- <= 0)
			break;
	}
	return at;
}

static void put_number(const struct shown *s, struct span number, char mark)
{
	shown_style(s, STYLE_NUMBER);
	buf_span(s->out, number);
	shown_plain(s);
	buf_char(s->out, mark);
}

/* A line with where its match is; cells keep the columns of tabs across the pieces. */
static void show_detailed(const struct shown *s, const json_t *line)
{
	const struct span text = member_text(line, "text");
	const bool match = json_object_get(line, "start") != NULL;
	const size_t start = bytes_of(text, member_number(line, "start"));
	const size_t end = bytes_of(text, member_number(line, "end"));
	struct cells cells = { .out = s->out };
	_cleanup_buf_ struct buf number = BUF_INIT(64);

	buf_printf(&number, "%" JSON_INTEGER_FORMAT, member_number(line, "line"));
	put_number(s, buf_view(&number), match ? ':' : '-');
	cells_text(&cells, span_head(text, match ? start : text.len));
	if (match && end > start) {
		cells_style(&cells, s->view->colour ? MATCH_STYLE : NULL);
		cells_text(&cells, span_head(span_skip(text, start), end - start));
		cells_style(&cells, NULL);
	}
	if (match)
		cells_text(&cells, span_skip(text, end > start ? end : start));
	buf_char(s->out, '\n');
}

/* "12:text", "13-text" or "--". */
static void show_plain(const struct shown *s, struct span line)
{
	struct cells cells = { .out = s->out };
	size_t digits = 0;

	while (digits < line.len && line.data[digits] >= '0' && line.data[digits] <= '9')
		digits++;
	if (digits > 0 && digits < line.len) {
		put_number(s, span_head(line, digits), line.data[digits]);
		line = span_skip(line, digits + 1);
	}
	cells_text(&cells, line);
	buf_char(s->out, '\n');
}

/* Lines with context: "--" where numbers do not follow each other. */
static void show_lines(const struct shown *s, const json_t *lines)
{
	json_int_t last = 0;
	bool context = false;
	size_t i;
	json_t *line;

	json_array_foreach(lines, i, line)
		context |= json_is_object(line) && !json_object_get(line, "start");
	json_array_foreach(lines, i, line) {
		if (json_is_string(line)) {
			show_plain(s, json_span(line));
			continue;
		}
		if (context && i > 0 && member_number(line, "line") > last + 1) {
			shown_styled(s, STYLE_DIM, "--");
			buf_char(s->out, '\n');
		}
		last = member_number(line, "line");
		show_detailed(s, line);
	}
}

/* What is known of a file besides its lines, after its name. */
static void show_facts(const struct shown *s, const json_t *file)
{
	const struct span sha256 = member_text(file, "sha256");
	const struct span modified = member_text(file, "modified");

	if (!json_object_get(file, "size") && !modified.len && !sha256.len)
		return;
	shown_style(s, STYLE_DIM);
	if (json_object_get(file, "size"))
		buf_printf(s->out, "  %" JSON_INTEGER_FORMAT " bytes", member_number(file, "size"));
	if (modified.len) {
		buf_str(s->out, "  ");
		shown_line(s, modified);
	}
	if (sha256.len) {
		buf_printf(s->out, "  version %" JSON_INTEGER_FORMAT ", sha256 ",
		           member_number(file, "version"));
		shown_line(s, sha256);
	}
	shown_plain(s);
}

static void show_name(const struct shown *s, struct span name)
{
	shown_style(s, STYLE_NAME);
	shown_line(s, name);
	shown_plain(s);
}

static void show_found_file(const struct shown *s, const json_t *file, bool first)
{
	const json_t *lines = json_object_get(file, "lines");

	if (lines && !first)
		buf_char(s->out, '\n');
	show_name(s, json_is_string(file) ? json_span(file) : member_text(file, "file_path"));
	if (json_object_get(file, "matches") && !lines)
		buf_printf(s->out, ":%" JSON_INTEGER_FORMAT, member_number(file, "matches"));
	show_facts(s, file);
	buf_char(s->out, '\n');
	show_lines(s, lines);
	if (lines && json_is_true(json_object_get(file, "more"))) {
		shown_styled(s, STYLE_DIM, "(and more)");
		buf_char(s->out, '\n');
	}
}

static void show_summary(const struct shown *s, const json_t *result, size_t files)
{
	const json_int_t lines = member_number(result, "matches");

	if (!json_object_get(result, "matches") || !files)
		return;
	buf_char(s->out, '\n');
	shown_style(s, STYLE_DIM);
	buf_printf(s->out, "%" JSON_INTEGER_FORMAT " matching line%s in %zu file%s, %"
	           JSON_INTEGER_FORMAT " searched",
	           lines, lines == 1 ? "" : "s", files, files == 1 ? "" : "s",
	           member_number(result, "searched"));
	shown_plain(s);
	buf_char(s->out, '\n');
}

void view_found(const struct shown *s, const json_t *result)
{
	const json_t *files = json_object_get(result, "files");
	size_t i;
	json_t *file;

	json_array_foreach(files, i, file)
		show_found_file(s, file, i == 0);
	show_summary(s, result, json_array_size(files));
	shown_message(s, member_text(result, "message"));
}
