/* SPDX-License-Identifier: Apache-2.0 */
/* A repository is writable only where commands see its work trees as they are.
 *
 * What git does not find it takes for deleted: with a view in which files are missing, a commit
 * would delete them, `git stash` would store a tree without them, `git worktree prune` would forget
 * a worktree.  So whatever describes files (.git, .hg, .jj ...) and may be written to is compared
 * with what is shown of these files:
 *
 *   not shown, because the session's /tmp or the command's /dev lies over it, or it is beneath
 *   /run/user        shown, read-only; so is where a repository borrows objects from
 *   a folder in it is hidden, but for something deeper down that the tables show
 *                    that is hidden as well: then git may not look into the folder and fails,
 *                    instead of finding files missing
 *   else             what describes the files is read-only, for the reason VIEW
 *
 * A folder that is hidden as a whole is a folder of mode 000 to git, and a hidden file one that
 * cannot be read: neither is taken for deleted, and what would record them fails.
 *
 * Not here: repositories deeper than plan_git looks whose work trees are elsewhere.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/plan/private.h"

/* What describes the files of the folder that it is in. */
static const char *const descriptions[] = {
	".git", ".hg", ".sl", ".jj", ".svn", ".bzr", "_darcs", ".pijul", "CVS", ".fslckout",
	"_FOSSIL_",
};

static const char why_shown[] = "the files of a repository that commands may write to";
static const char why_borrowed[] = "a repository that commands may write to takes objects from it";
static const char why_read[] = "git's pointer to a repository";
static const char why_closed[] = "a repository whose files are not all seen";

const char *plan_cover(const struct plan_draft *draft, const char *path)
{
	const struct sandbox_options *options = draft->options;

	if (draft->plan->level != SANDBOX_FULL || options->use != SANDBOX_USE_COMMAND)
		return NULL;
	if (location_within(path, "/dev"))
		return "/dev";
	return options->temp && location_within(path, "/tmp") ? "/tmp" : NULL;
}

bool plan_is_seen(const struct plan_draft *draft, const char *path)
{
	const struct draft_rule *rule = draft_decide(draft, path);
	const char *cover = plan_cover(draft, path);

	if (rule && rule->rule.access == SANDBOX_HIDDEN)
		return false;
	return !cover || (rule && rule->rule.reason != SANDBOX_REASON_DEVICE &&
	                  location_within(rule->rule.path, cover));
}

/* Whether it may be shown: what hides it hides no secrets. */
static bool may_be_shown(const struct plan_draft *draft, const char *path)
{
	const struct draft_rule *rule = draft_decide(draft, path);
	const char *cover = plan_cover(draft, path);

	if (cover && (strcmp(path, cover) == 0 || strcmp(path, "/dev/shm") == 0))
		return false;
	if (!rule || rule->rule.access != SANDBOX_HIDDEN)
		return true;
	/* Directly in /run/user are whole users' sockets. */
	return rule->rule.reason == SANDBOX_REASON_SOCKETS &&
	       location_above(path, strlen(path)) > strlen(rule->rule.path);
}

static void show_place(struct plan_draft *draft, const char *path, bool folder, const char *why)
{
	draft_rule(draft, mem_strdup(path), folder, SANDBOX_READ, SANDBOX_REASON_DEFAULT,
	           DRAFT_PIN, why);
	draft_settle(draft);
}

/* `folder`, or what it is a part of, and all in it become read-only, but for workspaces. */
static void close_description(struct plan_draft *draft, const char *folder)
{
	draft_rule(draft, mem_strdup(folder), true, SANDBOX_READ, SANDBOX_REASON_VIEW,
	           DRAFT_DENY, why_closed);
	draft_settle(draft);
	for (size_t i = 0; i < draft->rule_count; i++) {
		struct draft_rule *rule = &draft->rules[i];

		if (rule->rule.access != SANDBOX_WRITE || rule->strength == DRAFT_ROOT ||
		    !location_within(rule->rule.path, folder))
			continue;
		rule->rule.access = SANDBOX_READ;
		rule->rule.reason = SANDBOX_REASON_VIEW;
		rule->rule.why = why_closed;
	}
}

static bool is_writable(const struct plan_draft *draft, const char *path)
{
	const struct draft_rule *rule = draft_decide(draft, path);

	return rule && rule->rule.access == SANDBOX_WRITE;
}

/* ---- work trees ------------------------------------------------------------------------- */

void plan_describes(struct plan_draft *draft, const char *git, const char *tree, const char *own)
{
	if (!tree)
		return;
	for (size_t i = 0; i < draft->tree_count; i++)
		if (strcmp(draft->trees[i].git, git) == 0 &&
		    strcmp(draft->trees[i].tree, tree) == 0)
			return;
	draft->trees = mem_grow(draft->trees, &draft->tree_cap, draft->tree_count + 1,
	                        sizeof(*draft->trees));
	draft->trees[draft->tree_count++] = (struct draft_tree){
		mem_strdup(git), mem_strdup(tree), own ? mem_strdup(own) : NULL,
	};
}

/* Whether the folder of a linked worktree says that it is one: what `own`/gitdir names alone could
 * have been written by a command, to be shown that folder. */
static bool knows_repository(struct plan_draft *draft, const struct draft_tree *tree)
{
	_cleanup_free_ char *pointer = location_join(tree->tree, ".git");
	_cleanup_free_ char *line = plan_read(draft, SANDBOX_POINTER_LINE, pointer);
	_cleanup_location_ struct location place = { 0 };
	struct span target = span_str(line);

	if (!span_starts(target, SPAN("gitdir:")))
		return false;
	target = span_trim(span_skip(target, strlen("gitdir:")));
	location_resolve(tree->tree, target.data, NULL, NULL, &place);
	return place.path && strcmp(place.path, tree->own) == 0;
}

/* A cover in the middle of the tree leaves a hole in it. */
static bool has_cover_inside(const struct plan_draft *draft, const char *tree)
{
	static const char *const covers[] = { "/tmp", "/dev" };

	for (size_t i = 0; i < ARRAY_LEN(covers); i++)
		if (location_within(covers[i], tree) && plan_cover(draft, covers[i]) &&
		    !plan_is_seen(draft, covers[i]))
			return true;
	return false;
}

static void look_at_tree(struct plan_draft *draft, const struct draft_tree *tree)
{
	bool closed;

	if (!is_writable(draft, tree->git))
		return;
	closed = has_cover_inside(draft, tree->tree);
	if (!closed && plan_is_seen(draft, tree->tree))
		return;
	if (tree->own && !knows_repository(draft, tree))
		return;
	if (!closed && may_be_shown(draft, tree->tree))
		show_place(draft, tree->tree, true, why_shown);
	else /* of a linked worktree, its index and HEAD alone: the others are seen */
		close_description(draft, tree->own ? tree->own : tree->git);
}

/* Where a repository takes objects from that it does not have (gitrepository-layout(5)): the first
 * place that it names.  Without it git finds no objects, and says so. */
static void look_at_alternate(struct plan_draft *draft, const char *git)
{
	_cleanup_free_ char *objects = location_join(git, "objects");
	_cleanup_free_ char *file = location_join(objects, "info/alternates");
	_cleanup_free_ char *line = NULL, *head = NULL;
	_cleanup_location_ struct location place = { 0 };

	if (location_kind_of(file) != LOCATION_FILE)
		return;
	line = plan_read(draft, SANDBOX_POINTER_LINE, file);
	if (!line)
		return;
	location_resolve(objects, line, NULL, NULL, &place);
	if (place.kind != LOCATION_FOLDER || plan_is_seen(draft, place.path) ||
	    !may_be_shown(draft, place.path))
		return;
	/* A command can write such a line: what it would be shown is a repository's objects. */
	head = mem_printf("%s/../HEAD", place.path);
	if (strcmp(strrchr(place.path, '/'), "/objects") == 0 &&
	    location_kind_of(head) == LOCATION_FILE)
		show_place(draft, place.path, true, why_borrowed);
}

/* What the plan was made from is compared with what is there by a process that has this view
 * (read.c). */
static void show_pointers(struct plan_draft *draft)
{
	for (size_t i = 0; i < draft->reader.count; i++) {
		const char *path = draft->reader.pointers[i].path;

		if (!plan_is_seen(draft, path) && location_kind_of(path) == LOCATION_FILE &&
		    may_be_shown(draft, path))
			show_place(draft, path, false, why_read);
	}
}

/* What variables say of the repository that git uses everywhere. */
static void note_git_variables(struct plan_draft *draft)
{
	const char *git = getenv("GIT_DIR"), *tree = getenv("GIT_WORK_TREE");
	_cleanup_location_ struct location place = { 0 }, top = { 0 };
	size_t count = draft->tree_count;

	if (!tree || !location_canonical(tree, &top))
		return;
	if (git && location_canonical(git, &place))
		plan_describes(draft, place.path, top.path, NULL);
	for (size_t i = 0; i < count; i++)
		plan_describes(draft, draft->trees[i].git, top.path, NULL);
}

/* Each component of `path` that is `description` but for the first: what lies next to it is the
 * tree. */
static void note_components(struct plan_draft *draft, const char *path, const char *description)
{
	_cleanup_free_ char *name = mem_printf("/%s", description);

	for (const char *at = strstr(path, name); at; at = strstr(at + 1, name)) {
		const char *end = at + strlen(name);
		_cleanup_free_ char *git = NULL, *tree = NULL;

		if (at == path || (*end && *end != '/'))
			continue;
		git = mem_dup(path, (size_t)(end - path));
		tree = mem_dup(path, (size_t)(at - path));
		plan_describes(draft, path, tree, NULL);
		plan_describes(draft, git, tree, NULL);
	}
}

/* --write of a repository, or of a part of one. */
static void note_named(struct plan_draft *draft)
{
	for (size_t i = 0; i < draft->writable_count; i++)
		for (size_t k = 0; k < ARRAY_LEN(descriptions); k++)
			note_components(draft, draft->writable[i], descriptions[k]);
}

/* ---- folders that are hidden in part ------------------------------------------------------- */

/* The rule of a hidden folder around what is shown at `rule`; NULL: there is none. */
static const struct draft_rule *hiding_folder(const struct plan_draft *draft,
                                             const struct draft_rule *rule)
{
	_cleanup_free_ char *above = path_folder(rule->rule.path);
	const struct draft_rule *found = draft_decide(draft, above);

	return found && found->rule.access == SANDBOX_HIDDEN ? found : NULL;
}

/* Calls `each` (or nothing, if NULL) for each writable description of files in `path`; false if
 * there is none. */
static bool each_description(struct plan_draft *draft, const char *path,
                             void (*each)(struct plan_draft *draft, const char *description))
{
	bool any = false;

	for (size_t i = 0; i < draft->tree_count; i++) {
		if (!location_within(path, draft->trees[i].tree) ||
		    !is_writable(draft, draft->trees[i].git))
			continue;
		any = true;
		if (each)
			each(draft, draft->trees[i].git);
	}
	for (size_t len = strlen(path); (len = location_above(path, len)) > 1;) {
		for (size_t k = 0; k < ARRAY_LEN(descriptions); k++) {
			_cleanup_free_ char *name = mem_printf("%.*s/%s", (int)len, path,
			                                       descriptions[k]);

			if (!is_writable(draft, name) || location_kind_of(name) == LOCATION_MISSING)
				continue;
			any = true;
			if (each)
				each(draft, name);
		}
	}
	return any;
}

/* What the tables show in a hidden folder. */
static void forget_shown(struct plan_draft *draft, const char *hidden)
{
	size_t kept = 0;

	for (size_t i = 0; i < draft->rule_count; i++) {
		struct draft_rule *rule = &draft->rules[i];

		if (rule->rule.access == SANDBOX_READ && rule->strength <= DRAFT_TABLE &&
		    location_within(rule->rule.path, hidden))
			free(rule->rule.path);
		else
			draft->rules[kept++] = *rule;
	}
	draft->rule_count = kept;
}

struct partly_hidden {
	char *path;        /* owned */
	bool by_tables;    /* only the tables show something in it */
};

/* Where something is seen in a hidden folder, the folder is a file system of our own: what is not
 * to be seen is missing there. */
static void look_at_hidden(struct plan_draft *draft)
{
	_cleanup_free_ struct partly_hidden *list =
		mem_alloc(draft->rule_count + 1, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < draft->rule_count; i++) {
		const struct draft_rule *rule = &draft->rules[i], *above;
		bool by_tables = rule->rule.access == SANDBOX_READ && rule->strength <= DRAFT_TABLE;

		above = rule->rule.access == SANDBOX_HIDDEN ? NULL : hiding_folder(draft, rule);
		if (!above || above->rule.reason == SANDBOX_REASON_DEVICE)
			continue;
		if (count && strcmp(list[count - 1].path, above->rule.path) == 0)
			list[count - 1].by_tables &= by_tables;
		else if (each_description(draft, above->rule.path, NULL))
			list[count++] = (struct partly_hidden){ mem_strdup(above->rule.path),
			                                        by_tables };
	}
	for (size_t i = 0; i < count; i++) {
		if (list[i].by_tables)
			forget_shown(draft, list[i].path);
		else
			each_description(draft, list[i].path, close_description);
		free(list[i].path);
	}
}

void plan_views(struct plan_draft *draft)
{
	note_named(draft);
	note_git_variables(draft);
	for (size_t i = 0; i < draft->tree_count; i++)
		look_at_tree(draft, &draft->trees[i]);
	for (size_t i = 0; i < draft->tree_count; i++)
		if (is_writable(draft, draft->trees[i].git))
			look_at_alternate(draft, draft->trees[i].git);
	show_pointers(draft);
	if (draft->plan->level == SANDBOX_FULL && draft->options->use == SANDBOX_USE_COMMAND)
		look_at_hidden(draft);
}
