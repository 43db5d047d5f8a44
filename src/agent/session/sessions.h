/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded sessions: finding, listing, reading, deleting them.
 *
 *     sessions = sessions_list(home);                              // reads, changes nothing
 *     if (sessions_find(home, "latest", &path, &err) && session_read_file(path, &read, &err)) ...
 *     session_read_release(&read);
 *
 * Gemini CLI's files (.jsonl, and older .json) and hasp's are the same ones.  A session that is
 * only read or resumed is never deleted, nor an older file written; lines that cannot be read
 * are passed over.  Old ones: sessions.h.
 */
#ifndef HASP_AGENT_SESSION_SESSIONS_H
#define HASP_AGENT_SESSION_SESSIONS_H

/* How the note begins that stands before a prompt for a "!" command of the user. */
#define SESSION_COMMAND_NOTE "The user ran this command:\n\n$ "
/* What stands around a slash command whose prompt follows: people are shown the command alone. */
#define SESSION_SLASH_BEGIN "<slash_command>"
#define SESSION_SLASH_END "</slash_command>\n\n"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/span.h"
#include "config/home.h"
#include "config/settings.h"

/* ---- sessions ---------------------------------------------------------------- */

struct session_read {
	char *id;          /* owned */
	json_t *messages;  /* as recorded: user, gemini, info, ...; owned */
	json_t *contents;  /* the conversation (model/content.h); owned */
	json_t *metadata;  /* of the file; owned */
	char *first_prompt; /* what the user said first, at most 4,000 bytes of it, also when a
	                     * compression has replaced it; NULL: nothing. Owned */
	json_t *sent;      /* the start of its conversation: {"system": [PIECE...], "context":
	                    * [PIECE...], "tools": HASH, "told": [PIECE...] changes sent since}
	                    * (surroundings.h); NULL: not in the file. Owned */
	size_t bad_lines;  /* that cannot be read, or have no meaning */
	size_t long_lines; /* that were skipped: more than LIMIT_SESSION_LINE_BYTES */
	size_t gap_lines;  /* that could not be written */
	char *gap_since;   /* when that began; NULL: none are missing. Owned */
	bool legacy;       /* one JSON object: cannot be appended to */
};

/* INVALID_ARGUMENT: nothing in it is a session. TOO_LARGE. FILE_NOT_FOUND. */
bool session_read_file(const char *path, struct session_read *ret, struct err *err);
/* Appends a sentence on the missing parts of the session; nothing if it is complete. */
void session_read_defects(const struct session_read *read, struct buf *out);
/* Reads only the end of the conversation, quickly, whatever the length: the messages in the last
 * 256 KB of the file; a new reference, never NULL. *ret_whole: there is nothing before it. Empty if
 * messages were rewound and the end cannot be determined. */
json_t *session_read_end(const char *path, bool *ret_whole);
void session_read_release(struct session_read *read);
/* As session_read_file, of a file's text, for tests; the id has to stand in it. */
bool session_read_text(struct span text, struct session_read *ret, struct err *err);
/* Reads one line of a record, which may be Gemini CLI's: it writes half a surrogate pair as it is
 * (json_parse_foreign).  False: it cannot be read, and counts as damaged. */
bool session_parse_line(struct span line, json_t **ret);
/* The same; `named` (or NULL): the id that the file's name has, for one that has lost its own. */
bool session_read_named(struct span text, const char *named, struct session_read *ret,
                        struct err *err);
/* Whether a value is the id of a session. */
bool session_id_is_one(const json_t *value);
/* The content of one message of a file (model/content.h), without its calls; NULL: it is from
 * neither the user nor the model. A new reference. */
json_t *session_message_content(const json_t *message);
/* What the user asked, oldest first: [{"id" (of the message in the file), "text", "time"?}],
 * without messages that joined a prompt; a new reference. */
json_t *session_prompts(const struct session_read *read);
/* The metadata in the first line: a valid sessionId and more; a new reference. NULL: none,
 * and the whole file must be read. */
json_t *session_read_metadata(const char *path);
/* The id alone, from the first line where that has it; the caller frees. NULL: nothing in it is
 * a session. */
char *session_read_id(const char *path);
/* Whether the session has a message that was not rewound. Usually reads only the end of the
 * file. */
bool session_has_messages(const char *path);

/* Sessions that can be resumed, oldest first: [{id, file, title, startTime, lastUpdated, messages,
 * defects}]; `file` is the path as bytes (not for printing); a new reference. A project without a
 * folder has none. If several files have the same id, the one modified last counts; files without
 * messages (Gemini CLI leaves them) are skipped. */
json_t *sessions_list(struct home *home);
/* An id, "latest" (the last of the list), a number of the list (from 1), the beginning of an id (at
 * least 8 characters, only one session's), or a whole title (likewise). *ret is the caller's.
 * INVALID_ARGUMENT: there is none, or several. */
bool sessions_find(struct home *home, const char *which, char **ret_path, struct err *err);
/* The same of a project's folder (absolute); also home_open's errors. */
bool sessions_find_in(const char *project, const char *which, char **ret_path, struct err *err);
/* Likewise; removes the session's files, its tool outputs, its plans and what Gemini CLI's
 * agents said in it: the listed file, and others that have the same id both in them and in their
 * names. BUSY: one of them is open; then all stay. */
bool sessions_delete(struct home *home, const char *which, struct err *err);
/* Prints a moment of a session's file ("2026-11-24T05:32:00Z") in the user's time zone, to the
 * minute; what is no such moment as it stands. */
void session_local_time(const char *moment, char *out, size_t size);
/* What people are shown of a prompt: all of it, or the slash command that it stands for. */
struct span session_prompt_shown(struct span prompt);
/* What a session is called by its first prompt, a part of it: where that begins with a "!" command,
 * "$ " and the command. */
struct span session_prompt_title(struct span prompt);
/* Adds a line with a new title to a session's file. BUSY: it is open; INVALID_ARGUMENT: the title
 * is blank, or the file has the old format. */
bool session_rename(const char *path, struct span title, struct err *err);
/* The file of the session with this id, also of one in which nothing was said yet; the caller
 * frees.  NULL: there is none. */
char *sessions_file(struct home *home, const char *id);
/* Whether the list has a session with exactly this id. */
bool sessions_have(struct home *home, const char *id);
/* Whether a file of this name may be a session; whether it is the name of one with this id. */
bool session_is_name(const char *name);
/* "  1. Fix the bug (2 hours ago) [uuid]\n" for each, as Gemini CLI prints them: one line each,
 * the titles foreign text. */
void sessions_print(const json_t *sessions, int64_t now_seconds, struct buf *out);

/* ---- lines of other programs in them --------------------------------------------- */

/* Calls `visit` with what each line {"hasp": {NAME: ...}} of a session's file has, in their order.
 * Lines that cannot be read, and files that are not there, are passed over. */
void session_own_lines(const char *path, const char *name,
                       void (*visit)(void *data, const char *path, const json_t *value),
                       void *data);
/* The same of all sessions of a project, at most of the `most` files that were changed last, the
 * oldest of these first. */
void sessions_own_lines(struct home *home, const char *name, size_t most,
                        void (*visit)(void *data, const char *path, const json_t *value),
                        void *data);

/* ---- how long they stay ------------------------------------------------------ */

/* Old sessions are deleted (general.sessionRetention, as in Gemini CLI): at a session's end,
 * never by reading, listing or resuming.
 *
 * A session is as old as the last change of its file, or of the newest if there are several.
 * maxAge and maxCount say which ones go, with all their files; none goes that is younger than
 * minRetention, is open somewhere, or is not named like a session.
 */

/* Removes files of one session and what belongs to it: its tools' outputs, its checkpoints (`id`
 * NULL: it has none). BUSY: one of the files is open; then all stay. */
bool session_remove(struct home *home, const char *id, const char *const *paths, size_t count,
                    struct err *err);

struct retention {
	int64_t max_age;  /* seconds; 0: any */
	int64_t min_age;  /* seconds; younger ones stay */
	size_t max_count; /* 0: any */
};

/* What the settings say. False: nothing is deleted; *ret_why is then NULL or a sentence about a
 * setting that is wrong, static. */
bool sessions_retention_read(const struct settings *settings, struct retention *ret,
                             const char **ret_why);
/* Deletes old sessions with their tools' outputs, and returns the number. `kept`: the path of one
 * to keep in any case, or NULL. */
size_t sessions_retention_apply(struct home *home, const struct retention *retention,
                                int64_t now_seconds,
                                const char *kept);

/* ---- export ----------------------------------------------------------------------- */

/* A session to read elsewhere: as Markdown for people, as JSON for programs (docs/sessions.md). */

enum export_format { EXPORT_MARKDOWN, EXPORT_JSON };

/* By a word ("markdown", "md", "json"), or, where that is NULL, by how a file's name ends. False:
 * it says neither. */
bool export_format_of(const char *word, const char *file, enum export_format *ret);

/* Appends all of it: what was said, each call with its arguments, its difference or output.  In
 * Markdown nothing that was said or printed gets out of where it stands.  False when `out`
 * overflowed. */
bool session_export(const struct session_read *read, enum export_format format, struct buf *out);

/* ---- looking for one among many --------------------------------------------------- */

/* Looking for a session among many: what each is about, and which has certain words in it.
 *
 *     json_t *rows = sessions_browse(home, SPAN("parser crash"), cancel);
 *     ... rows, the one that was changed last first ...
 *     json_t *end = session_end(file, 6);        // to look at before it is opened
 *
 * Files are scanned, by several threads, and hardly parsed: some 2 GB a second.  What is shown of a
 * session is what a glance at its file gives; session_read (sessions.h) is who knows it exactly.
 *
 * Not here: opening one (sessions_find, host_resume).
 */

/* Sessions with something to resume, and all of `words` (split at blanks, letters' cases aside) in
 * their titles, or in what was said, called and answered: [{"id", "file" (bytes), "title", "time"
 * (of the last message), "messages", "model"?, "tag"? (a copy that
 * "/chat save TAG" has made), "found"?: where the first word stands, on one
 * line}].  Without words: all.  A new reference; NULL: cancelled (`cancel` may be NULL). */
json_t *sessions_browse(struct home *home, struct span words, const struct cancel *cancel);

/* The last messages of a session, oldest first: [{"who": "user" or a model's name, "text"}], as
 * many as stand in the last 256 KB of its file and at most `count`; a new reference, never NULL. */
json_t *session_end(const char *file, size_t count);

/* Calls `work` with `data` on this thread and on one more for each further processor, at most as
 * many as there are `jobs`; returns when all have.  The calls share the jobs among themselves. */
void sessions_work(void *(*work)(void *data), void *data, size_t jobs);

#endif
