/* SPDX-License-Identifier: Apache-2.0 */
/* What a hook's command and environment say about the session. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "hooks/hook.h"

struct hook_variable {
	const char *name, *value;
};

enum { VARIABLE_COUNT = 5 };

static void variables_of(const struct hooks *hooks, struct hook_variable ret[static VARIABLE_COUNT])
{
	ret[0] = (struct hook_variable){ "GEMINI_PROJECT_DIR", hooks->project };
	ret[1] = (struct hook_variable){ "CLAUDE_PROJECT_DIR", hooks->project };
	ret[2] = (struct hook_variable){ "GEMINI_PLANS_DIR", hooks->plans_folder };
	ret[3] = (struct hook_variable){ "GEMINI_CWD", hooks->cwd };
	ret[4] = (struct hook_variable){ "GEMINI_SESSION_ID", hooks->session_id };
}

/* The length of "$NAME" or "${NAME}" at `text`; 0: it is something else. */
static size_t reference_length(const char *text, const char *name)
{
	size_t len = strlen(name);
	bool braces = text[1] == '{';
	const char *at = text + 1 + braces;

	if (strncmp(at, name, len) != 0)
		return 0;
	if (braces)
		return at[len] == '}' ? len + 3 : 0;
	return (ascii_is_alnum(at[len]) || at[len] == '_') ? 0 : len + 1;
}

/* Replaces the reference at `text`; returns its length, or 0. */
static size_t replace_variable(const struct hook_variable *variables, const char *text,
                               struct buf *out)
{
	for (size_t i = 0; i < VARIABLE_COUNT; i++) {
		size_t len = variables[i].value ? reference_length(text, variables[i].name) : 0;

		if (!len)
			continue;
		buf_shell_quoted(out, span_str(variables[i].value));
		return len;
	}
	return 0;
}

void hook_command_text(const struct hooks *hooks, const char *command, struct buf *out)
{
	struct hook_variable variables[VARIABLE_COUNT];
	char quote = 0;

	variables_of(hooks, variables);
	while (*command) {
		size_t replaced = 0;

		/* A command within the command has separate quotes; the shell knows the
		 * variables, too. */
		if (quote != '\'' && (*command == '`' || strncmp(command, "$(", 2) == 0)) {
			buf_str(out, command);
			break;
		}
		if (*command == '\\' && quote != '\'' && command[1])
			buf_char(out, *command++);
		else if (quote ? *command == quote : *command == '\'' || *command == '"')
			quote = quote ? 0 : *command;
		else if (*command == '$' && !quote)
			replaced = replace_variable(variables, command, out);
		if (replaced)
			command += replaced;
		else
			buf_char(out, *command++);
	}
	buf_char(out, 0);
}

static bool is_set_by(char *const *list, const char *entry)
{
	size_t len = (size_t)(strchrnul(entry, '=') - entry);

	for (; list && *list; list++)
		if (strncmp(*list, entry, len) == 0 && (*list)[len] == '=')
			return true;
	return false;
}

char **hook_environment(const struct hooks *hooks, const struct hook *hook)
{
	struct hook_variable variables[VARIABLE_COUNT];
	size_t count = 0, own = 0, n = 0;
	char **env;

	variables_of(hooks, variables);
	while (hooks->environment[count])
		count++;
	while (hook->env && hook->env[own])
		own++;
	env = mem_alloc(count + own + VARIABLE_COUNT + 1, sizeof(*env));
	for (size_t i = 0; i < own; i++)
		env[n++] = mem_strdup(hook->env[i]);
	for (size_t i = 0; i < VARIABLE_COUNT; i++) {
		_cleanup_free_ char *entry = mem_printf("%s=%s", variables[i].name,
		                                        variables[i].value ?
		                                        variables[i].value : "");

		if (variables[i].value && !is_set_by(env, entry))
			env[n++] = mem_steal(&entry);
	}
	for (size_t i = 0; i < count; i++)
		if (!is_set_by(env, hooks->environment[i]))
			env[n++] = mem_strdup(hooks->environment[i]);
	return env;
}
