/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/agent_flags.h"

#include <string.h>

#include "base/mem.h"
#include "cli/command/lists.h"
#include "cli/command/provider.h"

/* Gemini CLI's, and what there is here in their place. */
static const struct {
	enum flag_id id;
	const char *sentence;
} missing[] = {
	{ FLAG_INTERACTIVE, "--prompt-interactive: hasp has no interactive mode yet. -p runs a prompt and "
	                    "ends; --resume goes on with what was said." },
	{ FLAG_ACP, "--acp: hasp does not speak the Agent Client Protocol. \"hasp serve mcp\" offers its "
	            "tools to other agents." },
	{ FLAG_WORKTREE, "--worktree: hasp makes no worktree. \"git worktree add DIR\" does; run hasp "
	                 "there." },
};

static bool check_missing(const struct invocation *invocation, struct err *err)
{
	json_auto_t *extensions = agent_flags_list(invocation, FLAG_EXTENSIONS);
	size_t i;
	json_t *name;

	for (i = 0; i < ARRAY_LEN(missing); i++)
		if (invocation_has(invocation, missing[i].id))
			return err_set(err, ERR_INVALID_ARGUMENT, "%s", missing[i].sentence);
	json_array_foreach(extensions, i, name)
		if (strcasecmp(json_string_value(name), "none") != 0)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "--extensions: hasp has no extensions, and so not \"%.64s\". "
			               "It can only be none.",
			               json_string_value(name));
	return true;
}

static bool check_session(const struct invocation *invocation, struct err *err)
{
	int given = invocation_has(invocation, FLAG_RESUME) +
	            invocation_has(invocation, FLAG_SESSION_ID) +
	            invocation_has(invocation, FLAG_SESSION_FILE);

	return given < 2 || err_set(err, ERR_INVALID_ARGUMENT,
	                            "--resume, --session-id and --session-file exclude each other.");
}

static bool check_mode(const struct invocation *invocation, struct err *err)
{
	return !invocation_has(invocation, FLAG_YOLO) ||
	       !invocation_has(invocation, FLAG_APPROVAL_MODE) ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "--yolo and --approval-mode say the same thing; give one of them.");
}

bool agent_flags_check(const struct invocation *invocation, enum agent_exit *ret_code,
                       struct err *err)
{
	*ret_code = AGENT_EXIT_INPUT;
	if (!check_missing(invocation, err))
		return false;
	*ret_code = AGENT_EXIT_GENERAL;
	return check_session(invocation, err) && check_mode(invocation, err);
}

enum agent_format agent_flags_format(const struct invocation *invocation,
                                     const struct settings *settings)
{
	const char *word = invocation_value(invocation, FLAG_OUTPUT_FORMAT);

	if (!word && settings)
		word = settings_string(settings, "output.format", "text");
	if (!word || strcmp(word, "text") == 0)
		return AGENT_TEXT;
	return strcmp(word, "json") == 0 ? AGENT_JSON : AGENT_STREAM_JSON;
}

json_t *agent_flags_list(const struct invocation *invocation, enum flag_id id)
{
	size_t count;
	_cleanup_free_ const char **values = flag_values(invocation, id, &count);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		list_split(values[i], list);
	return list;
}
