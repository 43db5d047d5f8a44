/* SPDX-License-Identifier: Apache-2.0 */
/* How much of what a project says counts by itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "config/settings_private.h"
#include "data/json.h"

/* A model of the provider that is in use: "openai/x", "replay:FILE" would be of another. */
static bool is_plain(const char *text)
{
	return !text[strcspn(text, "/:\\")];
}

/* A name of a file that people write: context files are read in ~/.gemini too, where keys are. */
static bool is_text_name(const char *text)
{
	static const char *const ends[] = { ".md", ".markdown", ".mdc", ".txt" };

	if (strchr(text, '/'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (strlen(text) > strlen(ends[i]) &&
		    strcmp(text + strlen(text) - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* Where the path leads, also if its end is not there yet; NULL: a link leads nowhere. */
static char *resolved(const char *path)
{
	_cleanup_free_ char *left = mem_strdup(path);
	struct stat status;

	for (;;) {
		char *real = realpath(left, NULL), *slash = strrchr(left, '/');

		if (real)
			return real;
		if (lstat(left, &status) == 0 || errno != ENOENT || !slash)
			return NULL;
		*slash = '\0';
		if (!left[0])
			return mem_strdup("/");
	}
}

/* The project's own text is not taken at its word: a link of the project may lead anywhere. */
static bool is_inside(const char *project, const char *text)
{
	_cleanup_free_ char *path = NULL, *real = NULL;

	if (text[0] == '~')
		return false;
	path = path_join(project, text);
	if (!path_is_under(path, project))
		return false;
	real = resolved(path);
	return real && path_is_under(real, project);
}

static bool text_is_fine(enum authority authority, const char *project, const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text || strlen(text) != json_string_length(value))
		return false;
	if (authority == AUTHORITY_PLAIN)
		return is_plain(text);
	if (authority == AUTHORITY_TEXT_NAMES)
		return is_text_name(text);
	return is_inside(project, text);
}

static enum permission texts_permit(enum authority authority, const char *project,
                                    const json_t *value, json_t **ret_part, json_t **ret_rest)
{
	json_auto_t *part = json_array(), *rest = json_array();
	json_t *item;
	size_t i;

	if (!json_is_array(value))
		return text_is_fine(authority, project, value) ? PERMITTED_ALL : PERMITTED_NOT;
	json_array_foreach(value, i, item)
		json_array_append(text_is_fine(authority, project, item) ? part : rest, item);
	if (!json_array_size(rest))
		return PERMITTED_ALL;
	*ret_part = json_incref(part);
	*ret_rest = json_incref(rest);
	return PERMITTED_SOME;
}

enum permission authority_permits(enum authority authority, const char *project,
                                  const json_t *value, json_t **ret_part, json_t **ret_rest)
{
	switch (authority) {
	case AUTHORITY_TRUSTED:
	case AUTHORITY_ANY:
	case AUTHORITY_CONTENT:
		return PERMITTED_ALL;
	case AUTHORITY_ONLY_TRUE:
		return json_is_true(value) ? PERMITTED_ALL : PERMITTED_NOT;
	case AUTHORITY_ONLY_FALSE:
		return json_is_false(value) ? PERMITTED_ALL : PERMITTED_NOT;
	case AUTHORITY_PLAIN:
	case AUTHORITY_TEXT_NAMES:
	case AUTHORITY_INSIDE:
		return texts_permit(authority, project, value, ret_part, ret_rest);
	default:
		return PERMITTED_NOT;
	}
}
