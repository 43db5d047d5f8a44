/* SPDX-License-Identifier: Apache-2.0 */
/* Which slash commands a page may give.  A page's list has what was known when the session was
 * opened: built-in and custom commands, skills, prompts of MCP servers. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/command.h"
#include "web/private.h"

/* Those that are about a terminal, or would put another session in the place of this one. */
static const char *const left_out[] = {
	"auth", "chat", "clear", "copy", "editor", "fork", "ide", "logout", "quit", "resume",
	"share", "shortcuts", "theme", "vim", "web",
};

bool web_command_is_left_out(const struct command_info *command)
{
	for (size_t i = 0; command && i < ARRAY_LEN(left_out); i++)
		if (!strcmp(left_out[i], command->name))
			return true;
	return false;
}

struct command_context web_command_context(struct front_session *session)
{
	return (struct command_context){
		.host = session_host(session), .settings = session_settings(session),
		.can = 1u << COMMAND_SEND | 1u << COMMAND_COMPOSE | 1u << COMMAND_CHOOSE,
		.local = session_is_local(session), .waits = true,
	};
}

static json_t *commands_of(const struct command_context *context)
{
	json_t *all = command_list(context), *list = json_array(), *row;
	size_t i;

	json_array_foreach(all, i, row) {
		const char *name = json_string_value(json_object_get(row, "name"));
		_cleanup_free_ char *line = mem_printf("/%s", name);
		const struct command_info *command = command_of(span_str(line));

		/* A custom command may begin as one of the table does. */
		if (!command || strcmp(command->name, name) != 0 ||
		    !web_command_is_left_out(command))
			json_array_append(list, row);
	}
	json_decref(all);
	return list;
}

json_t *web_commands(struct front_session *session)
{
	struct command_context context = web_command_context(session);

	context.host = NULL;
	return context.settings ? commands_of(&context) : json_array();
}

void web_commands_look(void *data, struct front_session *session)
{
	const struct command_context context = web_command_context(session);
	struct web_session *own = data;

	json_decref(atomic_exchange(&own->looked_up, commands_of(&context)));
}
