/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/command.h"

#include "base/text.h"
#include "cli/view/render.h"
#include "data/json.h"

bool view_is_command(const json_t *result)
{
	return json_object_get(result, "output_bytes") != NULL;
}

static void show_output(const struct shown *s, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		render_safe(s->out, line_body(line));
		buf_char(s->out, '\n');
	}
}

void view_command(const struct shown *s, const json_t *result)
{
	const json_t *denials = json_object_get(result, "denials");
	struct span log = member_text(result, "log_path");
	size_t i;
	json_t *denial;

	if (!s->view->output_shown)
		show_output(s, member_text(result, "output"));
	shown_message(s, member_text(result, "message"));
	json_array_foreach(denials, i, denial) {
		shown_styled(s, STYLE_BAD, "denied: ");
		shown_line(s, member_text(denial, "message"));
		buf_char(s->out, '\n');
	}
	shown_labelled(s, "all of the output", log);
}
