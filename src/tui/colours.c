/* SPDX-License-Identifier: Apache-2.0 */
/* The theme that the settings name: a built-in one, or the user's own (ui.customThemes). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "tui/private.h"
#include "tui/term/theme.h"

enum { COLOURS_DEPTH = 6 }; /* of objects in a custom theme */

/* Each text in a theme's object is a colour, its path the place. */
static void colours_read(struct app *app, struct theme *theme, const json_t *object,
                         const char *prefix, unsigned depth)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) {
		_cleanup_free_ char *path = mem_printf("%s%s%s", prefix, *prefix ? "." : "", name);

		if (json_is_object(value) && depth < COLOURS_DEPTH) {
			colours_read(app, theme, value, path, depth + 1);
		} else if (json_is_string(value) && strcmp(path, "name") != 0 &&
		           strcmp(path, "type") != 0 && json_string_length(value) &&
		           !theme_set(theme, path, json_string_value(value))) {
			_cleanup_free_ char *text = mem_printf(
				"The theme has a value that cannot be used: %s", path);

			tui_print_notice(app, "warning", span_str(text));
		}
	}
}

void tui_theme(struct app *app)
{
	const char *name = settings_string(app->settings, "ui.theme", NULL);
	const json_t *custom = json_object_get(settings_get(app->settings, "ui.customThemes"),
	                                       name ? name : "");
	struct theme theme = { 0 };

	if (!name || !*name)
		return;
	if (json_is_object(custom)) {
		theme_default(false, &theme);
		colours_read(app, &theme, custom, "", 0);
	} else if (!theme_find(name, &theme)) {
		_cleanup_free_ char *text = mem_printf("There is no theme \"%.64s\".", name);

		tui_print_notice(app, "warning", span_str(text));
		return;
	}
	term_set_theme(app->term, &theme);
}

const char **tui_theme_names(const struct app *app)
{
	const json_t *custom = settings_get(app->settings, "ui.customThemes");
	size_t count = 0, cap = 0;
	const char **names = NULL, *name;
	json_t *value;

	while ((name = theme_name(count))) {
		if (count == cap)
			names = mem_grow(names, &cap, count + 1, sizeof(*names));
		names[count++] = name;
	}
	json_object_foreach((json_t *)custom, name, value) {
		if (count == cap)
			names = mem_grow(names, &cap, count + 1, sizeof(*names));
		names[count++] = name;
	}
	names = mem_grow(names, &cap, count + 1, sizeof(*names));
	names[count] = NULL;
	return names;
}
