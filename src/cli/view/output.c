/* SPDX-License-Identifier: Apache-2.0 */
/* Writing out, with nothing lost in silence. */
#include "cli/view/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/view/view.h"
#include "data/json.h"
#include "tool/denial.h"

/* ---- output ------------------------------------------------------------------ */

void output_setup(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		/* Open for the wrong direction on purpose: using it is still an error. */
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool output_is_terminal(void)
{
	return isatty(STDOUT_FILENO) == 1;
}

bool output_uses_colour(const char *when)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (when && strcmp(when, "always") == 0)
		return true;
	if (when && strcmp(when, "never") == 0)
		return false;
	if (no_color && no_color[0])
		return false;
	return term && term[0] && strcmp(term, "dumb") != 0 && output_is_terminal();
}

size_t output_width(void)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		return size.ws_col;
	return 80;
}

static bool stdout_failed(int sys_errno, struct err *err)
{
	return err_set_errno(err, sys_errno, "Standard output cannot be written");
}

bool output_write(int fd, struct span text)
{
	while (text.len) {
		struct pollfd ready = { .fd = fd, .events = POLLOUT };
		ssize_t done = write(fd, text.data, text.len);

		if (done > 0)
			text = span_skip(text, (size_t)done);
		else if (done < 0 && errno == EAGAIN)
			fd_wait(&ready, 1, -1);
		else if (done == 0 || errno != EINTR)
			return false;
	}
	return true;
}

bool output_text(struct span text, struct err *err)
{
	return output_write(STDOUT_FILENO, text) || stdout_failed(errno, err);
}

/* A terminal interprets some characters that JSON does not escape (C1 controls, marks that change
 * the direction of text), so all but ASCII is escaped there. */
static bool terminal_json(const json_t *document, bool indent, struct buf *out)
{
	size_t layout = indent ? JSON_INDENT(2) : JSON_COMPACT;
	_cleanup_free_ char *text =
		json_dumps(document, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | layout);

	for (char *c = text; c && *c; c++) {
		if (*c == 0x7f) /* DEL, the one control character left; it is in a string */
			buf_str(out, "\\u007f");
		else
			buf_char(out, *c);
	}
	return text && !out->overflowed;
}

bool output_json(const json_t *document, bool indent, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	bool ok = output_is_terminal() ? terminal_json(document, indent, &out)
	                               : json_print(&out, document, indent ? 2 : 0);

	if (!ok || !buf_char(&out, '\n'))
		return err_set(err, ERR_INTERNAL, "The result cannot be written as JSON.");
	return output_text(buf_view(&out), err);
}

bool output_finish(struct err *err)
{
	if (close(STDOUT_FILENO) != 0 && errno != EBADF)
		return stdout_failed(errno, err);
	return true;
}

void output_stderr(struct span text)
{
	/* A failure here cannot be reported; the exit code still shows it. */
	(void)!output_write(STDERR_FILENO, text);
}

void output_complain(const char *message)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_str(&line, "hasp: ");
	render_safe(&line, span_str(message));
	buf_char(&line, '\n');
	output_stderr(buf_view(&line));
}

int output_fail(const struct err *err, int code)
{
	output_complain(err->message);
	return code;
}

/* ---- output while it comes --------------------------------------------------- */

enum { LINE_MAX_BYTES = 64 << 10 }; /* a longer one is shown in pieces */

void output_live_init(struct output_live *live)
{
	*live = (struct output_live){ .line = BUF_INIT(LINE_MAX_BYTES) };
	pthread_mutex_init(&live->lock, NULL);
}

static void live_show_line(struct output_live *live, struct buf *out)
{
	if (denial_is_imitated(buf_view(&live->line)))
		buf_str(out, DENIAL_QUOTE);
	render_safe(out, buf_view(&live->line));
	buf_char(out, '\n');
	buf_clear(&live->line);
	live->any = true;
}

static bool ends_line(char c)
{
	return c == '\n' || c == '\r';
}

void output_live(void *data, enum run_stream stream, struct span bytes)
{
	struct output_live *live = data;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err ignored = ERR_INIT;

	(void)stream;
	pthread_mutex_lock(&live->lock);
	for (size_t i = 0; i < bytes.len; i++) {
		bool full = live->line.len >= LINE_MAX_BYTES - 8;

		if (full || (ends_line(bytes.data[i]) && (live->line.len || bytes.data[i] == '\n')))
			live_show_line(live, &out);
		if (!ends_line(bytes.data[i]))
			buf_char(&live->line, bytes.data[i]);
	}
	/* A failure to write shows in the exit code. */
	output_text(buf_view(&out), &ignored);
	pthread_mutex_unlock(&live->lock);
}

void output_live_release(struct output_live *live)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err ignored = ERR_INIT;

	if (live->line.len)
		live_show_line(live, &out);
	output_text(buf_view(&out), &ignored);
	buf_release(&live->line);
	pthread_mutex_destroy(&live->lock);
}
