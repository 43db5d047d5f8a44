/* SPDX-License-Identifier: Apache-2.0 */
/* What restricts in the files of Codex and of Cursor's CLI. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/setup/others.h"
#include "base/buf.h"
#include "base/door.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "data/jsonc.h"

enum { RULES_FILES_MAX = 200, CURSOR_ENTRIES_MAX = 2000, CURSOR_ENTRY_BYTES = 8192 };

struct adding_more {
	struct policy *policy; /* NULL: note what the user has not allowed, and no more */
	const struct settings *settings;
	json_t *problems;
	bool home;             /* the project is the home folder */
};

static void note_more(const struct others_file *file, others_part part)
{
	json_auto_t *permitting = file->name ? part(file) : NULL;

	if (permitting && settings_trusted(file->settings))
		settings_project_may(file->settings, file->name, permitting);
}

/* ---- Codex ----------------------------------------------------------------------------- */

#define CODEX_RULES ".codex/rules"

/* Any rule may be one that allows. */
static json_t *codex_rules_part(const struct others_file *file)
{
	const struct span text = file_text_span(&file->text);

	return text.len && memmem(text.data, text.len, "prefix_rule", 11) ? json_text(text) : NULL;
}

static void add_rules_file(const struct adding_more *adding, char *path, char *name,
                           enum policy_tier tier)
{
	struct permission_place place;
	struct others_file file;

	others_open(adding->settings, OTHERS_TEXT, path, name, tier, codex_rules_part, &file);
	if (!adding->policy) {
		note_more(&file, codex_rules_part);
	} else {
		place = others_place(&file, "", adding->problems);
		others_report(&file, adding->problems);
		policy_add_prefix_rules(adding->policy, &place, file_text_span(&file.text));
	}
	others_file_release(&file);
}

/* Takes the descriptor of the folder at `path`; `name`: of a project's, its path in it. */
static void add_rules_folder(const struct adding_more *adding, int folder, const char *path,
                             const char *name, enum policy_tier tier)
{
	char **names = NULL;
	const size_t count = door_names(folder, RULES_FILES_MAX, &names);

	for (size_t i = 0; i < count; i++) {
		if (span_ends(span_str(names[i]), SPAN(".rules")))
			add_rules_file(adding, path_join(path, names[i]),
			               name ? mem_printf("%s/%s", name, names[i]) : NULL, tier);
		free(names[i]);
	}
	free(names);
}

/* What the chosen profile says, else the file itself. */
static const char *codex_word(const json_t *config, const char *member)
{
	const char *profile = json_string_value(json_object_get(config, "profile"));
	const json_t *own = profile ? json_object_get(json_object_get(config, "profiles"),
	                                              profile) : NULL;
	const char *word = json_string_value(json_object_get(own, member));

	return word ? word : json_string_value(json_object_get(config, member));
}

/* The line of a member's first mention; 0: there is none. */
static unsigned mention_line(const struct others_file *file, const char *member)
{
	const struct span text = file_text_span(&file->text);
	const char *found = memmem(text.data, text.len, member, strlen(member));
	unsigned line = 1;

	for (const char *at = text.data; found && at < found; at++)
		line += *at == '\n';
	return found ? line : 0;
}

/* Codex' words for how much may happen, and what hasp makes of each. */
static const struct {
	const char *member, *word, *said;
} codex_words[] = {
	{ "sandbox_mode", "read-only", NULL }, /* a rule */
	{ "sandbox_mode", "workspace-write", NULL },
	{ "sandbox_mode", "danger-full-access", "hasp confines all commands; --write, --read and "
	  "--net allow more" },
	{ "approval_policy", "untrusted", NULL },
	{ "approval_policy", "on-request", NULL },
	{ "approval_policy", "on-failure", "hasp asks before a command runs" },
	{ "approval_policy", "never", "hasp asks; --approval-mode chooses a mode" },
};

static void report_codex_word(const struct others_file *file, const struct permission_place *place,
                              const char *member)
{
	const char *word = codex_word(file->value, member);
	bool known = !word;

	for (size_t i = 0; word && i < ARRAY_LEN(codex_words); i++) {
		if (strcmp(codex_words[i].member, member) || strcmp(codex_words[i].word, word))
			continue;
		known = true;
		if (codex_words[i].said && !file->name)
			policy_complain(place, mention_line(file, member), OTHERS_UNUSED,
			                   "%s = \"%s\" is not taken over: %s.", member, word,
			                   codex_words[i].said);
	}
	if (!known)
		policy_complain(place, mention_line(file, member), OTHERS_LOST,
		                   "%s = \"%.60s\" is not known: it restricts nothing here.",
		                   member, word);
}

static void add_codex_config(const struct adding_more *adding, char *path, char *name,
                             enum policy_tier tier)
{
	struct permission_place place;
	struct others_file file;
	const char *sandbox, *approval;

	others_open(adding->settings, OTHERS_TOML, path, name, tier, NULL, &file);
	place = others_place(&file, "", adding->problems);
	sandbox = codex_word(file.value, "sandbox_mode");
	approval = codex_word(file.value, "approval_policy");
	others_report(&file, adding->problems);
	report_codex_word(&file, &place, "sandbox_mode");
	report_codex_word(&file, &place, "approval_policy");
	if (sandbox && strcmp(sandbox, "read-only") == 0)
		policy_add_read_only(adding->policy, &place,
		                     approval && strcmp(approval, "never") == 0 ? POLICY_DENY :
		                                                                  POLICY_ASK,
		                     "sandbox_mode = \"read-only\"",
		                     mention_line(&file, "sandbox_mode"));
	others_file_release(&file);
}

static void add_codex(const struct adding_more *adding)
{
	const struct home *home = settings_home(adding->settings);
	const char *moved = getenv("CODEX_HOME"), *project = home_project(home);
	_cleanup_free_ char *folder = moved && *moved == '/' ? mem_strdup(moved) :
	                              path_join(home_user(home), ".codex");
	_cleanup_free_ char *rules = path_join(folder, "rules");
	_cleanup_free_ char *projects = path_join(project, CODEX_RULES);

	if (!adding->home)
		add_rules_folder(adding, door_folder(project, projects), projects, CODEX_RULES,
		                 POLICY_WORKSPACE);
	if (!adding->policy)
		return;
	add_rules_folder(adding, open(rules, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rules, NULL,
	                 POLICY_USER);
	add_codex_config(adding, path_join(folder, "config.toml"), NULL, POLICY_USER);
	if (!adding->home)
		add_codex_config(adding, path_join(project, ".codex/config.toml"),
		                 mem_strdup(".codex/config.toml"), POLICY_WORKSPACE);
}

/* ---- Cursor's CLI ------------------------------------------------------------------------ */

static json_t *cursor_part(const struct others_file *file)
{
	json_t *allow = json_object_get(json_object_get(file->value, "permissions"), "allow");

	return json_array_size(allow) ? json_pack("{s:O}", "allow", allow) : NULL;
}

/* Shell(PROGRAM), Shell(PROGRAM:ARGUMENTS). */
static void put_cursor_shell(struct buf *out, struct span text)
{
	const char *colon = memchr(text.data, ':', text.len);
	const size_t program = colon ? (size_t)(colon - text.data) : text.len;
	const struct span rest = span_skip(text, program + 1);

	if (!text.len || span_eq(text, SPAN("*")) || span_eq(text, SPAN("**")))
		buf_str(out, "Bash");
	else if (!colon && span_ends(text, SPAN("*")))
		buf_printf(out, "Bash(%.*s)", (int)program, text.data);
	else if (!colon || span_eq(rest, SPAN("*")) || span_eq(rest, SPAN("**")))
		buf_printf(out, "Bash(%.*s *)", (int)program, text.data);
	else
		buf_printf(out, "Bash(%.*s %.*s)", (int)program, text.data, (int)rest.len,
		           rest.data);
}

/* Mcp(SERVER:TOOL), Mcp(SERVER, TOOL). */
static void put_cursor_server(struct buf *out, struct span text)
{
	const size_t server = strcspn(text.data, ":,)");
	const struct span tool = span_trim(span_skip(text, server + 1));

	buf_printf(out, "mcp__%.*s", (int)server, text.data);
	if (tool.len && !span_eq(tool, SPAN("*")))
		buf_printf(out, "__%.*s", (int)tool.len, tool.data);
}

/* The entry as Claude Code would have it; as it is, if it is none that Cursor documents. */
static void put_cursor_entry(struct buf *out, struct span entry)
{
	static const struct {
		const char *theirs, *ours;
	} rows[] = { { "Read(", "Read(" }, { "Write(", "Edit(" },
		     { "WebFetch(", "WebFetch(domain:" } };
	const struct span text = span_head(span_skip(entry, strcspn(entry.data, "(") + 1),
	                                   entry.len);
	const struct span inside = span_head(text, text.len ? text.len - 1 : 0);

	if (!span_ends(entry, SPAN(")"))) {
		buf_span(out, entry);
		return;
	}
	if (span_starts(entry, SPAN("Shell(")))
		put_cursor_shell(out, inside);
	else if (span_starts(entry, SPAN("Mcp(")))
		put_cursor_server(out, inside);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (span_starts(entry, span_str(rows[i].theirs)))
			/* A path after one slash is absolute there. */
			buf_printf(out, "%s%s%.*s)", rows[i].ours,
			           i < 2 && span_starts(inside, SPAN("/")) ? "/" : "",
			           (int)inside.len, inside.data);
	if (!out->len)
		buf_span(out, entry);
}

static void add_cursor_list(const struct adding_more *adding, const struct others_file *file,
                            const char *member, enum policy_decision decision)
{
	const struct permission_place place = others_place(file, "", adding->problems);
	const json_t *list = others_list(file, &place, member, decision);
	_cleanup_free_ char *path = mem_printf("permissions.%s", member);
	const unsigned from = jsonc_line(file->lines, path);
	json_t *entry;
	size_t i;

	json_array_foreach((json_t *)list, i, entry) {
		_cleanup_buf_ struct buf theirs = BUF_INIT(CURSOR_ENTRY_BYTES);

		if (json_string_length(entry) && i < CURSOR_ENTRIES_MAX)
			put_cursor_entry(&theirs, json_span(entry));
		buf_char(&theirs, '\0');
		if (!json_string_length(entry) || i >= CURSOR_ENTRIES_MAX || theirs.overflowed)
			policy_complain(&place, from, OTHERS_LOST, "Entry %zu of permissions.%s "
			                   "is not used: it is no text, or too much.", i + 1,
			                   member);
		else
			policy_add_permission(adding->policy, &place, decision, theirs.data,
			                      json_string_value(entry),
			                      others_line_of(file, from,
			                                     json_string_value(entry)));
	}
}

static void add_cursor_file(const struct adding_more *adding, char *path, char *name,
                            enum policy_tier tier)
{
	struct others_file file;

	others_open(adding->settings, OTHERS_JSON, path, name, tier, cursor_part, &file);
	if (!adding->policy) {
		note_more(&file, cursor_part);
	} else {
		others_report(&file, adding->problems);
		add_cursor_list(adding, &file, "deny", POLICY_DENY);
		if (file.permits)
			add_cursor_list(adding, &file, "allow", POLICY_ALLOW);
	}
	others_file_release(&file);
}

static void add_cursor(const struct adding_more *adding)
{
	const struct home *home = settings_home(adding->settings);

	if (!adding->home)
		add_cursor_file(adding, path_join(home_project(home), ".cursor/cli.json"),
		                mem_strdup(".cursor/cli.json"), POLICY_WORKSPACE);
	if (adding->policy)
		add_cursor_file(adding, path_join(home_user(home), ".cursor/cli-config.json"),
		                NULL, POLICY_USER);
}

/* ---- both -------------------------------------------------------------------------------- */

static void others_add_both(struct policy *policy, const struct settings *settings,
                            json_t *problems)
{
	const struct home *home = settings_home(settings);
	const struct adding_more adding = {
		.policy = policy, .settings = settings, .problems = problems,
		.home = strcmp(home_user(home), home_project(home)) == 0,
	};

	if (settings_bool(settings, "hasp.rules.codex", true))
		add_codex(&adding);
	if (settings_bool(settings, "hasp.rules.cursor", true))
		add_cursor(&adding);
}

void others_add_more_rules(struct policy *policy, const struct settings *settings,
                           json_t *problems)
{
	others_add_both(policy, settings, problems);
}

void others_note_more_withheld(const struct settings *settings)
{
	others_add_both(NULL, settings, NULL);
}
