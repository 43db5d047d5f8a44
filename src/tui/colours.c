/* SPDX-License-Identifier: Apache-2.0 */
/* The theme that the settings name: a built-in one, the user's own (ui.customThemes), or an
 * extension's. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/extensions.h"
#include "data/json.h"
#include "tui/app.h"
#include "tui/show/printout.h"
#include "tui/term/frames.h"
#include "tui/term/theme.h"
#include "tui/tui.h"

enum { COLOURS_DEPTH = 6 }; /* of objects in a custom theme */

/* Each text in a theme's object is a colour, its path the place. */
static void colours_read(struct theme *theme, const json_t *object, const char *prefix,
                         unsigned depth, const struct notices *notices)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) {
		_cleanup_free_ char *path = mem_printf("%s%s%s", prefix, *prefix ? "." : "", name);

		if (json_is_object(value) && depth < COLOURS_DEPTH) {
			colours_read(theme, value, path, depth + 1, notices);
		} else if (json_is_string(value) && strcmp(path, "name") != 0 &&
		           strcmp(path, "type") != 0 && json_string_length(value) &&
		           !theme_set(theme, path, json_string_value(value))) {
			_cleanup_free_ char *text = mem_printf(
				"The theme has a value that cannot be used: %s", path);

			notices_say(notices, SEVERITY_WARNING, text);
		}
	}
}

static bool theme_named(const struct settings *settings, const char *name, struct theme *ret,
                        const struct notices *notices)
{
	const json_t *custom = json_object_get(settings_get(settings, "ui.customThemes"),
	                                       name ? name : "");
	_cleanup_free_ char *text = NULL;

	if (!name || !*name)
		return false;
	if (!custom)
		custom = json_object_get(extensions_installed(settings)->themes, name);
	if (json_is_object(custom)) {
		theme_default(false, ret);
		colours_read(ret, custom, "", 0, notices);
		return true;
	}
	if (theme_find(name, ret))
		return true;
	text = mem_printf("There is no theme \"%.64s\".", name);
	notices_say(notices, SEVERITY_WARNING, text);
	return false;
}

bool tui_theme_of(const struct settings *settings, struct theme *ret, const struct notices *notices)
{
	return theme_named(settings, settings_string(settings, "ui.theme", NULL), ret, notices);
}

static void colours_notice(void *data, enum severity severity, const char *message)
{
	printout_notice(data, notices_severity_name(severity), span_str(message));
}

void tui_theme(struct app *app)
{
	struct theme theme = { 0 };

	if (tui_theme_of(app->settings, &theme, &(struct notices){ colours_notice, &app->out }))
		term_set_theme(app->term, &theme);
}

void tui_theme_named(struct app *app, const char *name)
{
	const struct notices none = { 0 };
	struct theme theme = { 0 };

	if (theme_named(app->settings, name, &theme, &none)) {
		term_set_theme(app->term, &theme);
		frames_want_now(&app->frames);
	}
}

const char **tui_theme_names(const struct app *app)
{
	const json_t *customs[] = { settings_get(app->settings, "ui.customThemes"),
		                    extensions_installed(app->settings)->themes };
	size_t count = 0, cap = 0;
	const char **names = NULL, *name;
	json_t *value;

	while ((name = theme_name(count))) {
		if (count == cap)
			names = mem_grow(names, &cap, count + 1, sizeof(*names));
		names[count++] = name;
	}
	for (size_t i = 0; i < ARRAY_LEN(customs); i++)
		json_object_foreach((json_t *)customs[i], name, value) {
			if (count == cap)
				names = mem_grow(names, &cap, count + 1, sizeof(*names));
			names[count++] = name;
		}
	names = mem_grow(names, &cap, count + 1, sizeof(*names));
	names[count] = NULL;
	return names;
}
