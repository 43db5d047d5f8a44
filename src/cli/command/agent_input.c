/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line and standard input tell a run of the agent. */
#include "cli/command/private.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cli/view/output.h"
#include "data/json.h"

/* How long hasp waits for what is piped into it.  A pipe that no one ever writes to must not hang a
 * run: programs that start hasp often leave one open.  A command of the same job ("make | hasp -p
 * ...") may need minutes for its first byte, and none of its output may be lost. */

enum {
	FIRST_BYTE_MS = 500, /* a program that is going to write does; a forgotten one never */
	LOOK_AGAIN_MS = 1000,
	ANCESTORS_MAX = 64,
};

/* The parent of a process in /proc and its group; false: it has ended. */
static bool process_of(pid_t pid, pid_t *ret_parent, pid_t *ret_group)
{
	char path[64], text[1024], *end;
	_cleanup_fd_ int fd = -1;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	/* The name before it may hold parentheses. */
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d %d", ret_parent, ret_group) == 2;
}

static bool is_ancestor(pid_t pid)
{
	pid_t at = getpid(), parent, group;

	for (int i = 0; i < ANCESTORS_MAX && at > 1 && process_of(at, &parent, &group); i++) {
		if (parent == pid)
			return true;
		at = parent;
	}
	return false;
}

/* Whether the descriptor `name` of the process, whose folder of them is `folder`, writes to it. */
static bool writes_to(int folder, pid_t pid, const char *name, const struct stat *pipe)
{
	struct stat status;
	char path[64], text[256];
	unsigned flags = 0;
	FILE *file;

	if (fstatat(folder, name, &status, 0) < 0 || status.st_ino != pipe->st_ino ||
	    status.st_dev != pipe->st_dev)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", (int)pid, name);
	file = fopen(path, "re");
	while (file && fgets(text, sizeof(text), file))
		if (sscanf(text, "flags: %o", &flags) == 1)
			break;
	if (file)
		fclose(file);
	return file && (flags & O_ACCMODE) != O_RDONLY;
}

static bool process_writes_to(pid_t pid, const struct stat *pipe)
{
	char path[64];
	struct dirent *entry;
	bool writes = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	while (folder && !writes && (entry = readdir(folder)))
		writes = isdigit((unsigned char)entry->d_name[0]) &&
		         writes_to(dirfd(folder), pid, entry->d_name, pipe);
	if (folder)
		closedir(folder);
	return writes;
}

/* Whether another command in the shell's job that hasp is in, and none that started hasp, has the
 * pipe open for writing. */
static bool job_writes_to(const struct stat *pipe)
{
	const pid_t group = getpgrp();
	struct dirent *entry;
	bool writes = false;
	DIR *processes = opendir("/proc");

	while (processes && !writes && (entry = readdir(processes))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		pid_t parent, its_group;

		writes = pid > 0 && pid != getpid() && process_of(pid, &parent, &its_group) &&
		         its_group == group && process_writes_to(pid, pipe) && !is_ancestor(pid);
	}
	if (processes)
		closedir(processes);
	return writes;
}

/* Whether there is something to read on standard input (its end counts).  Waits half a second for
 * it, and on for as long as another command of the same job may write to the pipe; says so on
 * standard error after a second and a half, and when it goes on without (agent_input.c). */
static bool piped_has_input(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct stat status;
	bool reported = false;

	/* A closed one has become one that cannot be read (output_setup): there is nothing on
	 * it. */
	if (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &status) < 0 ||
	    (fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY)
		return false;
	for (int ms = FIRST_BYTE_MS; poll(&input, 1, ms) <= 0; ms = LOOK_AGAIN_MS) {
		if (!S_ISFIFO(status.st_mode) || !job_writes_to(&status)) {
			output_complain("Nothing arrived on standard input; continuing without it. "
			                "Use </dev/null to avoid this wait.");
			return false;
		}
		if (!reported && ms == LOOK_AGAIN_MS)
			output_complain("Waiting for what the command before | writes.");
		reported = reported || ms == LOOK_AGAIN_MS;
	}
	return input.revents & (POLLIN | POLLHUP);
}

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
