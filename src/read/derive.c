/* SPDX-License-Identifier: Apache-2.0 */
/* The parent's side: starts the child that parses a file, waits for its answer, and believes none
 * of it. */
#include "read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "read/child.h"

enum {
	JSON_SLACK = 64 << 10,
	PIECE_MAX = 256 << 10,
};

struct reader_child {
	const struct format *format;
	const struct derive_request *request;
	const struct cancel *cancel;
	pid_t pid;
	int answer, alive; /* owned; -1: closed */
	uint64_t deadline;
	struct buf json, text;
};

/* ---- its end --------------------------------------------------------------------------- */

/* Closing `alive` kills it, which a confined process may not do with a signal. */
static int child_end(struct reader_child *child)
{
	int status = 0;
	pid_t ended;

	if (child->alive >= 0)
		close(child->alive);
	if (child->answer >= 0)
		close(child->answer);
	child->alive = child->answer = -1;
	kill(child->pid, SIGKILL);
	do
		ended = waitpid(child->pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	return ended == child->pid ? status : 0;
}

/* It has closed its answer: how it ends by itself. */
static int child_wait(struct reader_child *child)
{
	int status = 0;

	for (;;) {
		const pid_t ended = waitpid(child->pid, &status, WNOHANG);

		if (ended == child->pid || (ended < 0 && errno != EINTR))
			break;
		if (cancelled(child->cancel) || clock_monotonic_ms() >= child->deadline)
			return child_end(child);
		poll(NULL, 0, 1);
	}
	close(child->alive);
	close(child->answer);
	child->alive = child->answer = -1;
	return status;
}

static unsigned long long limit_mb(const struct derive_request *request)
{
	const size_t bytes = request->memory_bytes ? request->memory_bytes : LIMIT_DERIVE_MEMORY;

	return (unsigned long long)(bytes >> 20);
}

static unsigned limit_ms(const struct derive_request *request)
{
	return request->timeout_ms ? request->timeout_ms : LIMIT_DERIVE_MS;
}

static bool refuse_time(const struct reader_child *child, struct err *err)
{
	const unsigned ms = limit_ms(child->request);

	return err_set(err, ERR_TOO_LARGE,
	               "%.300s is %s that could not be read within %u.%u s "
	               "(hasp.formats.timeoutMs). Ask for less of it, such as one part.",
	               child->request->name, child->format->words, ms / 1000, ms % 1000 / 100);
}

/* Why there is no answer. */
static bool explain_end(const struct reader_child *child, int status, struct err *err)
{
	const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	const int number = WIFSIGNALED(status) ? WTERMSIG(status) :
	                   exit_code > 128     ? exit_code - 128 :
	                                         0;
	const char *name = child->request->name, *words = child->format->words;

	if (cancelled(child->cancel))
		return err_set(err, ERR_CANCELLED, "Reading %.300s was cancelled.", name);
	if (number == SIGXCPU || clock_monotonic_ms() >= child->deadline)
		return refuse_time(child, err);
	if (exit_code == CHILD_OUT_OF_MEMORY)
		return err_set(err, ERR_TOO_LARGE,
		               "%.300s is %s that takes more than %llu MB of memory to read "
		               "(hasp.formats.memoryMb). Ask for less of it, such as one part.",
		               name, words, limit_mb(child->request));
	if (number)
		return err_set(err, ERR_TOOL_FAILED,
		               "%.300s is %s, and its reader crashed (SIG%s). The file may be "
		               "damaged, or made to crash programs.", name, words,
		               sigabbrev_np(number) ? sigabbrev_np(number) : "?");
	return err_set(err, ERR_TOOL_FAILED,
	               "%.300s is %s, and its reader ended without an answer.", name, words);
}

/* ---- its answer ------------------------------------------------------------------------ */

/* Waits for bytes; false: time is up, or it was cancelled. */
static bool wait_for_bytes(struct reader_child *child)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = child->answer, .events = POLLIN },
			                { .fd = cancel_fd(child->cancel), .events = POLLIN } };
		const uint64_t now = clock_monotonic_ms();
		int ready;

		if (now >= child->deadline || cancelled(child->cancel))
			return false;
		ready = fd_wait(fds, 2, cancel_wait_ms(child->cancel,
		                                       (int)(child->deadline - now)));
		if (ready > 0 && fds[0].revents)
			return true;
	}
}

/* Exactly `len` bytes more; false: it ended before, or time is up. */
static bool frame_bytes(struct reader_child *child, struct buf *out, size_t len)
{
	while (len) {
		const size_t most = len < PIECE_MAX ? len : PIECE_MAX;
		char *room = buf_reserve(out, most);
		ssize_t count;

		if (!room || !wait_for_bytes(child))
			return false;
		count = read(child->answer, room, most);
		if (count < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (count <= 0)
			return false;
		out->len += (size_t)count;
		out->data[out->len] = '\0';
		len -= (size_t)count;
	}
	return true;
}

static uint64_t frame_number(const char *bytes)
{
	uint64_t number = 0;

	for (size_t i = 0; i < 8; i++)
		number |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
	return number;
}

static size_t text_max(const struct derive_request *request)
{
	return (request->max_bytes ? request->max_bytes : LIMIT_DERIVE_TEXT) + 64;
}

enum answer { ANSWER_THERE, ANSWER_NONE, ANSWER_BROKEN };

/* Lengths are checked before anything is read. */
static enum answer frame_take(struct reader_child *child)
{
	const size_t json_max = LIMIT_DERIVE_FACTS + LIMIT_DERIVE_PICTURES / 3 * 4 + JSON_SLACK;
	_cleanup_buf_ struct buf head = BUF_INIT(CHILD_HEAD_BYTES + 1);
	uint64_t json_len, text_len;
	char more;

	if (!frame_bytes(child, &head, CHILD_HEAD_BYTES))
		return ANSWER_NONE;
	json_len = frame_number(head.data + 8);
	text_len = frame_number(head.data + 16);
	if (memcmp(head.data, CHILD_MAGIC, CHILD_MAGIC_BYTES) != 0 || json_len > json_max ||
	    text_len > text_max(child->request))
		return ANSWER_BROKEN;
	child->json.max = (size_t)json_len + PIECE_MAX + 1;
	child->text.max = (size_t)text_len + PIECE_MAX + 1;
	if (!frame_bytes(child, &child->json, (size_t)json_len) ||
	    !frame_bytes(child, &child->text, (size_t)text_len))
		return ANSWER_NONE;
	return wait_for_bytes(child) && read(child->answer, &more, 1) == 0 ? ANSWER_THERE :
	                                                                     ANSWER_BROKEN;
}

static bool is_clean(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		const unsigned char c = (unsigned char)text.data[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			return false;
	}
	return utf8_valid(text);
}

/* Errors of a reader, by their names; others are the reader's fault. */
static bool take_error(const struct reader_child *child, const json_t *object, struct err *err)
{
	static const enum err_code codes[] = { ERR_NOT_TEXT, ERR_INVALID_ARGUMENT, ERR_TOO_LARGE,
		ERR_NO_RESOURCES, ERR_INTERNAL, ERR_DENIED_BY_SANDBOX, ERR_IO_ERROR };
	const struct span name = json_span(json_object_get(object, "error"));
	enum err_code code = ERR_TOOL_FAILED;
	char message[ERR_MESSAGE_MAX / 2];

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (span_eq(name, span_str(err_name(codes[i]))))
			code = codes[i];
	derive_result_line(message, sizeof(message), json_object_get(object, "message"));
	return err_set(err, code, "%.300s: %s", child->request->name, message);
}

static bool child_result(struct reader_child *child, struct derive_result *ret, struct err *err)
{
	json_auto_t *object = NULL;
	struct err own = ERR_INIT;

	if (!json_parse_foreign(buf_view(&child->json), DERIVE_JSON_DEPTH, &object, NULL, &own) ||
	    !is_clean(buf_view(&child->text)))
		return false;
	if (json_object_get(object, "error"))
		return take_error(child, object, err);
	if (!derive_result_take(object, ret))
		return false;
	ret->text = child->text;
	child->text = (struct buf){ 0 };
	return true;
}

/* ---- the whole of it ------------------------------------------------------------------- */

static bool child_start(struct reader_child *child, struct err *err)
{
	int answer[2], alive[2];

	if (pipe2(answer, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "A reader of %.300s cannot be started",
		                     child->request->name);
	if (pipe2(alive, O_CLOEXEC) != 0) {
		err_set_errno(err, errno, "A reader of %.300s cannot be started",
		              child->request->name);
		close(answer[0]);
		close(answer[1]);
		return false;
	}
	child->answer = answer[0];
	child->alive = alive[1];
	child->pid = fork();
	if (child->pid == 0)
		child_read(&(const struct child_task){ child->format, child->request, answer[1],
		                                       alive[0] });
	if (child->pid < 0) {
		err_set_errno(err, errno, "A reader of %.300s cannot be started",
		              child->request->name);
		close(child->answer);
		close(child->alive);
	}
	close(answer[1]);
	close(alive[0]);
	return child->pid > 0;
}

bool format_derive(const struct format *format, const struct derive_request *request,
                   const struct cancel *cancel, struct derive_result *ret, struct err *err)
{
	struct reader_child child = { .format = format, .request = request, .cancel = cancel };
	enum answer answer;
	bool ok = false;

	*ret = (struct derive_result){ 0 };
	if (!child_start(&child, err))
		return false;
	child.deadline = clock_monotonic_ms() + limit_ms(request);
	answer = frame_take(&child);
	if (answer == ANSWER_NONE) {
		explain_end(&child, child_wait(&child), err);
	} else {
		struct err own = ERR_INIT;

		ok = answer == ANSWER_THERE && child_result(&child, ret, &own);
		child_end(&child);
		if (own.code != ERR_NONE)
			*err = own;
		else if (!ok)
			err_set(err, ERR_TOOL_FAILED,
			        "%.300s is %s, and what its reader answered breaks the rules. The "
			        "file may be made to take over programs.", request->name,
			        format->words);
	}
	if (!ok)
		derive_result_release(ret);
	buf_release(&child.json);
	buf_release(&child.text);
	return ok;
}

bool derive(const struct derive_request *request, const struct cancel *cancel,
            struct derive_result *ret, struct err *err)
{
	_cleanup_free_ char *head = mem_alloc(1, LIMIT_DERIVE_HEAD);
	const struct format *format;
	ssize_t count = pread(request->fd, head, LIMIT_DERIVE_HEAD, 0);

	*ret = (struct derive_result){ 0 };
	if (count < 0)
		return err_set_errno(err, errno, "%.300s cannot be read", request->name);
	format = request->want == DERIVE_QUERY ?
	                 format_find_query(span_of(head, (size_t)count)) :
	                 format_find(span_of(head, (size_t)count), request->name);
	if (!format)
		return err_set(err, ERR_NOT_TEXT, "No reader knows the format of %.300s.",
		               request->name);
	return format_derive(format, request, cancel, ret, err);
}

enum derive_known derive_knows(struct span head, const char *name)
{
	const struct format *format = format_find(head, name);

	return !format         ? DERIVE_UNKNOWN :
	       format->source ? DERIVE_SOURCE :
	       format->media  ? DERIVE_MEDIA :
	                        DERIVE_ONLY;
}

bool derive_name_suggests(const char *name)
{
	return format_of_name(name);
}
