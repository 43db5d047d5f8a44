/* SPDX-License-Identifier: Apache-2.0 */
/* What is said with agents elsewhere, as data: their command line, their card, messages; and the
 * settings about them. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/runner.h"
#include "a2a/serve/tasks.h"
#include "base/mem.h"
#include "config/settings.h"
#include "data/json.h"

/* ---- the command line ------------------------------------------------------------ */

static size_t word_count(const char *const *words)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

/* Words that ssh's far end hands to a shell are quoted for it. */
static bool runner_is_ssh(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "ssh");
}

static void argv_add(char **words, size_t *count, const char *word, bool quotes)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4 * LIMIT_PATH_BYTES);

	if (quotes && buf_shell_word(&text, span_str(word)))
		words[(*count)++] = mem_dup(text.data, text.len);
	else
		words[(*count)++] = mem_strdup(word);
}

char **a2a_runner_argv(const struct a2a_serve_options *options, const struct a2a_context *context)
{
	const char *const own[] = {
		"hasp", "serve", "a2a", "--stdio", "--caller", context->caller->name, "--workspace",
		context->folder, "--context", context->id,
	};
	const size_t before = word_count(options->runner), more = word_count(options->runner_flags);
	const bool quotes = runner_is_ssh(options->runner[0]);
	char **argv = mem_alloc(before + ARRAY_LEN(own) + more + 1, sizeof(*argv));
	size_t count = 0;

	for (size_t i = 0; i < before; i++)
		argv_add(argv, &count, options->runner[i], false);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		argv_add(argv, &count, own[i], quotes);
	for (size_t i = 0; i < more; i++)
		argv_add(argv, &count, options->runner_flags[i], quotes);
	return argv;
}

/* ---- the card -------------------------------------------------------------------- */

static const json_t *card_runner_params(const json_t *card)
{
	json_t *extension;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(card, "capabilities"), "extensions"), i,
	                   extension)
		if (span_eq(json_span(json_object_get(extension, "uri")), SPAN(A2A_RUNNER_URI)))
			return json_object_get(extension, "params");
	return NULL;
}

static bool version_is_plain(const json_t *version)
{
	const struct span text = json_span(version);
	bool plain = text.len > 0 && text.len <= 32;

	for (size_t i = 0; i < text.len; i++)
		plain = plain && text.data[i] > ' ' && text.data[i] < 0x7f;
	return plain;
}

char *a2a_runner_card_check(const json_t *card, const char *session)
{
	const json_t *version = json_object_get(card, "version");
	const json_t *params = card_runner_params(card);
	const json_t *protocol = json_object_get(params, "protocol");

	if (!json_is_integer(protocol) || !version_is_plain(version))
		return mem_strdup("does not say that it is one for --runner");
	if (json_integer_value(protocol) != A2A_RUNNER_PROTOCOL)
		return mem_printf("is hasp %s, which speaks version %lld of the runner's protocol; "
		                  "this is hasp " HASP_VERSION ", which speaks version %d. Install "
		                  "the same version at both ends", json_string_value(version),
		                  (long long)json_integer_value(protocol), A2A_RUNNER_PROTOCOL);
	if (!json_is_true(json_object_get(params, "session")))
		return mem_printf("does not find the session %s: its home folder "
		                  "(GEMINI_CLI_HOME) must be the one that this server has",
		                  session);
	return NULL;
}

/* ---- messages ---------------------------------------------------------------------- */

json_t *a2a_runner_message(const json_t *message, const struct a2a_context *context,
                           const char *task)
{
	json_t *copy = json_copy((json_t *)message);

	json_object_del(copy, "referenceTaskIds");
	json_object_del(copy, "taskId");
	json_object_set_new(copy, "contextId", json_string(context->id));
	if (task)
		json_object_set_new(copy, "taskId", json_string(task));
	return copy;
}

void a2a_runner_mark_gemini(json_t *message, const char *folder)
{
	json_t *given = json_object_get(message, "metadata");
	json_t *metadata = given ? json_copy(given) : json_object();

	if (!a2a_content_settings(message))
		json_object_set_new(metadata, "coderAgent",
		                    json_pack("{s:s, s:s}", "kind", "agent-settings",
		                              "workspacePath", folder));
	json_object_set_new(message, "metadata", metadata);
}

/* The record may end anywhere in what was done. */
json_t *a2a_runner_continuation(const json_t *message)
{
	static const char text[] =
		"The machine that worked on this task was lost, and you continue in its place. "
		"This conversation has what was recorded before; the last call may have been "
		"carried out although its result is missing. Read a file again before you change "
		"it, and do not repeat what is done already. The task was:";
	json_t *copy = json_copy((json_t *)message), *parts = json_array();

	json_array_append_new(parts, json_pack("{s:s}", "text", text));
	json_array_extend(parts, json_object_get(message, "parts"));
	json_object_set_new(copy, "parts", parts);
	return copy;
}

/* ---- the other end, and the settings ---------------------------------------------- */

json_t *a2a_runner_extension(const struct a2a_server *server)
{
	const struct a2a_context *context = a2a_context_find((struct a2a_server *)server,
	                                                     server->options->context);

	return json_pack("{s:s, s:s, s:{s:i, s:b}}", "uri", A2A_RUNNER_URI, "description",
	                 "The agent of one task of a server elsewhere.", "params", "protocol",
	                 A2A_RUNNER_PROTOCOL, "session", context && context->file);
}

struct a2a_runner_limits a2a_runner_limits_read(const struct settings *settings)
{
	enum { DAY = 24 * 3600, ATTEMPTS = 3, ATTEMPTS_MOST = 100, START = 3600, SILENCE = 120 };
	int64_t attempts = ATTEMPTS;

	if (!settings)
		return (struct a2a_runner_limits){ ATTEMPTS, START * 1000, SILENCE * 1000 };
	attempts = settings_integer(settings, "hasp.a2a.runner.attempts", ATTEMPTS);
	return (struct a2a_runner_limits){
		.attempts = attempts < 1 ? 1 : attempts > ATTEMPTS_MOST ? ATTEMPTS_MOST :
		                                                          (unsigned)attempts,
		.start_ms = settings_wait_ms(settings, "hasp.a2a.runner.startSeconds", START, 1,
		                             DAY * 7),
		.silence_ms = settings_wait_ms(settings, "hasp.a2a.runner.silenceSeconds", SILENCE,
		                               1, DAY),
	};
}
