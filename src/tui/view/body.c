/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/view/private.h"

#include "base/text.h"

enum {
	WIDTH_LEAST = 8,
	LINE_BYTES_MAX = 64 << 10, /* of one line */
};

void body_init(struct body *body, const struct view_how *how, size_t folded_max, unsigned indent)
{
	*body = (struct body){ .how = *how, .max = how->folded ? folded_max :
		                                   how->max    ? how->max : VIEW_WHOLE_ROWS };
	body->how.width = how->width > indent + WIDTH_LEAST ? how->width - indent : WIDTH_LEAST;
}

bool body_full(const struct body *body)
{
	return body->rows.count >= body->max;
}

void body_take(struct body *body, struct row *row, const struct row *rest)
{
	if (body_full(body)) {
		body->left_out++;
		row_release(row);
	} else if (body->how.folded) {
		row_clip(row, body->how.width);
		rows_take(&body->rows, row);
	} else {
		rows_wrap(&body->rows, row, body->how.width, NULL, rest);
		row_release(row);
		while (body->rows.count > body->max)
			row_release(&body->rows.at[--body->rows.count]);
	}
}

void body_wrap(struct body *body, struct row *row, const struct row *rest)
{
	if (body_full(body))
		body->left_out++;
	else
		rows_wrap(&body->rows, row, body->how.width, NULL, rest);
	row_release(row);
}

void body_lines(struct body *body, struct span untrusted, struct style style)
{
	struct span line;

	while (line_next(&untrusted, &line)) {
		struct row row = { 0 };

		if (body_full(body)) {
			body->left_out += 1 + lines_count(untrusted);
			return;
		}
		line = line_body(line);
		row_text(&row, utf8_head(line, LINE_BYTES_MAX), style);
		if (line.len > LINE_BYTES_MAX)
			row_printf(&row, STYLE(ROLE_DIM), "\xe2\x80\xa6");
		body_take(body, &row, NULL);
	}
}

void body_more(struct body *body)
{
	struct row *row;

	if (!body->left_out)
		return;
	row = rows_add(&body->rows);
	row_printf(row, STYLE(ROLE_DIM), "\xe2\x80\xa6 %zu %s more%s", body->left_out,
	           body->left_out == 1 ? "line" : "lines",
	           body->how.folded || body->how.max ? " (Ctrl+O)" : "");
	row_clip(row, body->how.width);
}

void body_finish(struct body *body, struct rows *rows, unsigned indent)
{
	if (body->how.plain || !indent)
		rows_move(rows, &body->rows);
	for (size_t i = 0; i < body->rows.count; i++) {
		struct row *row = rows_add(rows);

		row_pad(row, indent, STYLE(ROLE_TEXT));
		row_append(row, &body->rows.at[i]);
	}
	rows_release(&body->rows);
}
