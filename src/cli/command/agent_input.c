/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/agent_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* Something that is going to write does so soon; a forgotten descriptor never does. */
enum { FIRST_BYTE_MS = 500 };

static bool has_input(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct stat status;

	/* A closed one has become one that cannot be read (output_setup): there is nothing on it. */
	if (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &status) < 0 ||
	    (fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY)
		return false;
	return poll(&input, 1, FIRST_BYTE_MS) > 0 && (input.revents & (POLLIN | POLLHUP));
}

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

static void put_words(const struct invocation *invocation, struct buf *out)
{
	const char *prompt = invocation_value(invocation, FLAG_PROMPT);

	if (prompt)
		buf_str(out, prompt);
	for (size_t i = 0; i < invocation->positional_count; i++)
		buf_printf(out, "%s%s", i ? " " : "", invocation->positionals[i]);
}

static bool is_blank(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(" \t\r\n", text.data[i]) || !text.data[i])
			return false;
	return true;
}

bool agent_input_read(const struct invocation *invocation, struct agent_input *ret, struct err *err)
{
	struct buf *out = &ret->text;
	bool prompt = invocation_has(invocation, FLAG_PROMPT);

	if (prompt && invocation->positional_count)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The prompt is given twice: by --prompt and by words.");
	if (has_input() && !read_input(out, err))
		return false;
	if (is_blank(buf_view(out)))
		buf_clear(out);
	else if (prompt || invocation->positional_count)
		buf_str(out, "\n\n");
	ret->piped_len = out->len;
	put_words(invocation, out);
	if (is_blank(agent_input_said(ret)))
		ret->piped_len = 0;
	if (is_blank(buf_view(out)))
		buf_clear(out);
	return true;
}
