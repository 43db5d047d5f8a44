/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of tool names: each tool that hasp has or may have, by every name in use for it.
 *
 *     const struct tool_info *names = tool_info_find("SmartEditTool");
 *     names->name                                   // "update_file"
 *     tool_info_means_other(names, "SmartEditTool") // true: safe_patch is meant, too
 *     tool_info_find("NotebookEdit")               // NULL, but tool_info_foreign() knows it
 *     tool_info_nearest("run_shell_comand")        // "run_shell_command"
 *
 * Calls, policy rules, hooks' matchers, settings, agent files and flags look names up here alone.
 *
 * To add a tool: a row in tool_info.c with its name and those of similar tools in other agents.
 * To add a spelling: one word in its row.  A name that another agent has and hasp has no tool for
 * belongs in the list of foreign names, so that a rule about it is no mistake.
 *
 * Two kinds of other names.  The same tool under another name (search_files is grep_search): a
 * rule for one is a rule for the other.  A tool that does what another agent has another tool for
 * (safe_patch does what Gemini CLI's replace does): the other agent's name stands for it as well,
 * hasp's own name (update_file) for nothing else.
 *
 * Not here: tools of MCP servers and those found by a discovery command, whose names are known
 * only when they are; what a tool does (tool/tool.h).
 */
#ifndef HASP_DATA_TOOL_INFO_H
#define HASP_DATA_TOOL_INFO_H

#include <stdbool.h>
#include <stddef.h>

/* All static. */
struct tool_info {
	const char *name;           /* canonical */
	bool ours;                  /* no other agent has a tool of the canonical name */
	bool edits;                 /* it writes the files that its arguments name */
	const char *gemini;         /* in files that Gemini CLI reads, too; NULL: `name` */
	const char *claude;         /* what hooks for Claude Code get; NULL: it has no such tool */
	const char *like;           /* the tool whose foreign names stand for this, too; NULL */
	const char *verb;           /* what people call it: "Read"; NULL: its title */
	bool verb_alone;            /* its arguments add nothing to the verb */
	const char *const *aliases; /* NULL-terminated */
};

/* The row of a name in any spelling: canonical, alias, with "default_api." or "functions." before
 * it, in camelCase. NULL: hasp has no such tool of its own. */
const struct tool_info *tool_info_find(const char *name);
/* The name that this one is in the table, without what may stand before it and in the table's case:
 * "apply_patch" for "functions.applyPatch". Static; NULL: as of tool_info_find. */
const char *tool_info_spelling(const char *name);
/* The row of a canonical name alone; NULL: it is none. */
const struct tool_info *tool_info_of(const char *canonical);
/* All rows. */
size_t tool_info_count(void);
const struct tool_info *tool_info_at(size_t i);
/* The canonical name for any name; the name itself if it is not known. */
const char *tool_info_canonical(const char *name);

/* Whether `name`, which finds `names`, stands for tools that are like it, too. */
bool tool_info_means_other(const struct tool_info *names, const char *name);
/* Whether the name stands for every tool that writes files, for what restricts: Claude Code's
 * "Edit" and Codex' "apply_patch". */
bool tool_info_means_edits(const char *name);
/* Whether a word of a list of tools stands for the tool (canonical name, or a server's): any name
 * of it, "*" in it for any letters, or another agent's name for what it does. `restricts`: the list
 * takes tools away, so a name of any editor stands for apply_changes, too. */
bool tool_info_stand_for(const char *word, const char *tool, bool restricts);
/* The dialect (tool/dialect.h) of an editor's name, as tool_info_spelling has it: "hasp",
 * "gemini", "openai", "anthropic"; NULL: it is none. */
const char *tool_info_dialect(const char *spelling);
/* Whether another agent has a tool of this name, and hasp none that does the same. */
bool tool_info_foreign(const char *name);
/* The known name nearest to this one; NULL: none is near, or the name is known. */
const char *tool_info_nearest(const char *name);

#endif
