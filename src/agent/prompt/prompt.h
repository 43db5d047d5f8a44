/* SPDX-License-Identifier: Apache-2.0 */
/* What a conversation begins with: the system prompt, the first message, files of instructions, and
 * the files that a prompt names. */
#ifndef HASP_AGENT_PROMPT_PROMPT_H
#define HASP_AGENT_PROMPT_PROMPT_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

#include "base/buf.h"
#include "base/span.h"
#include "catalog/skills.h"
#include "config/settings.h"
#include "policy/policy.h"
#include "search/rules/glob.h"
#include "tool/dialect.h"
#include "tool/set.h"
#include "tool/tool.h"
#include "worker/provider.h"

/* ---- the system prompt ------------------------------------------------------- */

/* The system prompt, which does not change during a session, and the texts of modes, which are sent
 * in messages (surroundings.h).
 *
 * It is made of sections, each of which GEMINI_PROMPT_<SECTION>=0 (or false) leaves out:
 * PREAMBLE, MANDATES, STATE, WORKFLOW, PLAN, OPERATION, SANDBOX, GIT, SKILLS, MEMORY.
 * GEMINI_SYSTEM_MD=1|true replaces all of it but the memory by .gemini/system.md of the project
 * (trusted folders only), =PATH by that file, in which ${AvailableTools}, ${AgentSkills},
 * ${SubAgents} and ${NAME_ToolName} are replaced.  GEMINI_WRITE_SYSTEM_MD writes it to such a
 * file.
 */

struct prompt_options {
	const struct settings *settings;
	struct provider *provider;
	const struct tool_set *tools;
	struct span memory;        /* memory_global */
	const struct skills *skills; /* may be NULL */
	bool interactive;
	bool git;                  /* the workspace is in a git repository */
	const char *confinement;   /* sentences about the sandbox; or NULL */
	const char *plans_folder;  /* or NULL */
	const char *model;         /* its id, for the editor that it is offered; or NULL */
};

/* *ret_pieces (surroundings.h) is the caller's. Errors: the file that GEMINI_SYSTEM_MD names cannot
 * be read. */
bool prompt_make(const struct prompt_options *options, json_t **ret_pieces, struct err *err);
/* The system prompt of a sub-agent: what its definition says, and what holds for all of them; of
 * the options' tools, which are its own. The caller frees. */
char *prompt_agent_text(const struct prompt_options *options, const char *instructions);
/* The dialect in which these tools are declared to this model. */
enum dialect prompt_dialect(const struct prompt_options *options);

/* What holds in a mode; `off_tools`: gate_off_text, or NULL. The caller frees. */
char *prompt_mode_text(const struct prompt_options *options, enum approval_mode mode,
                       const char *off_tools);

/* ---- facts ------------------------------------------------------------------- */

/* The first message of a conversation: place and time, and the project's instruction files.
 *
 * It comes before the history. It is made once, and again by a compaction; changes are sent at the
 * end (surroundings.h).
 */

struct facts_options {
	const struct settings *settings;
	struct provider *provider;
	const struct memory *memory;     /* may be NULL */
	const char *temp_folder;         /* where outputs are kept; or NULL */
	const char *mode;                /* prompt_mode_text; or NULL */
	time_t now;
};

/* Its pieces (surroundings.h), a new reference. The tree of files (context.includeDirectoryTree)
 * has at most 200 lines; names in it are escaped. */
json_t *prompt_facts_pieces(const struct facts_options *options);
/* The piece that has the date; the caller frees. */
char *prompt_facts_date(time_t now);

/* ---- reading ---------------------------------------------------------------------- */

/* Where files of instructions are read from: the workspace, through its provider, or a folder of
 * the user's.  Private to agent/. */

struct source {
	const char *root;          /* absolute; nothing outside it is read */
	struct provider *provider; /* NULL: the folder is this machine's, opened directly */
	bool own_only;             /* files of other users (but root) are passed over */
	json_t *notices;           /* NULL, or gets a sentence about a file with invisible
	                            * characters */
	/* For imports alone. */
	const json_t *said;        /* NULL, or an object whose members are the paths of texts that
	                            * are there already */
	const char *home;          /* what ~ is; NULL: nothing */
	const struct source *users; /* NULL, or whose Markdown files ~/... may name */
};

/* A sentence to the user about invisible characters (base/unseen.h): `what` has `count` of them. */
void source_notice_unseen(const char *what, size_t count, json_t *notices);

/* Appends the file's text, its invisible characters as escapes, if it is a regular file of UTF-8
 * and at most LIMIT_MEMORY_FILE_BYTES. `path` is absolute, as path_join (base/path.h) makes it.
 * FILE_NOT_FOUND, TOO_LARGE, NOT_TEXT, OUTSIDE_WORKSPACE, ... */
bool source_read(const struct source *source, const char *path, struct buf *out, struct err *err);
/* The absolute paths of the files in `folder` and the folders in it whose names end with `ending`,
 * in their order, at most `max`.  The caller frees each, and *ret.  0, *ret NULL: there are none,
 * or the folder cannot be read. */
size_t source_list(const struct source *source, const char *folder, const char *ending, size_t max,
                   char ***ret);

/* ---- which files are instructions ------------------------------------------------- */

/* Which files of a folder are instructions, for each product whose set-up is read as it is, and
 * what the front matter of a rule says.  Private to agent/prompt.
 *
 * Sources: Gemini CLI, docs/cli/gemini-md.md; agents.md and Codex, docs/agents_md.md; Claude Code,
 * Memory; GitHub Copilot, Repository custom instructions; Cursor, Rules.
 *
 * To add a file: one row in instructions.c, and one for who may write it (sandbox/plan/names.c,
 * config/authority.c, agent/setup/brought.c). */

/* A file with a fixed name. What a later row says is the more particular. */
struct instruction_file {
	const char *family; /* a word of the setting hasp.instructions; NULL: the end */
	const char *path;   /* beneath the folder */
	bool top;           /* only in the workspace's roots and where a repository begins */
	bool instead;       /* where it is there, the next row's file does not count */
};

extern const struct instruction_file instruction_files[];
/* The same for files beneath the user's home, which are the user's instructions. */
extern const struct instruction_file instruction_user_files[];

/* Rules: files of any name in a folder and the folders in it. */
struct instruction_rules {
	const char *family;  /* NULL: the end */
	const char *folder;  /* beneath the folder */
	const char *ending;  /* of the names */
	const char *patterns; /* the field with the patterns of the files that a rule is about */
	unsigned glob_flags; /* of the patterns */
	bool always;         /* what says nothing about when it counts, counts always */
	bool user;           /* also beneath the user's home */
};

extern const struct instruction_rules instruction_rules[];

/* Whether it is one of the families. */
bool instructions_family(const char *word);

enum rule_when {
	RULE_ALWAYS,
	RULE_FILES,   /* when a file is read that its patterns match */
	RULE_CHOSEN,  /* the model reads it when it seems to be about the work: `description` */
	RULE_BY_NAME, /* when the user names it */
};

struct rule {
	enum rule_when when;
	struct span body;          /* borrowed from the text */
	char *description;         /* CHOSEN; owned */
	struct glob_list patterns; /* FILES: of paths beneath the folder the rules' folder is in */
};

/* `text` must outlive the rule, which the caller releases. INVALID_ARGUMENT: the front matter, or a
 * pattern, cannot be read. */
bool instructions_rule_parse(const struct instruction_rules *row, struct span text,
                             struct rule *ret, struct err *err);
void instructions_rule_release(struct rule *rule);
#define _cleanup_rule_ __attribute__((cleanup(instructions_rule_release)))

/* ---- files of instructions -------------------------------------------------------- */

/* Files of instructions: of each folder those of instruction_files and instruction_rules, as far as
 * the setting hasp.instructions names their family; or those that context.fileName names.  Those
 * of extensions (config/extensions.h) count in every folder where these are enabled.  Rules about
 * some files are said when one of these is read.
 *
 *     struct memory *memory = memory_load(&options);
 *     memory_global(memory)      // the user's and the project's private memory: system prompt
 *     memory_project(memory)     // extensions' and the project's: for the first message
 *     found = memory_found(memory, "src/deep/file.c");   // of the folders on the way, once each
 *     memory_forget(memory, kept);                 // but again when it has left the conversation
 *     memory_free(memory);
 *
 * The project's are those of the workspace's root and of the folders above it up to the one with
 * a boundary marker (context.memoryBoundaryMarkers, .git); without a marker nothing above is
 * read, and files there count only if they are the user's or root's.  In a folder that is not
 * trusted none of them count. Those of the workspace's further folders count with
 * context.loadMemoryFromIncludeDirectories. Files of the workspace are read through the
 * provider.  Of equal texts (a link, a copy) the first counts.
 */

/* ---- files of instructions --------------------------------------------------- */

struct memory;

struct memory_options {
	const struct settings *settings;
	struct provider *provider;
	const struct home *home; /* with the project's folder (home_claim): its private memory
	                          * is there */
	bool local;         /* the provider's files are this machine's: folders above can be
	                     * looked at */
	bool git;           /* the workspace's root has a .git: nothing above it is of this
	                     * project */
};

/* Never fails; what could not be read is in memory_notices. */
struct memory *memory_load(const struct memory_options *options);
void memory_free(struct memory *memory); /* NULL is fine */

/* Blocks "--- Context from: PATH ---"; empty without. */
struct span memory_global(const struct memory *memory);
struct span memory_project(const struct memory *memory);
/* Paths that were read, in their order; sentences about what was not. Borrowed. */
const json_t *memory_files(const struct memory *memory);
const json_t *memory_notices(const struct memory *memory);

/* What the folders from the root down to that of `path` (absolute or beneath the root) have to
 * say that was not said before; NULL: nothing. The caller frees. From any thread. */
char *memory_found(struct memory *memory, const char *path);
/* What memory_found said and is in none of the texts in `kept` (an array) counts as not said.
 * From any thread. */
void memory_forget(struct memory *memory, const json_t *kept);

/* ---- imports ----------------------------------------------------------------- */

/* @path in a file of instructions: the file it names stands there instead.
 *
 * An import begins with @ after white space or at the beginning of a line, and goes on with a
 * dot, a slash or a letter up to white space; not in `code` and not between ``` fences.  Imports
 * nest at most 5 deep; one that leads back to itself, out of the root, or to nothing is a
 * comment that says so; a word that only looks like one ("@alice") stays.  ~/.claude/NAME.md is
 * the user's own.  What was said already is not said again.  As Gemini CLI's, with its marks:
 *
 *     <!-- Imported from: ./style.md -->
 *     ...
 *     <!-- End of import from: ./style.md -->
 */

enum { IMPORT_DEPTH_MAX = 5 };

/* Appends `text`, the content of `path` (absolute), with its imports resolved. Never fails: what
 * cannot be imported is a comment; what has no room in `out` is left out, and out->overflowed
 * says so. */
void imports_resolve(const struct source *source, const char *path, struct span text,
                     struct buf *out);

/* ---- files that a prompt names ---------------------------------------------------- */

/* @path in a prompt: the files it names, read and handed over with it.
 *
 *     content = mention_message(&session, piped, SPAN("what is @src/main.c?"), search, NULL,
 *                               notices);
 *
 * A path follows an @ that stands at the beginning or after anything but a letter, digit or _ ;
 * it ends at white space, at one of , ; ! ? ( ) [ ] { }, or at a dot before white space or the
 * end.  A backslash takes what follows as it is; quotes ("...") hold any characters; \@ is no
 * mention.  It may be a file, a folder (all files beneath) or a glob.  A name that is not there
 * is looked for in the workspace (`search`).
 *
 * Only the text that the user typed is searched, in one pass. Text that is piped in (a log, a diff)
 * is not: its author must not be able to choose which files the model gets.
 */

struct mention {
	size_t offset, length; /* of all of it in the prompt, the @ too; in bytes */
	char *path;            /* owned; without quotes and backslashes; not empty */
	bool quoted;
};

/* All mentions in their order; the caller frees with mentions_free. At most LIMIT_MENTIONS.
 * Linear. */
size_t mentions_find(struct span prompt, struct mention **ret);
void mentions_free(struct mention *mentions, size_t count);
/* Appends a path, which has no control characters, as it is to stand after an @. */
void mention_put_path(struct buf *out, struct span path);

/* What an @ may name besides files: agents, resources of MCP servers. */
struct mention_others {
	/* Reads `name` (without the @) as a tool's result: {"output": ...}, or an error; or
	 * {"note": ...}, a text for the model without content. A new reference. NULL: not one of
	 * these; it is tried as a path. */
	json_t *(*read)(void *data, const char *name);
	void *data;
	json_t *attached; /* NULL, or gets a text for each name whose content goes along:
	                   * "src/a.c", "src (12 files)"; borrowed */
};

/* The user's message (model/content.h): `piped` as it is, the prompt, then what that names: what
 * `others` (or NULL) knows, and files as
 * versioned, hashed file objects as read_many_files gives them; images, audio and PDF as media.
 * What cannot be read is a sentence in `notices` (an array of strings) and in the message; with
 * `search`, a name that nothing has is looked for in all folders. A new reference. */
json_t *mention_message(struct session *session, struct span piped, struct span prompt, bool search,
                        const struct mention_others *others, json_t *notices);

#endif
