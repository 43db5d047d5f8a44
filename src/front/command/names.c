/* SPDX-License-Identifier: Apache-2.0 */
/* How a name finds its row in the tables of commands. */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "data/schema.h"
#include "front/command/private.h"

const struct command_info *command_at(size_t i)
{
	return i < command_row_count ? &command_rows[i].is : NULL;
}

bool command_is_for(const struct command_context *context, const struct command_info *command)
{
	return !(context->embedded && command->flags & COMMAND_TERMINAL);
}

static bool list_has_word(const char *list, struct span word)
{
	struct span rest = span_str(list), one;

	while ((one = command_word(&rest)).len)
		if (one.len == word.len && strncasecmp(one.data, word.data, word.len) == 0)
			return true;
	return false;
}

bool command_row_is(const struct command_row *row, struct span name)
{
	return command_word_is(name, row->is.name) || list_has_word(row->is.aliases, name);
}

const struct command_row *command_row_of(struct span name)
{
	const struct command_row *first = NULL;
	bool several = false;

	for (size_t i = 0; name.len && i < command_row_count; i++) {
		const struct command_row *row = &command_rows[i];

		if (command_row_is(row, name))
			return row;
		if (name.len < strlen(row->is.name) &&
		    strncasecmp(row->is.name, name.data, name.len) == 0) {
			several = first != NULL;
			first = row;
		}
	}
	return several ? NULL : first;
}

bool command_name_taken_by_row(struct span name)
{
	for (size_t i = 0; name.len && i < command_row_count; i++)
		if (!(command_rows[i].is.flags & COMMAND_YIELDS) &&
		    command_row_is(&command_rows[i], name))
			return true;
	return false;
}

const struct command_elsewhere *command_elsewhere_at(size_t i)
{
	return i < command_elsewhere_count ? &command_elsewhere[i] : NULL;
}

const struct command_elsewhere *command_elsewhere_of(struct span name)
{
	for (size_t i = 0; i < command_elsewhere_count; i++)
		if (command_word_is(name, command_elsewhere[i].name))
			return &command_elsewhere[i];
	return NULL;
}

/* ---- the nearest ------------------------------------------------------------------- */

enum { NAMES_MAX = 1024 };

const char *command_nearest(struct span name, const json_t *more)
{
	const char *names[NAMES_MAX];
	_cleanup_free_ char *wanted = mem_dup(name.data, name.len);
	size_t count = 0, i;
	json_t *one;

	for (i = 0; i < command_row_count; i++)
		names[count++] = command_rows[i].is.name;
	for (i = 0; i < command_elsewhere_count; i++)
		names[count++] = command_elsewhere[i].name;
	json_array_foreach((json_t *)more, i, one)
		if (count < NAMES_MAX)
			names[count++] = json_string_value(one);
	return schema_nearest_name(wanted, names, count);
}
