/* SPDX-License-Identifier: Apache-2.0 */
/* Which slash commands a page may give: built-in and custom commands, skills, prompts of MCP
 * servers.  Looked up when the session is opened, and again when a server has listed its prompts.
 */
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

/* As front_task.run. */
static void commands_look_run(struct front_task *task, struct front_session *session)
{
	struct web_session *own = (struct web_session *)((char *)task -
	                                                 offsetof(struct web_session, look));

	if (session_host(session))
		web_commands_look(own, session);
}

void web_commands_look_again(struct web_session *session)
{
	struct err ignored = ERR_INIT;

	session->looks_again = session->is_looking;
	if (session->is_looking)
		return;
	session->look.run = commands_look_run;
	session->is_looking = front_give(session->keeper, &session->look, &ignored);
}

void web_commands_looked(struct web_session *session)
{
	session->is_looking = false;
	if (session->looks_again && !session->is_over)
		web_commands_look_again(session);
}

const json_t *web_commands_known(struct web_session *session)
{
	json_t *found = atomic_exchange(&session->looked_up, NULL);

	if (found) {
		json_decref(session->commands);
		session->commands = found;
	}
	return session->commands;
}
