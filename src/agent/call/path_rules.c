/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on paths asked again for each file that a call opens. */
#include "agent/call/path_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "data/json.h"

/* ---- rules on paths ---------------------------------------------------------- */

enum {
	WALK_MAX = 1 << 20,     /* files that are judged before a search */
	EXCLUDES_MAX = 4096,    /* of them, denied ones that a search can be kept from */
	LISTED_MAX = 100000,    /* walk.h's default */
};

static struct path_rules *rules_of(struct provider *provider)
{
	return (struct path_rules *)provider;
}

/* ---- paths in arguments ------------------------------------------------------------ */

/* Returns the replacement of a path: a new reference, or NULL: none. */
typedef json_t *(*visit)(struct path_rules *rules, const char *path, bool absolute);

static void visit_paths(struct path_rules *rules, json_t *arguments, visit change, bool absolute)
{
	struct tool_place place = { 0 };

	while (tool_place_next(rules->tool->info, arguments, &place)) {
		_cleanup_free_ char *path = name_from_shown(json_string_value(place.path));
		json_t *other = change(rules, path, absolute);

		if (other)
			tool_place_set(&place, other);
	}
}

/* Beneath a root, from there; "." is the root. */
static const char *path_within_root(const struct path_rules *rules, const char *path)
{
	struct provider *base = rules->front.base;
	const char *root;

	for (size_t i = 0; (root = base->ops->root(base, i)); i++) {
		size_t len = strlen(root);

		len -= len && root[len - 1] == '/';
		if (strncmp(path, root, len) != 0)
			continue;
		if (path[len] == '\0' || strcmp(path + len, "/") == 0)
			return ".";
		if (path[len] == '/')
			return path + len + 1;
	}
	return path;
}

/* Where the path leads now; NULL: nowhere. The caller frees. */
static char *resolve_path(struct path_rules *rules, const char *path)
{
	const struct read_request request = { .path = path, .resolve = true };
	struct provider *base = rules->front.base;
	struct read_result result = { 0 };
	struct err ignored = ERR_INIT;
	char *found = NULL;

	if (provider_read(base, &request, &result, &ignored))
		found = mem_strdup(result.state.path);
	read_result_release(&result);
	return found;
}

static const char *known_place(const struct path_rules *rules, const char *path)
{
	return json_string_value(json_object_get(rules->judged, path));
}

static json_t *note_target(struct path_rules *rules, const char *path, bool absolute)
{
	_cleanup_free_ char *target = known_place(rules, path) ? NULL : resolve_path(rules, path);

	(void)absolute;
	if (target)
		json_object_set_new_nocheck(rules->judged, path, json_path_bytes(target));
	return NULL;
}

static json_t *respell_path(struct path_rules *rules, const char *path, bool absolute)
{
	const char *target = known_place(rules, path);

	return target ? json_name(absolute ? target : path_within_root(rules, target)) : NULL;
}

/* ---- decisions ----------------------------------------------------------------------- */

/* On arguments in both spellings, [0] beneath the root, [1] absolute. */
static void decide_both(const struct path_rules *rules, const struct policy_call *subject,
                        const struct tool *tool, json_t *const arguments[2],
                        struct policy_verdict *ret)
{
	struct policy_call calls[2] = { *subject, *subject };
	json_t *theirs[2] = { NULL, NULL };

	for (size_t i = 0; i < 2; i++) {
		calls[i].arguments = arguments[i];
		theirs[i] = tool_info_gemini(tool->info, arguments[i]);
		calls[i].other_arguments = theirs[i];
	}
	policy_decide_spelled(rules->policy, calls, 2, ret);
	json_decref(theirs[0]);
	json_decref(theirs[1]);
}

static bool files_deny(const struct path_rules *rules, const struct policy_files *files,
                       const char *path, char **ret_why)
{
	const char *const spellings[] = { path_within_root(rules, path), path };

	return policy_files_judge(files, spellings, 2, ret_why) != POLICY_ALLOW;
}

/* Whether reading it is denied, or asked about, by a rule on paths. */
static bool reading_denied(const struct path_rules *rules, const char *path, char **ret_why)
{
	return files_deny(rules, rules->reading, path, ret_why);
}

/* Likewise, of reaching it with the tool itself. */
static bool tool_denied(const struct path_rules *rules, const char *path, char **ret_why)
{
	return files_deny(rules, rules->own, path, ret_why);
}

static bool rules_are_active(const struct path_rules *rules)
{
	return rules->reading || rules->by_tool;
}

/* Says first which path leads where, if one does. */
static void name_target(const struct path_rules *rules, struct policy_verdict *verdict)
{
	const char *path;
	const json_t *target;

	json_object_foreach(rules->judged, path, target) {
		const char *place = path_within_root(rules, json_string_value(target));
		char *message;

		if (strcmp(path, place) == 0 || strcmp(path, json_string_value(target)) == 0)
			continue;
		message = mem_printf("%s is %s: %s", path, place, verdict->message);
		free(verdict->message);
		verdict->message = message;
		return;
	}
}

static void begin_call(struct path_rules *rules, const struct tool *tool,
                       const struct policy_call *subject)
{
	rules->tool = tool;
	rules->by_tool = rules->policy && !tool->server &&
	                 policy_judges_files(rules->policy, subject);
	policy_files_free(rules->own);
	rules->own = rules->by_tool ? policy_files_new(rules->policy, subject) : NULL;
	rules->asked = false;
	json_object_clear(rules->judged);
}

void path_rules_mention(struct path_rules *rules, const struct tool *tool)
{
	struct policy_call subject = rules->who;

	subject.tool = tool->name;
	subject.kind = tool_kind_name(tool_kind_of(tool));
	begin_call(rules, tool, &subject);
}

void path_rules_decide(struct path_rules *rules, const struct tool *tool,
                       const struct policy_call *subject, struct policy_verdict *verdict)
{
	struct policy_verdict own;
	json_t *arguments[2];

	begin_call(rules, tool, subject);
	rules->asked = verdict->decision == POLICY_ASK;
	if (!rules_are_active(rules) || verdict->decision == POLICY_DENY)
		return;
	arguments[0] = json_deep_copy(subject->arguments);
	visit_paths(rules, arguments[0], note_target, false);
	if (!rules->by_tool || !json_object_size(rules->judged)) {
		json_decref(arguments[0]);
		return;
	}
	arguments[1] = json_deep_copy(subject->arguments);
	visit_paths(rules, arguments[0], respell_path, false);
	visit_paths(rules, arguments[1], respell_path, true);
	decide_both(rules, subject, tool, arguments, &own);
	json_decref(arguments[0]);
	json_decref(arguments[1]);
	if (own.decision > verdict->decision) {
		policy_verdict_release(verdict);
		*verdict = own;
		rules->asked = own.decision == POLICY_ASK;
		name_target(rules, verdict);
	} else {
		policy_verdict_join(verdict, &own);
		policy_verdict_release(&own);
	}
}

/* ---- reading --------------------------------------------------------------------------- */

/* Also when the path has led to nothing. */
static bool leads_elsewhere(const struct path_rules *rules, const char *named, const char *opened,
                            char **ret_why)
{
	const char *target = known_place(rules, named);

	if (!target || strcmp(target, opened) == 0)
		return false;
	*ret_why =
		mem_strdup("A link on its path changed after the rules were checked. Call again.");
	return true;
}

/* Whether rules deny reading a file, or reaching it with the tool, under either path. If the user
 * was asked about the call, the paths that it names were shown. */
static bool opening_denied(const struct path_rules *rules, const char *named, const char *opened,
                           bool by_tool, char **ret_why)
{
	const struct policy_files *const sets[] = { rules->reading, by_tool ? rules->own : NULL };
	const char *const spellings[] = { named, path_within_root(rules, named), opened,
		                          path_within_root(rules, opened) };
	const bool approved = rules->asked && known_place(rules, named);

	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		_cleanup_free_ char *why = NULL;
		enum policy_decision decision = policy_files_judge(sets[i], spellings, 4, &why);

		if (decision == POLICY_DENY || (decision == POLICY_ASK && !approved)) {
			*ret_why = mem_steal(&why);
			return true;
		}
	}
	return false;
}

/* What the call's tool does with paths. */
static enum tool_files files_used(const struct path_rules *rules)
{
	return rules->tool && rules->tool->info ? rules->tool->info->files : TOOL_FILES_NONE;
}

/* A file that the call names, or that it found by itself. */
static bool may_open(const struct path_rules *rules, const char *named, const char *opened,
                     char **ret_why)
{
	const enum tool_files use = files_used(rules);

	if (leads_elsewhere(rules, named, opened, ret_why))
		return false;
	/* Decided on already. */
	if (use == TOOL_FILES_READ && known_place(rules, named))
		return true;
	return !opening_denied(rules, named, opened, use == TOOL_FILES_GATHER, ret_why);
}

static bool refuse_file(const struct path_rules *rules, const char *named, const char *opened,
                        const char *why, struct err *err)
{
	bool same = strcmp(named, opened) == 0 ||
	            strcmp(named, path_within_root(rules, opened)) == 0;

	*err = (struct err)ERR_INIT;
	return err_set(err, ERR_DENIED_BY_POLICY, "%s%s%s: %s", named, same ? "" : ", which is ",
	               same ? "" : path_within_root(rules, opened), why);
}

static bool judged_read(struct provider *provider, const struct read_request *request,
                        struct read_result *ret, struct err *err)
{
	struct path_rules *rules = rules_of(provider);
	struct provider *base = rules->front.base;
	_cleanup_free_ char *opened = NULL, *why = NULL;
	bool ok = provider_read(base, request, ret, err);

	if (!rules_are_active(rules) || request->resolve || !ret->state.path ||
	    may_open(rules, request->path, ret->state.path, &why))
		return ok;
	opened = mem_steal(&ret->state.path);
	read_result_release(ret);
	*ret = (struct read_result){ 0 };
	return refuse_file(rules, request->path, opened, why, err);
}

/* ---- editing --------------------------------------------------------------------------- */

/* The place that a change has to reach. "": it leads nowhere, and must not do so later either.
 * NULL with *err: the rules deny it; only for a path that was not decided on with the call, such as
 * one that the person who was asked wrote. */
static const char *judged_place(struct path_rules *rules, const char *path, struct err *err)
{
	_cleanup_free_ char *why = NULL;
	const char *target;

	if (known_place(rules, path))
		return known_place(rules, path);
	note_target(rules, path, false);
	target = known_place(rules, path);
	if (target && tool_denied(rules, target, &why)) {
		refuse_file(rules, path, target, why, err);
		return NULL;
	}
	return target ? target : "";
}

static bool place_changes(struct path_rules *rules, struct change *changes, size_t count,
                          struct edit_options *options, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct change *change = &changes[i];
		_cleanup_free_ char *why = NULL;

		if (!change->path)
			continue;
		change->resolved = judged_place(rules, change->path, err);
		if (!change->resolved)
			return false;
		if (change->new_path &&
		    !(change->new_resolved = judged_place(rules, change->new_path, err)))
			return false;
		/* A caller who may not read the file must not see its content, not even when the
		 * edit fails. */
		if (reading_denied(rules, change->resolved, &why))
			options->want_content = false;
	}
	return true;
}

static bool judged_edit(struct provider *provider, const struct change *changes, size_t count,
                        const struct edit_options *options, struct change_result *results,
                        struct err *err)
{
	struct path_rules *rules = rules_of(provider);
	struct provider *base = rules->front.base;
	struct edit_options own = *options;
	_cleanup_free_ struct change *placed = NULL;

	if (!rules_are_active(rules))
		return provider_edit(base, changes, count, options, results, err);
	placed = mem_alloc(count + 1, sizeof(*placed));
	if (count)
		memcpy(placed, changes, count * sizeof(*placed));
	if (place_changes(rules, placed, count, &own, err))
		return provider_edit(base, placed, count, &own, results, err);
	for (size_t i = 0; i < count; i++)
		results[i] = (struct change_result){ .err = *err };
	return false;
}

/* ---- many files -------------------------------------------------------------------------- */

/* Whether files are opened for what a walk finds, or only their names are shown. */
static bool opens_files(const struct path_rules *rules)
{
	const enum tool_files use = files_used(rules);

	return rules->tool && use != TOOL_FILES_FIND && use != TOOL_FILES_LIST;
}

static bool entry_denied(const struct path_rules *rules, const char *folder, const char *path,
                         char **ret_why)
{
	_cleanup_free_ char *whole =
		mem_printf("%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path);

	return (opens_files(rules) && reading_denied(rules, whole, ret_why)) ||
	       tool_denied(rules, whole, ret_why);
}

static void keep_reason(char **reason, char *why)
{
	if (*reason)
		free(why);
	else
		*reason = why;
}

static void leave_out_denied(const struct path_rules *rules, struct walk_result *walk)
{
	size_t kept = 0;

	for (size_t i = 0; i < walk->count; i++) {
		char *why = NULL;

		if (!entry_denied(rules, walk->folder, walk->entries[i].path, &why)) {
			walk->entries[kept++] = walk->entries[i];
			continue;
		}
		free(walk->entries[i].path);
		walk->denied++;
		keep_reason(&walk->denied_why, why);
	}
	walk->count = kept;
}

static void cut_entries(struct walk_result *walk, size_t max)
{
	while (walk->count > max) {
		free(walk->entries[--walk->count].path);
		walk->more = true;
	}
}

static bool judged_walk(struct provider *provider, const struct walk_request *request,
                        struct walk_result *ret, struct err *err)
{
	struct path_rules *rules = rules_of(provider);
	struct provider *base = rules->front.base;
	const size_t max = request->max_entries ? request->max_entries : LISTED_MAX;
	struct walk_request own = *request;
	_cleanup_free_ char *why = NULL;

	/* What is left out must not use up what was asked for. */
	if (rules_are_active(rules) && own.max_entries && own.max_entries < LISTED_MAX)
		own.max_entries = LISTED_MAX;
	if (!base->ops->walk(base, &own, ret, err))
		return false;
	ret->denied = 0;
	ret->denied_why = NULL;
	if (!rules_are_active(rules))
		return true;
	if (leads_elsewhere(rules, request->path, ret->folder, &why)) {
		walk_result_release(ret);
		return refuse_file(rules, request->path, known_place(rules, request->path), why,
		                   err);
	}
	leave_out_denied(rules, ret);
	cut_entries(ret, max);
	return true;
}

/* ---- searching --------------------------------------------------------------------------- */

struct excludes {
	const char **all;  /* owned array: the caller's, then the own ones */
	char **own;        /* owned */
	size_t count, own_count;
	char *why;         /* owned */
};

static void excludes_release(struct excludes *excludes)
{
	for (size_t i = 0; i < excludes->own_count; i++)
		free(excludes->own[i]);
	free(excludes->own);
	free(excludes->all);
	free(excludes->why);
}

/* A glob for this one path beneath the folder. */
static char *glob_of(const char *path)
{
	_cleanup_buf_ struct buf glob = BUF_INIT(2 * LIMIT_PATH_BYTES + 2);

	buf_char(&glob, '/');
	for (; *path; path++) {
		if (strchr("\\*?[]{},!", *path))
			buf_char(&glob, '\\');
		buf_char(&glob, *path);
	}
	return buf_steal(&glob);
}

static bool exclude_denied(const struct path_rules *rules, const struct walk_result *walk,
                           const struct cancel *cancel, struct excludes *excludes,
                           struct err *err)
{
	size_t cap = 0;

	for (size_t i = 0; i < walk->count; i++) {
		char *why = NULL;

		if (cancelled(cancel))
			return err_set(err, ERR_CANCELLED, "The search was cancelled.");
		if (!entry_denied(rules, walk->folder, walk->entries[i].path, &why))
			continue;
		keep_reason(&excludes->why, why);
		if (excludes->own_count == EXCLUDES_MAX)
			return err_set(err, ERR_DENIED_BY_POLICY,
			               "More than %d files beneath %s are denied by policy (%s); "
			               "search a narrower path.",
			               EXCLUDES_MAX, walk->folder, excludes->why);
		excludes->own = mem_grow(excludes->own, &cap, excludes->own_count + 1,
		                         sizeof(*excludes->own));
		excludes->own[excludes->own_count++] = glob_of(walk->entries[i].path);
	}
	return true;
}

/* Finds the files that a search would open but must not. A path that cannot be walked has none:
 * either it is a single file, or the search reports the error. */
static bool find_denied(struct path_rules *rules, const struct search_request *request,
                        struct excludes *excludes, struct err *err)
{
	const struct walk_request walk_request = {
		.path = request->path,
		.include = request->include, .include_count = request->include_count,
		.exclude = request->exclude, .exclude_count = request->exclude_count,
		.recursive = true, .rules = request->rules, .max_entries = WALK_MAX,
	};
	struct provider *base = rules->front.base;
	struct walk_result walk = { 0 };
	struct err ignored = ERR_INIT;
	bool ok;

	if (!base->ops->walk(base, &walk_request, &walk, &ignored))
		return true;
	ok = exclude_denied(rules, &walk, request->cancel, excludes, err);
	walk_result_release(&walk);
	if (!ok || !excludes->own_count)
		return ok;
	excludes->count = request->exclude_count + excludes->own_count;
	excludes->all = mem_alloc(excludes->count, sizeof(*excludes->all));
	for (size_t i = 0; i < request->exclude_count; i++)
		excludes->all[i] = request->exclude[i];
	for (size_t i = 0; i < excludes->own_count; i++)
		excludes->all[request->exclude_count + i] = excludes->own[i];
	return true;
}

/* One that came or was renamed since the walk. */
static void drop_denied(const struct path_rules *rules, struct search_result *found)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		struct file_match *file = &found->files[i];
		_cleanup_free_ char *why = NULL;

		if (!entry_denied(rules, found->folder, file->path, &why)) {
			found->files[kept++] = *file;
			continue;
		}
		for (size_t line = 0; line < file->line_count; line++)
			found->matches -= file->lines[line].match;
		free(file->path);
		free(file->lines);
		free(file->text);
		found->denied++;
	}
	found->count = kept;
}

static bool judge_found(struct path_rules *rules, const struct search_request *request,
                        struct search_result *ret, struct err *err)
{
	_cleanup_free_ char *why = NULL, *folder = NULL;

	if (!leads_elsewhere(rules, request->path, ret->folder, &why) &&
	    !(ret->one_file &&
	      opening_denied(rules, request->path, ret->folder, /* by_tool= */ true, &why))) {
		if (!ret->one_file)
			drop_denied(rules, ret);
		return true;
	}
	folder = mem_steal(&ret->folder);
	search_result_release(ret);
	return refuse_file(rules, request->path, folder, why, err);
}

static bool judged_search(struct provider *provider, const struct search_request *request,
                          struct search_result *ret, struct err *err)
{
	struct path_rules *rules = rules_of(provider);
	struct provider *base = rules->front.base;
	__attribute__((cleanup(excludes_release))) struct excludes excludes = { 0 };
	struct search_request own = *request;

	if (!rules_are_active(rules))
		return base->ops->search(base, request, ret, err);
	if (!find_denied(rules, request, &excludes, err))
		return false;
	if (excludes.all) {
		own.exclude = excludes.all;
		own.exclude_count = excludes.count;
	}
	if (!base->ops->search(base, &own, ret, err))
		return false;
	ret->denied = excludes.own_count;
	ret->denied_why = mem_steal(&excludes.why);
	return judge_found(rules, request, ret, err);
}

void path_rules_init(struct path_rules *rules, const struct policy *policy,
                     struct provider *base, const struct policy_call *who)
{
	static const struct interposed_files files = { judged_read, judged_edit };
	static const struct provider_ops own = { .walk = judged_walk, .search = judged_search };
	struct policy_call reading = *who;

	*rules = (struct path_rules){ .policy = policy, .who = *who };
	interpose_init(&rules->front, base, &files, &own);
	rules->judged = json_object();
	reading.tool = tool_name(TOOL_READ_FILE);
	reading.kind = "read";
	rules->reading = policy ? policy_files_new(policy, &reading) : NULL;
}

void path_rules_release(struct path_rules *rules)
{
	json_decref(rules->judged);
	policy_files_free(rules->reading);
	policy_files_free(rules->own);
	*rules = (struct path_rules){ 0 };
}
