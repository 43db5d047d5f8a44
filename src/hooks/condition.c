/* SPDX-License-Identifier: Apache-2.0 */
/* "if" of a hook that was written for Claude Code: a permission rule, which limits the hook to the
 * calls that match it:
 *
 *     Bash(git *)   Edit(*.ts)   Read(src)   WebFetch(domain:example.com)   mcp__tools__*
 *
 * Such a hook may be a guard, so what cannot be judged counts as a match: a command that cannot be
 * analysed, a word whose value is known only at run time, a rule of an unknown kind.
 *
 * Reference: Claude Code 2.1 (hooks reference, permission rule syntax). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "hooks/hook.h"
#include "search/rules/glob.h"
#include "shell/analysis.h"

enum { INPUT_DEPTH = 6 };

/* ---- commands ----------------------------------------------------------------------------- */

/* "git:*" and "git *" are git alone, too; "git*" is any text that begins so. */
static bool command_fits(struct span rule, struct span text)
{
	const bool old = span_ends(rule, SPAN(":*"));
	const struct span head = span_head(rule, rule.len - 2);

	if (old)
		return span_eq(text, head) ||
		       (span_starts(text, head) && text.data[head.len] == ' ');
	return span_fits(text, rule) || (span_ends(rule, SPAN(" *")) && span_fits(text, head));
}

/* Whether the rule could mean what begins so and goes on in a way that is not known. */
static bool command_could_fit(struct span rule, struct span start)
{
	const char *star = rule.len ? memchr(rule.data, '*', rule.len) : NULL;
	struct span fixed = star ? span_head(rule, (size_t)(star - rule.data)) : rule;

	if (span_ends(rule, SPAN(":*")))
		fixed = span_head(rule, rule.len - 2);
	return span_starts(fixed, start) || span_starts(start, fixed);
}

/* One command: its words with a blank between them, without variables that are set before it. */
static bool one_command_fits(struct span rule, const struct shell_command *command)
{
	_cleanup_buf_ struct buf known = BUF_INIT(1 << 20), written = BUF_INIT(1 << 20);
	bool dynamic = command->flags & SHELL_FLAG_APPENDED;
	size_t head = SIZE_MAX;

	for (size_t i = 0; i < command->word_count; i++) {
		const struct shell_word *word = &command->words[i];

		if (word->dynamic && head == SIZE_MAX)
			head = known.len + (i > 0) + word->value.len;
		dynamic = dynamic || word->dynamic;
		buf_printf(&known, "%s%.*s", i ? " " : "", (int)word->value.len, word->value.data);
		buf_printf(&written, "%s%.*s", i ? " " : "", (int)word->raw.len, word->raw.data);
	}
	return known.overflowed || written.overflowed || command_fits(rule, buf_view(&known)) ||
	       command_fits(rule, buf_view(&written)) ||
	       (dynamic && command_could_fit(rule, span_head(buf_view(&known), head)));
}

static bool bash_fits(struct span rule, const json_t *input)
{
	const struct span line = span_trim(json_span(json_object_get(input, "command")));
	_cleanup_shell_analysis_ struct shell_analysis analysis;
	bool fits = command_fits(rule, line);

	shell_analyse(line, &analysis);
	fits = fits || analysis.problem_count;
	for (size_t i = 0; i < analysis.command_count && !fits; i++)
		fits = one_command_fits(rule, &analysis.commands[i]);
	return fits;
}

/* ---- files -------------------------------------------------------------------------------- */

struct path_rule {
	const char *root; /* what the pattern is relative to; absolute, "" for "/" */
	struct glob *glob;
	bool any_folder;  /* it means names, wherever they are */
};

/* The file, or a folder that it is in. */
static bool plain_path_fits(const struct path_rule *rule, const char *path)
{
	const size_t root = strlen(rule->root);
	struct span rest;

	if (rule->any_folder)
		rest = span_str(path + (*path == '/'));
	else if (path_is_under(path, *rule->root ? rule->root : "/") && path[root])
		rest = span_str(path + root + 1);
	else
		return false;
	while (rest.len) {
		if (glob_match(rule->glob, rest))
			return true;
		while (rest.len && rest.data[rest.len - 1] != '/')
			rest.len--;
		rest.len -= rest.len > 0;
	}
	return false;
}

static bool path_fits(const struct hooks *hooks, const struct path_rule *rule, const char *path)
{
	_cleanup_free_ char *plain = NULL, *real = NULL;

	if (glob_has_magic(span_str(path)))
		return true;
	plain = path_join(hooks->project, path);
	real = realpath(plain, NULL);
	return plain_path_fits(rule, plain) || (real && plain_path_fits(rule, real));
}

static bool member_is_path(const char *member)
{
	static const char *const ends[] = { "path", "paths", "file", "files", "filename" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (span_ends(span_str(member), span_str(ends[i])))
			return true;
	return false;
}

/* Files that are named somewhere in a call's arguments; *any: there are such. */
static bool paths_fit(const struct hooks *hooks, const struct path_rule *rule, const char *member,
                      const json_t *value, unsigned depth, bool *any)
{
	const char *name;
	json_t *one;
	bool fits = false;
	size_t i;

	if (json_is_string(value) && member_is_path(member)) {
		*any = true;
		return path_fits(hooks, rule, json_string_value(value));
	}
	/* Too deep to be judged. */
	if (depth == INPUT_DEPTH)
		return json_is_object(value) || json_is_array(value);
	json_array_foreach((json_t *)value, i, one)
		fits = fits || paths_fit(hooks, rule, member, one, depth + 1, any);
	json_object_foreach((json_t *)value, name, one)
		fits = fits || paths_fit(hooks, rule, name, one, depth + 1, any);
	return fits;
}

/* "//x" is /x, "~/x" in the home, "/x" and "./x" in the project, and a name any file's. */
static bool files_fit(const struct hooks *hooks, const char *said, const json_t *input)
{
	const char *home = getenv("HOME");
	struct path_rule rule = { .root = hooks->project };
	struct err ignored = ERR_INIT;
	bool any = false, fits;

	if (!strncmp(said, "//", 2))
		rule.root = "";
	else if (!strncmp(said, "~/", 2))
		rule.root = home && *home == '/' ? home : "";
	else
		rule.any_folder = !strchr(said, '/');
	said += !strncmp(said, "//", 2) || !strncmp(said, "~/", 2) ? 2 : 0;
	if (!rule.root ||
	    !glob_compile(span_str(said), rule.any_folder ? GLOB_BASENAME : 0, &rule.glob,
	                  &ignored))
		return true;
	fits = paths_fit(hooks, &rule, "", input, 0, &any) || !any;
	glob_free(rule.glob);
	return fits;
}

/* ---- the rest ----------------------------------------------------------------------------- */

/* Whether a text in the call's arguments has the word in it. */
static bool input_mentions(const json_t *value, const char *word, unsigned depth)
{
	const char *name;
	json_t *one;
	bool found = json_is_string(value) && strcasestr(json_string_value(value), word);
	size_t i;

	if (depth == INPUT_DEPTH)
		return true;
	json_array_foreach((json_t *)value, i, one)
		found = found || input_mentions(one, word, depth + 1);
	json_object_foreach((json_t *)value, name, one)
		found = found || input_mentions(one, word, depth + 1);
	return found;
}

/* Whether a rule of that tool is about calls of this one. */
static bool tool_is_meant(struct span rule, const char *theirs)
{
	static const struct {
		const char *rule, *tools;
	} rows[] = {
		{ "Edit", " Write MultiEdit NotebookEdit " },
		{ "Write", " Edit MultiEdit NotebookEdit " },
		{ "MultiEdit", " Edit Write NotebookEdit " },
		{ "Read", " Glob Grep LS NotebookRead " },
		{ "Agent", " Task " },
	};
	_cleanup_free_ char *word = mem_printf(" %s ", theirs);

	/* A server's name is for all that it has. */
	if (span_fits(span_str(theirs), rule) ||
	    (span_starts(rule, SPAN("mcp__")) && span_starts(span_str(theirs), rule) &&
	     !strncmp(theirs + rule.len, "__", 2)))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (span_eq(rule, span_str(rows[i].rule)) && strstr(rows[i].tools, word))
			return true;
	return false;
}

static bool rule_fits_call(const struct hooks *hooks, const char *said, const char *theirs,
                           const json_t *input)
{
	const struct span rule = span_trim(span_str(said));
	const char *open = rule.len ? memchr(rule.data, '(', rule.len) : NULL;
	const size_t len = open ? (size_t)(open - rule.data) : rule.len;
	const struct span tool = span_trim(span_head(rule, len));
	_cleanup_free_ char *what = NULL;

	if (open && rule.data[rule.len - 1] != ')')
		return true;
	if (!tool_is_meant(tool, theirs))
		return false;
	if (open)
		what = mem_dup(open + 1, rule.len - len - 2);
	if (!what || !*what || !strcmp(what, "*"))
		return true;
	if (span_eq(tool, SPAN("Bash")))
		return bash_fits(span_str(what), input);
	if (span_eq(tool, SPAN("Edit")) || span_eq(tool, SPAN("Read")) ||
	    span_eq(tool, SPAN("Write")) || span_eq(tool, SPAN("MultiEdit")))
		return files_fit(hooks, what, input);
	if (span_eq(tool, SPAN("WebFetch")) && !strncmp(what, "domain:", 7))
		return input_mentions(input, what + 7 + strspn(what + 7, "*."), 0);
	return true;
}

bool condition_fits(const struct hooks *hooks, const struct hook *hook, enum hook_event event,
                    const json_t *input)
{
	json_auto_t *theirs = NULL;

	if (!hook->condition)
		return true;
	if (event != HOOK_BEFORE_TOOL && event != HOOK_AFTER_TOOL)
		return false;
	theirs = claude_tool(input);
	return rule_fits_call(hooks, hook->condition,
	                      json_is_string(theirs) ? json_string_value(theirs) : "",
	                      json_object_get(input, "tool_input"));
}
