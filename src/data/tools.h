/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of tools: a row for each tool that hasp has or may have, with all that others need
 * to know of it: its names, what it does to files, how rules, hooks, questions and figures take it.
 *
 *     const struct tool_info *info = tool_info_find("SmartEditTool");
 *     info->name                                    // "update_file"
 *     info->edit                                    // TOOL_EDIT_UPDATE
 *     tool_info_means_other(info, "SmartEditTool")  // true: safe_patch is meant, too
 *     tool_info_find("NotebookEdit")                // NULL, but tool_info_foreign knows it
 *     tool_info_nearest("run_shell_comand")         // "run_shell_command"
 *
 * Calls, policy rules, hooks' matchers, settings, agent files, flags, sessions, telemetry and the
 * terminal look tools up here alone.  No other file names a tool to find out what it is:
 * script/check-layers refuses that (its few exceptions stand in script/lib/house.py).
 *
 * To add a tool:
 *   1. an identifier in enum tool_id, and a row in tools.c: what is true of the tool, and the names
 *      of similar tools in other agents.  Policy, hooks, telemetry and the terminal need no more
 *   2. src/tool/builtin/NAME.c: description, schemas, handler; a line in src/tool/set.c
 *   3. cases in test/tool/, a section in docs/tools.md
 * To add a spelling: one word in its row.  A name that another agent has and hasp has no tool for
 * belongs in the list of foreign names, so that a rule about it is no mistake.
 *
 * Two kinds of other names.  The same tool under another name (search_files is grep_search): a
 * rule for one is a rule for the other.  A tool that does what another agent has another tool for
 * (safe_patch does what Gemini CLI's replace does): the other agent's name stands for it as well,
 * hasp's own name (update_file) for nothing else.
 *
 * Not here: tools of MCP servers and those found by a discovery command, whose names are known
 * only when they are; descriptions, schemas and handlers (tool/tool.h).
 */
#ifndef HASP_DATA_TOOLS_H
#define HASP_DATA_TOOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

/* Each row, for code that makes calls itself: tool_name(TOOL_READ_FILE). */
enum tool_id {
	TOOL_READ_FILE,
	TOOL_READ_MANY_FILES,
	TOOL_SAFE_PATCH,
	TOOL_WRITE_FILE,
	TOOL_UPDATE_FILE,
	TOOL_APPLY_CHANGES,
	TOOL_UPDATE_DATA,
	TOOL_UPDATE_NOTEBOOK,
	TOOL_SEARCH_FILES,
	TOOL_GLOB,
	TOOL_LIST_DIRECTORY,
	TOOL_QUERY_DATA,
	TOOL_RUN_SHELL_COMMAND,
	TOOL_RUN_PYTHON,
	TOOL_LIST_BACKGROUND_PROCESSES,
	TOOL_READ_BACKGROUND_OUTPUT,
	TOOL_WRITE_BACKGROUND_INPUT,
	TOOL_KILL_BACKGROUND_PROCESS,
	TOOL_WEB_FETCH,
	TOOL_GOOGLE_WEB_SEARCH,
	TOOL_SAVE_MEMORY,
	TOOL_WRITE_TODOS,
	TOOL_ASK_USER,
	TOOL_ENTER_PLAN_MODE,
	TOOL_EXIT_PLAN_MODE,
	TOOL_REQUEST_PERMISSION,
	TOOL_SEARCH_TOOLS,
	TOOL_CALL_TOOL,
	TOOL_ACTIVATE_SKILL,
	TOOL_INVOKE_AGENT,
	TOOL_UPDATE_TOPIC,
	TOOL_GET_INTERNAL_DOCS,
	TOOL_READ_MCP_RESOURCE,
	TOOL_LIST_MCP_RESOURCES,
	TOOL_GET_DIAGNOSTICS,
	/* Agents, which rules name as tools. */
	TOOL_CODEBASE_INVESTIGATOR,
	TOOL_CLI_HELP,
	TOOL_COUNT,
};

/* What a tool does to the world (Gemini CLI's names). */
enum tool_kind {
	TOOL_KIND_OTHER,
	TOOL_KIND_READ,
	TOOL_KIND_EDIT,
	TOOL_KIND_DELETE,
	TOOL_KIND_MOVE,
	TOOL_KIND_SEARCH,
	TOOL_KIND_EXECUTE,
	TOOL_KIND_THINK,
	TOOL_KIND_FETCH,
	TOOL_KIND_COMMUNICATE,
	TOOL_KIND_PLAN,
	TOOL_KIND_AGENT,
};

const char *tool_kind_name(enum tool_kind kind); /* "read", "edit", ... */
/* Whether such a tool changes files, or anything else. */
bool tool_kind_changes(enum tool_kind kind);
/* Whether it does nothing but find something out. (Not the opposite: TOOL_KIND_OTHER is
 * neither.) */
bool tool_kind_reads(enum tool_kind kind);

/* What a tool does with the paths in its arguments (`paths`). */
enum tool_files {
	TOOL_FILES_NONE,
	TOOL_FILES_READ,   /* reads the one file that is named */
	TOOL_FILES_GATHER, /* reads files, and all that folders and patterns among them stand for */
	TOOL_FILES_SEARCH, /* looks into all files beneath a folder */
	TOOL_FILES_FIND,   /* shows names beneath a folder, at any depth */
	TOOL_FILES_LIST,   /* shows the names in a folder */
	TOOL_FILES_WRITE,
};

/* How an editor describes the change. */
enum tool_edit {
	TOOL_EDIT_NONE,   /* it is no editor */
	TOOL_EDIT_PATCH,  /* a diff, in `unified_diff` */
	TOOL_EDIT_UPDATE, /* text that takes another's place, in `old_content`, `new_content` */
	TOOL_EDIT_WRITE,  /* the whole, in `content` */
	TOOL_EDIT_MANY,   /* several of these, in the list `changes`, each with its `kind` */
	TOOL_EDIT_DATA,   /* values or cells, by their paths or ids */
};

/* What a call is to rules and to hooks: one act, or one for each part. */
enum tool_acts {
	TOOL_ACTS_CALL,     /* one: the call itself */
	TOOL_ACTS_PATCH,    /* one: the diff, as a replacement */
	TOOL_ACTS_CHANGES,  /* each of `changes` */
	TOOL_ACTS_FILES,    /* each of `paths` (and `include`) */
	TOOL_ACTS_PATTERNS, /* each of `patterns` */
	TOOL_ACTS_TYPED,    /* `input`, which a shell may read as a command line */
};

/* Where a path stands in the arguments: in a member, or in a member of each element of a list;
 * no member: the elements are the paths. */
struct tool_path {
	const char *list, *member;
};

/* What Gemini CLI calls a parameter. */
struct tool_member {
	const char *name, *gemini;
};

/* All static. */
struct tool_info {
	/* ---- names ---- */
	const char *name;           /* canonical */
	bool ours;                  /* no other agent has a tool of the canonical name */
	const char *gemini;         /* in files that Gemini CLI reads, too; NULL: `name` */
	const char *claude;         /* what hooks for Claude Code get; NULL: it has no such tool */
	const char *like;           /* the tool whose foreign names stand for this, too; NULL */
	const char *const *aliases; /* NULL-terminated */
	const struct tool_member *members; /* ends with a NULL name; NULL: there are none */
	/* ---- what it does ---- */
	enum tool_kind kind;
	enum tool_files files;
	const struct tool_path *paths; /* ends with neither; NULL: there are none */
	enum tool_edit edit;
	/* Of an editor of one file: its words for one of `changes`, "write create"; or NULL. */
	const char *change;
	enum tool_acts acts;
	bool runs;       /* the argument `command` is a command line, which it runs in `dir_path` */
	bool in_turn;    /* its calls of one reply run in their order, one at a time */
	bool pictures;   /* its results may have some, in `pictures` */
	bool waits;      /* for a command: the same call again and again is no loop */
	bool repeatable; /* making the same call twice does no more than once */
	bool rare;       /* not declared where search_tools can find it */
	bool user_only;  /* part of the conversation with the user: sub-agents do not have it */
	bool topic;      /* its argument `title` names what the session is about */
	bool plan;       /* what it asks about is a plan, in Markdown, which is then carried out */
	/* ---- what may be allowed, when the user is asked about a call ---- */
	bool each_time;  /* no call stands for another: each is asked about */
	bool narrow;     /* it is not saved without a condition */
	/* A call is about one thing, named by this argument ("name"), and that is allowed ("the
	 * skill"); NULL: every call is. */
	const char *one, *one_is;
	/* ---- how people see it ---- */
	const char *verb;           /* what people call it: "Read"; NULL: its title */
	bool verb_alone;            /* its arguments add nothing to the verb */
};

/* All rows, by enum tool_id. */
extern const struct tool_info tool_infos[];
size_t tool_info_count(void); /* how many there are */

static inline const char *tool_name(enum tool_id id)
{
	return tool_infos[id].name;
}

/* The row of a name in any spelling: canonical, alias, with "default_api." or "functions." before
 * it, in camelCase. NULL: hasp has no such tool. */
const struct tool_info *tool_info_find(const char *name);
/* The name that this one is in the table, without what may stand before it and in the table's case:
 * "apply_patch" for "functions.applyPatch". Static; NULL: as of tool_info_find. */
const char *tool_info_spelling(const char *name);
/* The row of a canonical name alone; NULL: it is not one. */
const struct tool_info *tool_info_of(const char *canonical);
/* The editor that makes such a change alone: safe_patch for "patch"; NULL: none does ("move"). */
const struct tool_info *tool_info_of_change(struct span kind);
/* ---- what the arguments of a call mean ----
 *
 * A member means what the row of its tool says. A tool of a server or of the user (`info` is NULL)
 * may have a `changes`, a `command` or a `file_path` of another type or meaning, so nothing else
 * reads these by their names: script/check-layers refuses that. All that is returned is borrowed.
 */

/* The edits of a call, in their order: how many there are (one of an editor of one file; 0 where
 * the tool is no editor), and the object that describes one ({"file_path", ...}; NULL: there are
 * not so many). A result, or a plan, of the same call has the same number of objects in the same
 * order, if it has succeeded: tool_edit_at takes it, too. */
size_t tool_edit_count(const struct tool_info *info, const json_t *arguments);
json_t *tool_edit_at(const struct tool_info *info, const json_t *object, size_t i);
/* What stands before a member of edit `i` in a message about arguments: "changes[2].", or "" of an
 * editor of one file; the caller frees. */
char *tool_edit_where(const struct tool_info *info, size_t i);
/* The arguments with `edits` (an array) in place of theirs, of a tool with TOOL_EDIT_MANY. A new
 * reference. */
json_t *tool_edits_replaced(const json_t *arguments, json_t *edits);

/* The command line that the call runs, the folder that it begins in, and what it asks for beyond
 * the sandbox ({"network", "fileSystem": {"read", "write"}}); NULL: none. */
json_t *tool_command_line(const struct tool_info *info, const json_t *arguments);
json_t *tool_command_folder(const struct tool_info *info, const json_t *arguments);
json_t *tool_command_permissions(const struct tool_info *info, const json_t *arguments);
/* What a call types to a command that runs (TOOL_ACTS_TYPED); NULL: nothing. */
json_t *tool_typed_input(const struct tool_info *info, const json_t *arguments);
/* What an editor's call, or one of its edits, makes the whole of its file; NULL: it does not. */
json_t *tool_edit_content(const struct tool_info *info, const json_t *edit);

/* Walks the paths that a call names, by tool_info.paths; empty and missing ones are left out.
 *
 *     struct tool_place place = { 0 };
 *
 *     while (tool_place_next(info, arguments, &place))
 *             json_string_value(place.path)
 */
struct tool_place {
	json_t *path;   /* a string that is not empty */
	json_t *holder; /* the object or the array that it stands in */
	const char *member; /* of the object; NULL: it is element `index` of the array */
	size_t index;   /* in the list; 0 if there is none */
	size_t row;     /* of tool_info.paths; the walk's own */
	bool seen;      /* the walk's own */
};
/* The next one; false: there are no more. */
bool tool_place_next(const struct tool_info *info, const json_t *arguments,
                     struct tool_place *place);
/* Puts another path there; takes over `path`, whose bytes need not be UTF-8. The walk goes on. */
void tool_place_set(struct tool_place *place, json_t *path);
/* The first of these paths; NULL: the call names none. */
json_t *tool_first_path(const struct tool_info *info, const json_t *arguments);

/* What the call is about, for a line that names it: its command, file, pattern, address ... Of
 * tools without a row, what the names of their arguments suggest: good for showing alone. NULL:
 * nothing says so. */
json_t *tool_subject(const struct tool_info *info, const json_t *arguments);

/* Arguments under Gemini CLI's names in place of hasp's. A new reference; NULL: there is no
 * difference, as where `info` is NULL. */
json_t *tool_info_gemini(const struct tool_info *info, const json_t *arguments);
/* A copy of the arguments that has Gemini CLI's names as well. A new reference. */
json_t *tool_info_both(const struct tool_info *info, const json_t *arguments);
/* The canonical name for any name; the name itself if it is not known. */
const char *tool_info_canonical(const char *name);
/* Whether the name, in any spelling, is that of a tool that runs command lines (info->runs). */
bool tool_info_runs(const char *name);

/* Whether `name`, which finds `info`, stands for tools that are like it, too. */
bool tool_info_means_other(const struct tool_info *info, const char *name);
/* Whether the name stands for every tool that writes files, for what restricts: Claude Code's
 * "Edit" and Codex' "apply_patch". */
bool tool_info_means_edits(const char *name);
/* Whether a word of a list of tools stands for the tool (canonical name, or a server's): any name
 * of it, "*" in it for any letters, or another agent's name for what it does. `restricts`: the list
 * takes tools away, so a name of any editor stands for apply_changes, too. */
bool tool_info_stand_for(const char *word, const char *tool, bool restricts);
/* The dialect (tool/dialect.h) of an editor's name, as tool_info_spelling has it: "hasp",
 * "gemini", "openai", "anthropic"; NULL: it is not one. */
const char *tool_info_dialect(const char *spelling);
/* Whether another agent has a tool of this name, and hasp none that does the same. */
bool tool_info_foreign(const char *name);
/* The known name nearest to this one; NULL: none is near, or the name is known. */
const char *tool_info_nearest(const char *name);

#endif
