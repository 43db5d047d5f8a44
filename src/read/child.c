/* SPDX-License-Identifier: Apache-2.0 */
/* The child's side: first it gives up what it does not need, then it looks at the file. */
#include "read/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "sandbox/apply/inside.h"

enum {
	SAFE_FD = 16,              /* above those that have a number */
	PROBE_BYTES = 4 << 20,     /* less than this left: memory has run out */
	HANDLER_STACK = 64 << 10,
	DESCRIPTORS = 24,
	JSON_MAX = 32 << 20,       /* pictures are in it */
};

/* ---- descriptors ----------------------------------------------------------------------- */

static bool place_fd(int fd, int number)
{
	return fd >= 0 && dup2(fd, number) == number;
}

static void close_from(int first)
{
	struct rlimit limit;

	if (syscall(SYS_close_range, first, ~0U, 0) == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	for (int fd = first; fd < (int)limit.rlim_cur; fd++)
		close(fd);
}

/* What libraries print goes into a pipe that nothing reads. */
static bool child_descriptors(const struct child_task *task)
{
	const int input = fcntl(task->request->fd, F_DUPFD, SAFE_FD);
	const int answer = fcntl(task->answer, F_DUPFD, SAFE_FD);
	const int alive = fcntl(task->alive, F_DUPFD, SAFE_FD);
	int nowhere[2];

	if (pipe(nowhere) != 0)
		return false;
	nowhere[1] = fcntl(nowhere[1], F_DUPFD, SAFE_FD);
	if (!place_fd(input, 0) || !place_fd(nowhere[1], 1) || !place_fd(nowhere[1], 2) ||
	    !place_fd(answer, CHILD_ANSWER) || !place_fd(alive, CHILD_ALIVE))
		return false;
	close_from(CHILD_ALIVE + 1);
	return lseek(0, 0, SEEK_SET) == 0;
}

/* ---- ends ------------------------------------------------------------------------------ */

/* The kernel kills this process when the parent closes its end, or ends. */
static bool die_with_parent(void)
{
	struct pollfd alive = { .fd = CHILD_ALIVE, .events = POLLIN };

	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 &&
	       fcntl(CHILD_ALIVE, F_SETOWN, getpid()) == 0 &&
	       fcntl(CHILD_ALIVE, F_SETSIG, SIGKILL) == 0 &&
	       fcntl(CHILD_ALIVE, F_SETFL, O_NONBLOCK | O_ASYNC) == 0 &&
	       poll(&alive, 1, 0) == 0;
}

/* A library that gets no memory crashes or aborts.  System calls alone. */
static void on_crash(int number)
{
	void *probe = mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	_exit(probe == MAP_FAILED ? CHILD_OUT_OF_MEMORY : 128 + number);
}

/* The parent's handlers do not belong to this process. */
static bool set_signals(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS };
	const struct sigaction handler = { .sa_handler = on_crash, .sa_flags = SA_ONSTACK };
	const stack_t stack = { .ss_sp = mem_alloc(1, HANDLER_STACK), .ss_size = HANDLER_STACK };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, number == SIGPIPE || number == SIGXFSZ ? SIG_IGN : SIG_DFL);
	sigemptyset(&none);
	if (sigaltstack(&stack, NULL) != 0 || sigprocmask(SIG_SETMASK, &none, NULL) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
		sigaction(crashes[i], &handler, NULL);
	return true;
}

/* ---- limits ---------------------------------------------------------------------------- */

static bool limit_to(int what, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)what, &limit) != 0)
		return false;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &limit) == 0;
}

/* Bytes of address space that this process has by now. */
static uint64_t address_space(void)
{
	_cleanup_fd_ int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[64];

	if (!fd_read_text(fd, text, sizeof(text)))
		return 0;
	return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool limit_child(const struct derive_request *request)
{
	const size_t memory = request->memory_bytes ? request->memory_bytes : LIMIT_DERIVE_MEMORY;
	const unsigned ms = request->timeout_ms ? request->timeout_ms : LIMIT_DERIVE_MS;

	return limit_to(RLIMIT_AS, address_space() + memory) &&
	       limit_to(RLIMIT_CPU, ms / 1000 + 2) && limit_to(RLIMIT_FSIZE, memory / 4) &&
	       limit_to(RLIMIT_CORE, 0) && limit_to(RLIMIT_NOFILE, DESCRIPTORS);
}

/* ---- the answer ------------------------------------------------------------------------ */

static bool child_answer(const json_t *object, struct span text)
{
	_cleanup_buf_ struct buf json = BUF_INIT(JSON_MAX);
	char head[CHILD_HEAD_BYTES];

	if (!json_print(&json, object, 0))
		return false;
	memcpy(head, CHILD_MAGIC, CHILD_MAGIC_BYTES);
	for (size_t i = 0; i < 8; i++) {
		head[8 + i] = (char)(json.len >> (8 * i));
		head[16 + i] = (char)(text.len >> (8 * i));
	}
	return fd_write_all(CHILD_ANSWER, head, sizeof(head)) &&
	       fd_write_all(CHILD_ANSWER, json.data, json.len) &&
	       fd_write_all(CHILD_ANSWER, text.data, text.len);
}

static bool send_error(const struct err *err)
{
	json_auto_t *object = json_pack("{s:s, s:o}", "error", err_name(err->code), "message",
	                                json_text(span_str(err->message)));

	return child_answer(object, span_of("", 0));
}

static bool send_result(const struct derive_result *result)
{
	json_auto_t *object = derive_result_json(result);

	return child_answer(object, buf_view(&result->text));
}

/* A member that is read by its own format, and the content of "a.pdf.gz", need that one's library,
 * which cannot be loaded later. A failure is reported by its reader. */
static void load_of_content(const struct derive_request *request)
{
	const char *dot = strrchr(request->name, '.');
	_cleanup_free_ char *name = request->member ? mem_strdup(request->member) :
	                            mem_dup(request->name, dot ? (size_t)(dot - request->name) : 0);
	const struct format *format = format_of_name(name);
	struct err ignored = ERR_INIT;

	if (format && format->load)
		format->load(&ignored);
}

/* Libraries that get no memory say that the file is damaged; nothing clears errno after that. */
static bool run_in_memory(const struct format *format, const struct format_input *input,
                          const struct derive_request *request, struct derive_result *result,
                          struct err *err)
{
	errno = 0;
	if (format_run(format, input, request, result, err))
		return true;
	if (err->code == ERR_NOT_TEXT && errno == ENOMEM)
		_exit(CHILD_OUT_OF_MEMORY);
	return false;
}

static bool run_reader(const struct child_task *task, struct derive_result *result,
                       struct err *err)
{
	const struct format *format = task->format;
	const struct format_input input = { .fd = 0, .name = task->request->name,
		                            .size = task->request->size };

	if (format->load && !format->load(err))
		return false;
	load_of_content(task->request);
	if (!limit_child(task->request))
		return err_set_errno(err, errno, "Its reader cannot be given limits");
	return sandbox_confine_reader(format->data, err) &&
	       run_in_memory(format, &input, task->request, result, err);
}

_Noreturn void child_read(const struct child_task *task)
{
	struct derive_result result = { 0 };
	struct err err = ERR_INIT;
	bool sent;

	prctl(PR_SET_NAME, "hasp-reader", 0, 0, 0);
	if (!child_descriptors(task) || !die_with_parent() || !set_signals())
		_exit(CHILD_NO_ANSWER);
	sent = run_reader(task, &result, &err) ? send_result(&result) : send_error(&err);
	_exit(sent ? EXIT_SUCCESS : CHILD_NO_ANSWER);
}
