/* SPDX-License-Identifier: Apache-2.0 */
/* save_memory: a fact for all later sessions, in the user's own file of instructions.
 *
 * The place in the file is Gemini CLI's: a list under "## Gemini Added Memories".  The file is
 * exchanged as a whole, under a lock on its folder, so that two sessions lose nothing of each
 * other's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "bus/bus.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/services.h"

enum { FACT_MAX = 2000 };

static const char heading[] = "## Gemini Added Memories";

static const char description[] =
	"Remembers a fact for all later sessions, in all projects: what the user asks you to "
	"remember, and lasting preferences; nothing that concerns only this task or project, and "
	"no secrets.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["fact"], "additionalProperties": false,
	"properties": {
		"fact": {"type": "string", "minLength": 1, "description":
			"One short sentence that can be understood alone."}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message", "file_path"],
	 "additionalProperties": false,
	 "properties": {"success": {"const": true},
	 "message": {"type": "string"},
	 "file_path": {"type": "string"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

/* ---- the fact as one line -------------------------------------------------------------- */

static bool is_blank_at(const unsigned char *at, size_t left, size_t *ret_len)
{
	/* NEL, LS and PS end lines for some readers. */
	static const char *const separators[] = { "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };

	*ret_len = 1;
	if (*at <= ' ' || *at == 0x7f)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(separators); i++) {
		*ret_len = strlen(separators[i]);
		if (left >= *ret_len && memcmp(at, separators[i], *ret_len) == 0)
			return true;
	}
	return false;
}

/* One line without control characters, and without the signs of a list at its beginning. */
static void put_fact_line(struct span fact, struct buf *out)
{
	bool blank = false;
	size_t len;

	for (size_t i = 0; i < fact.len; i += len) {
		if (is_blank_at((const unsigned char *)fact.data + i, fact.len - i, &len)) {
			blank = out->len > 0;
			continue;
		}
		len = 1;
		if (!out->len &&
		    (fact.data[i] == '-' || fact.data[i] == '#' || fact.data[i] == '*'))
			continue;
		if (blank)
			buf_char(out, ' ');
		blank = false;
		buf_char(out, fact.data[i]);
	}
}

/* ---- its section in the text ------------------------------------------------------------- */

struct memory_section {
	bool found;    /* the heading is there */
	size_t end;    /* after the last line of the section that is not blank */
	bool known;    /* the fact stands there already */
};

static struct span without_item_sign(struct span line)
{
	return span_starts(line, SPAN("- ")) ? span_skip(line, 2) : span_of("", 0);
}

static struct memory_section find_section(struct span text, struct span fact)
{
	struct memory_section section = { .end = text.len };
	struct span rest = text, line;
	bool inside = false;

	while (line_next(&rest, &line)) {
		struct span body = span_trim(line);

		if (inside && (span_starts(body, SPAN("# ")) || span_starts(body, SPAN("## "))))
			inside = false;
		if (!section.found && span_eq(body, span_str(heading)))
			section.found = inside = true;
		if (inside && body.len)
			section.end = (size_t)(line.data - text.data) + line.len;
		section.known |= inside && span_eq(without_item_sign(body), fact);
	}
	return section;
}

static void put_item(struct span text, const struct memory_section *section, struct span fact,
                     struct buf *out)
{
	buf_span(out, span_head(text, section->end));
	if (out->len && out->data[out->len - 1] != '\n')
		buf_char(out, '\n');
	if (!section->found)
		buf_printf(out, "%s%s\n", out->len ? "\n" : "", heading);
	buf_str(out, "- ");
	buf_span(out, fact);
	buf_char(out, '\n');
	buf_span(out, span_skip(text, section->end));
}

/* ---- the file -------------------------------------------------------------------------- */

/* The file that is really meant: a link is followed, not replaced. The caller frees. */
static char *real_file(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : mem_strdup(path);
}

static void wait_publish(void *data, enum severity severity, const char *message)
{
	json_auto_t *notice = json_pack("{s:s, s:o}", "severity",
	                                notices_severity_name(severity), "message",
	                                json_cstr(message));

	bus_publish(data, BUS_NOTICE, notice);
}

/* Locks the folder for as long as the descriptor is open; makes it if it is missing. */
static int lock_folder(const struct tool_services *services, const char *file, struct err *err)
{
	const struct file_lock_wait wait = { .cancel = services->cancel,
		                             .max_ms = services->lock_wait_ms,
		                             .notices = { wait_publish, services->bus } };
	_cleanup_free_ char *folder = mem_dup(file, (size_t)(strrchr(file, '/') - file));
	_cleanup_fd_ int fd = -1;

	if (!file_make_folders(folder, err))
		return -1;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		err_set_errno(err, errno, "Cannot lock %s", folder);
	else if (file_lock_take(fd, folder, &wait, err))
		return fd_steal(&fd);
	return -1;
}

/* *ret_known: it was there already. */
static bool remember_fact(const struct tool_services *services, struct span fact, bool *ret_known,
                          struct err *err)
{
	_cleanup_free_ char *path = real_file(services->memory_file);
	_cleanup_file_text_ struct file_text old = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
	_cleanup_fd_ int lock = lock_folder(services, path, err);
	struct memory_section section;

	if (lock < 0 || !file_read(path, LIMIT_MEMORY_FILE_BYTES, &old, err))
		return false;
	section = find_section(file_text_span(&old), fact);
	*ret_known = section.known;
	if (section.known)
		return true;
	put_item(file_text_span(&old), &section, fact, &text);
	if (text.overflowed)
		return err_set(err, ERR_TOO_LARGE,
		               "%s is full: it may have %zu bytes. The user has to shorten it.",
		               path,
		               LIMIT_MEMORY_FILE_BYTES);
	return file_replace(path, buf_view(&text), old.data ? old.mode : 0600, err);
}

static json_t *memory_result(const char *file, bool known)
{
	json_t *result = json_object();

	json_object_set_new(result, "message", json_string(known ? "It was remembered already." :
	                                                           "It is remembered."));
	json_object_set_new(result, "file_path", json_name(file));
	return result;
}

static json_t *run_save_memory(struct session *session, const json_t *arguments)
{
	const char *file = session->services ? session->services->memory_file : NULL;
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
	struct span fact = argument_span(arguments, "fact");
	struct err err = ERR_INIT;
	bool known = false;

	if (!file)
		err_set(&err, ERR_DENIED_BY_POLICY, "This session has no place for memories.");
	else if (fact.len > FACT_MAX)
		err_set(&err, ERR_INVALID_ARGUMENT, "The fact is longer than %d bytes.", FACT_MAX);
	else
		put_fact_line(fact, &line);
	if (err.code == ERR_NONE && !line.len)
		err_set(&err, ERR_INVALID_ARGUMENT, "\"fact\" has no text.");
	if (err.code != ERR_NONE ||
	    !remember_fact(session->services, buf_view(&line), &known, &err))
		return tool_failure(&err);
	return memory_result(file, known);
}

const struct tool tool_save_memory = {
	.info = &tool_infos[TOOL_SAVE_MEMORY],
	.name = "save_memory",
	.title = "Remember",
	.description = description,
	.arguments_schema = arguments_schema,
	.result_schema = result_schema,
	.run = run_save_memory,
};
