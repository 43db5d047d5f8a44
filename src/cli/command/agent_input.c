/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line and standard input tell a run of the agent. */
#include "cli/command/private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "data/json.h"

/* ---- lists ------------------------------------------------------------------- */

static void add_trimmed(const char *from, const char *to, json_t *out)
{
	while (from < to && strchr(" \t\n", *from))
		from++;
	while (from < to && strchr(" \t\n", to[-1]))
		to--;
	if (from < to)
		json_array_append_new(out, json_text(span_of(from, (size_t)(to - from))));
}

/* Appends each value of `text`, without blanks around it, to the array `out`; empty ones are
 * left out. A comma in parentheses parts nothing: "glob,run_shell_command(a, b)" is two values. */
static void list_split(const char *text, json_t *out)
{
	const char *from = text;
	unsigned depth = 0;

	for (; *text; text++) {
		if (*text == '(')
			depth++;
		else if (*text == ')' && depth)
			depth--;
		if (*text != ',' || depth)
			continue;
		add_trimmed(from, text, out);
		from = text + 1;
	}
	add_trimmed(from, text, out);
}

/* ---- standard input ---------------------------------------------------------- */

static bool read_input(struct buf *out, struct err *err)
{
	_cleanup_free_ char *bytes = mem_piece();
	ssize_t got;

	while ((got = read(STDIN_FILENO, bytes, MEM_PIECE_BYTES)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set_errno(err, errno, "Cannot read standard input");
		if (out->len + (size_t)got > AGENT_INPUT_BYTES_MAX)
			return err_set(err, ERR_TOO_LARGE,
			               "There is more than %zu MB on standard input. Put it into a "
			               "file and name that with @PATH.",
			               AGENT_INPUT_BYTES_MAX >> 20);
		buf_append(out, bytes, (size_t)got);
	}
	return true;
}

static void put_plain_words(const struct invocation *invocation, struct buf *out)
{
	for (size_t i = 0; i < invocation->positional_count; i++)
		buf_printf(out, "%s%s", i ? " " : "", invocation->positionals[i]);
}

static void put_prompt_words(const struct invocation *invocation, struct buf *out)
{
	const char *prompt = invocation_value(invocation, FLAG_PROMPT);

	if (prompt)
		buf_str(out, prompt);
	put_plain_words(invocation, out);
}

char *agent_input_words(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf words = BUF_INIT(AGENT_INPUT_BYTES_MAX);

	put_plain_words(invocation, &words);
	return words.len ? mem_dup(words.data, words.len) : NULL;
}

static bool prompt_is_blank(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(" \t\r\n", text.data[i]) || !text.data[i])
			return false;
	return true;
}

struct span agent_input_said(const struct agent_input *input)
{
	return span_skip(buf_view(&input->text), input->piped_len);
}

bool agent_input_read(const struct invocation *invocation, struct agent_input *ret,
                      struct err *err)
{
	struct buf *out = &ret->text;
	const bool prompt = invocation_has(invocation, FLAG_PROMPT);

	if (piped_has_input() && !read_input(out, err))
		return false;
	if (prompt_is_blank(buf_view(out)))
		buf_clear(out);
	else if (prompt || invocation->positional_count)
		buf_str(out, "\n\n");
	ret->piped_len = out->len;
	put_prompt_words(invocation, out);
	if (prompt_is_blank(agent_input_said(ret)))
		ret->piped_len = 0;
	if (prompt_is_blank(buf_view(out)))
		buf_clear(out);
	return true;
}

/* ---- flags ------------------------------------------------------------------- */

/* Gemini CLI's, and what there is here in their place. */
static const struct {
	enum flag_id id;
	const char *sentence;
} missing[] = {
	{ FLAG_WORKTREE,
	  "--worktree: hasp makes no worktree. \"git worktree add DIR\" does; run hasp "
	                 "there." },
};

/* One prompt: of two, one would be lost. */
static bool check_one_prompt(const struct invocation *invocation, struct err *err)
{
	const bool prompt = invocation_has(invocation, FLAG_PROMPT);
	const bool interactive = invocation_has(invocation, FLAG_INTERACTIVE);

	if (prompt + interactive + (invocation->positional_count > 0) < 2)
		return true;
	if (!prompt) /* other agents' -i is an image */
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The prompt is given twice: by --prompt-interactive and by words. "
		               "To add an image, name it in the prompt: @FILE.");
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "The prompt is given twice: by --prompt and by %s.",
	               invocation->positional_count ? "words" : "--prompt-interactive");
}

static bool check_session(const struct invocation *invocation, struct err *err)
{
	int given = invocation_has(invocation, FLAG_RESUME) +
	            invocation_has(invocation, FLAG_SESSION_ID) +
	            invocation_has(invocation, FLAG_SESSION_FILE);

	return given < 2 || err_set(err, ERR_INVALID_ARGUMENT,
	                            "--resume, --session-id and --session-file exclude each "
	                            "other.");
}

bool agent_input_check_flags(const struct invocation *invocation, enum agent_exit *ret_code,
                             struct err *err)
{
	*ret_code = AGENT_EXIT_INPUT;
	for (size_t i = 0; i < ARRAY_LEN(missing); i++)
		if (invocation_has(invocation, missing[i].id))
			return err_set(err, ERR_INVALID_ARGUMENT, "%s", missing[i].sentence);
	*ret_code = AGENT_EXIT_USAGE;
	if (!check_one_prompt(invocation, err) || !check_session(invocation, err))
		return false;
	if (!invocation_has(invocation, FLAG_YOLO) ||
	    !invocation_has(invocation, FLAG_APPROVAL_MODE))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "--yolo and --approval-mode say the same thing; give one of them.");
}

enum agent_format agent_input_format(const struct invocation *invocation,
                                     const struct settings *settings)
{
	const char *word = invocation_value(invocation, FLAG_OUTPUT_FORMAT);

	if (!word && settings)
		word = settings_string(settings, "output.format", "text");
	if (!word || strcmp(word, "text") == 0)
		return AGENT_TEXT;
	return strcmp(word, "json") == 0 ? AGENT_JSON : AGENT_STREAM_JSON;
}

json_t *agent_input_list(const struct invocation *invocation, enum flag_id id)
{
	size_t count;
	_cleanup_free_ const char **values = invocation_values(invocation, id, &count);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		list_split(values[i], list);
	return list;
}
