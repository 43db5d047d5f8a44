/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/parts.h"

#include "base/text.h"
#include "cli/view/render.h"
#include "data/json.h"

/* SGR parameters (ECMA-48, 8.3.117). */
static const char *const styles[] = {
	[STYLE_NAME] = "1",      [STYLE_DIM] = "2",       [STYLE_GOOD] = "1;32",
	[STYLE_BAD] = "1;31",    [STYLE_FOLDER] = "1;34", [STYLE_NUMBER] = "32",
};

void shown_style(const struct shown *s, enum style style)
{
	if (s->view->colour)
		buf_printf(s->out, "\033[%sm", styles[style]);
}

void shown_plain(const struct shown *s)
{
	if (s->view->colour)
		buf_str(s->out, "\033[0m");
}

void shown_styled(const struct shown *s, enum style style, const char *own_text)
{
	shown_style(s, style);
	buf_str(s->out, own_text);
	shown_plain(s);
}

void shown_line(const struct shown *s, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		bool broken = span_ends(line, SPAN("\n"));

		render_safe(s->out, broken ? span_head(line, line.len - 1) : line);
		if (broken && text.len)
			buf_str(s->out, "\\n");
	}
}

struct span member_text(const json_t *object, const char *key)
{
	return json_span(json_object_get(object, key));
}

json_int_t member_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

void shown_labelled(const struct shown *s, const char *label, struct span text)
{
	if (!text.data)
		return;
	shown_styled(s, STYLE_DIM, label);
	buf_str(s->out, ": ");
	shown_line(s, text);
	buf_char(s->out, '\n');
}

void shown_message(const struct shown *s, struct span text)
{
	if (!text.len)
		return;
	shown_line(s, text);
	buf_char(s->out, '\n');
}
