/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard remembers before a command, and the order in which it looks afterwards. */
#include "sandbox/guard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard/recall.h"
#include "sandbox/guard/links.h"
#include "sandbox/guard/private.h"
#include "sandbox/plan/denial.h"

/* ---- places ---- */

static struct guard_place *take_place(struct guard *guard, const struct guard_root *root,
                                      const char *path)
{
	bool fresh;
	struct guard_place *place = guard_add_place(guard, root, path, &fresh);

	if (fresh)
		git_place_take(guard, place);
	return place;
}

static void take_module(struct guard *guard, const struct guard_root *root, const char *path)
{
	take_place(guard, root, path)->is_module = true;
}

/* ---- before ---- */

/* The session's temporary files hold no repository of the user's, and no other rules are about
 * folders that outlive the command. */
static bool is_root(const struct guard *guard, const struct sandbox_rule *rule)
{
	const char *rest;

	return rule->access == SANDBOX_WRITE && rule->folder &&
	       rule->reason != SANDBOX_REASON_TEMP && rule->reason != SANDBOX_REASON_DEVICE &&
	       rule->reason != SANDBOX_REASON_JOURNAL && !guard_find_root(guard, rule->path, &rest);
}

/* Rules are sorted: a folder comes before what is in it, which is reached through it. */
static bool take_roots(struct guard *guard, struct err *err)
{
	const struct sandbox_plan *plan = guard->plan;

	guard->roots = mem_alloc(plan->rule_count + 1, sizeof(*guard->roots));
	for (size_t i = 0; i < plan->rule_count; i++) {
		struct guard_root *root = &guard->roots[guard->root_count];

		if (!is_root(guard, &plan->rules[i]))
			continue;
		*root = (struct guard_root){ .path = plan->rules[i].path };
		root->len = strlen(root->path);
		root->fd = open(root->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (root->fd < 0)
			return err_set_errno(err, errno, "Cannot open the writable folder %s",
			                     root->path);
		guard->root_count++;
	}
	return true;
}

static void take_repository(struct guard *guard, const struct guard_root *root, const char *path)
{
	struct guard_place *place = take_place(guard, root, path);

	if (place->by_plan)
		return;
	place->by_plan = true;
	if (place->was_git)
		guard_git_modules(guard, root, path, take_module);
}

/* Git folders that the plan knows, and the place of one in each root. */
static void take_repositories(struct guard *guard)
{
	for (size_t i = 0; i < guard->root_count; i++) {
		take_repository(guard, &guard->roots[i], ".git");
		take_repository(guard, &guard->roots[i], "");
	}
	for (size_t i = 0; i < guard->plan->rule_count; i++) {
		const struct sandbox_rule *rule = &guard->plan->rules[i];
		const char *rest;
		const struct guard_root *root = guard_find_root(guard, rule->path, &rest);

		if (root && rule->access == SANDBOX_WRITE && rule->reason == SANDBOX_REASON_GIT)
			take_repository(guard, root, rest);
	}
}

static void guard_look_everywhere(struct guard *guard);

static void release_places(struct guard *guard)
{
	for (size_t i = 0; i < guard->place_count; i++) {
		guard_release_parts(&guard->places[i]->parts);
		free(guard->places[i]->path);
		free(guard->places[i]);
	}
	free(guard->places);
	free(guard->place_slots);
	guard->places = guard->place_slots = NULL;
	guard->place_count = guard->place_cap = 0;
}

/* A command ended, and was not looked after: its worker was killed, or could not look at all.  What
 * it left is put right before anything else runs. */
static bool complete_earlier(struct guard *guard, struct err *err)
{
	const struct timespec began = guard->began;

	if (!recall_unchecked(guard->recall, &guard->began)) {
		guard->began = began;
		return true;
	}
	guard->completing = true;
	guard_look_everywhere(guard);
	guard->completing = false;
	release_places(guard);
	if (guard->stuck)
		err_set(err, ERR_DENIED_BY_SANDBOX,
		        "An earlier command left %.600s, and ended without a check. It cannot be "
		        "put right at level %s, so no command runs. Put it right yourself, or run "
		        "\"hasp sandbox --sandbox landlock -- true\" in this workspace.",
		        guard->stuck, sandbox_level_name(guard->plan->level));
	guard->began = began;
	guard->reported = 0;
	return !guard->stuck;
}

/* A first command in a workspace pays for one walk: the check after it knows what this one saw. */
static void take_links(struct guard *guard)
{
	const struct timespec began = guard_now();
	bool first;

	guard->links = links_new();
	recall_look(guard->recall);
	first = !recall_has_folders(guard->recall);
	for (size_t i = 0; i < guard->root_count; i++) {
		if (first)
			guard_find_before(guard, &guard->roots[i], guard->links);
		else
			links_take(guard, &guard->roots[i]);
	}
	recall_forget(guard->recall);
	if (first)
		recall_keep_first(guard->recall, &began);
	links_sort(guard->links);
}

bool guard_take(const struct sandbox_plan *plan, const char *label, int recall,
                struct guard **ret, struct err *err)
{
	struct guard *guard = mem_alloc(1, sizeof(*guard));
	const struct recall_start start = { .began = guard_now(), .label = label, .plan = plan };

	guard->plan = plan;
	pthread_mutex_init(&guard->lock, NULL);
	guard->began = start.began;
	if (!recall_open(recall, &start, &guard->recall, err) || !take_roots(guard, err) ||
	    !complete_earlier(guard, err)) {
		guard_free(guard);
		return false;
	}
	take_links(guard);
	guard->began = guard_now();
	take_repositories(guard);
	guard_keep_take(guard);
	*ret = guard;
	return true;
}

void guard_end(struct guard *guard)
{
	recall_end(guard->recall);
}

void guard_free(struct guard *guard)
{
	if (!guard)
		return;
	for (size_t i = 0; i < guard->root_count; i++)
		close(guard->roots[i].fd);
	free(guard->roots);
	release_places(guard);
	free(guard->opened);
	free(guard->early);
	free(guard->stuck);
	recall_free(guard->recall);
	guard_keep_free(guard->kept);
	names_free(guard);
	links_free(guard->links);
	pthread_mutex_destroy(&guard->lock);
	free(guard);
}

/* ---- meanwhile ---- */

/* Names that can make a folder a repository, or change what it does, and how many components up
 * that folder is. */
static const struct {
	const char *name;
	unsigned up;
} git_names[] = {
	{ ".git", 0 }, { "HEAD", 1 }, { "config", 1 }, { "config.worktree", 1 },
	{ "commondir", 1 }, { "gitdir", 1 }, { "hooks", 1 }, { "objects", 1 }, { "refs", 1 },
	{ "git-rebase-todo", 2 },
};

/* The last component of a path of `len` bytes: where it begins. */
static size_t last(const char *path, size_t len)
{
	while (len && path[len - 1] != '/')
		len--;
	return len;
}

static size_t parent_length(const char *path, size_t len)
{
	len = last(path, len);
	return len ? len - 1 : 0;
}

/* How many bytes of a path name the first folder ".git" in it; -1: there is none. */
static long git_component(const char *path)
{
	for (const char *at = path; *at; at += strspn(at, "/")) {
		size_t len = strcspn(at, "/");

		if (len == 4 && strncasecmp(at, ".git", len) == 0)
			return (long)((size_t)(at - path) + len);
		at += len;
	}
	return -1;
}

/* How many bytes of a path name the folder that it is about; -1: none. */
static long git_folder_of(const char *path)
{
	size_t len = strlen(path), start = last(path, len);
	struct span name = span_of(path + start, len - start);
	size_t up = parent_length(path, len);

	if (span_ends(name, SPAN(".lock"))) /* git writes X.lock and renames it to X */
		name.len -= 5;
	for (size_t i = 0; i < ARRAY_LEN(git_names); i++) {
		if (name.len != strlen(git_names[i].name) ||
		    strncasecmp(name.data, git_names[i].name, name.len) != 0)
			continue;
		len = git_names[i].up > 0 ? up : len;
		return (long)(git_names[i].up > 1 ? parent_length(path, len) : len);
	}
	if (up && span_eq(span_of(path + last(path, up), up - last(path, up)), SPAN("hooks")))
		return (long)parent_length(path, up);
	return git_component(path);
}

void guard_note(struct guard *guard, const char *path)
{
	const char *rest = "";
	const struct guard_root *root = path[0] ? guard_find_root(guard, path, &rest) : NULL;
	long len = root ? git_folder_of(rest) : -1;

	pthread_mutex_lock(&guard->lock);
	names_note(guard, path);
	/* What the command does in one more is judged by times. */
	if (len >= 0 && guard->place_count < LIMIT_GUARD_PLACES) {
		_cleanup_free_ char *folder = mem_dup(rest, (size_t)len);
		_cleanup_free_ char *owner = guard_git_owner(root, folder);

		take_place(guard, root, owner ? owner : folder);
	}
	pthread_mutex_unlock(&guard->lock);
}

/* ---- after ---- */

/* A symbolic link on the way to a name that must not come into being: it is there after all. */
static void take_link_away(struct guard *guard, const struct sandbox_absent *absent,
                           const struct guard_root *root, const char *rest)
{
	_cleanup_free_ char *path = mem_strdup(rest);

	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		_cleanup_fd_ int fd = -1;
		struct stat st;

		*slash = '\0';
		fd = guard_open(root->fd, path, O_PATH);
		if (fd < 0 || fstat(fd, &st) != 0)
			return;
		if (S_ISLNK(st.st_mode)) {
			if (guard_changed_since(guard, &st))
				guard_take_away(guard, absent->reason, root, path);
			return;
		}
		*slash = '/';
	}
}

static void check_absent(struct guard *guard)
{
	for (size_t i = 0; i < guard->plan->absent_count; i++) {
		const struct sandbox_absent *absent = &guard->plan->absent[i];
		const char *rest;
		const struct guard_root *root = guard_find_root(guard, absent->path, &rest);
		_cleanup_fd_ int fd = root ? guard_open(root->fd, rest, O_PATH) : -1;

		if (!root || guard_keep_has(guard, root, rest))
			continue;
		if (fd < 0 && errno == EACCES && guard_open_up(guard, root->fd, rest))
			fd = guard_open(root->fd, rest, O_PATH);
		if (fd >= 0)
			guard_take_away(guard, absent->reason, root, rest);
		else if (errno == ELOOP)
			take_link_away(guard, absent, root, rest);
	}
}

static void check_module(struct guard *guard, const struct guard_root *root, const char *path)
{
	bool fresh;
	struct guard_place *place = guard_add_place(guard, root, path, &fresh);

	place->is_module = true;
	if (fresh)
		git_place_check(guard, place);
}

static void check_places(struct guard *guard)
{
	/* Places found on the way are looked at when they are found. */
	size_t count = guard->place_count;

	for (size_t i = 0; i < count; i++) {
		struct guard_place *place = guard->places[i];

		git_place_check(guard, place);
		if (place->was_git && place->by_plan)
			guard_git_modules(guard, place->root, place->path, check_module);
		guard_close_up(guard, 0);
	}
}

/* Which git folder it is, while it is there and after, wherever it is. */
static struct sha256 git_folder_key(const struct folder_birth *birth)
{
	const struct stat st = { .st_ino = birth->inode,
		                 .st_ctim = { birth->seconds, birth->nanoseconds } };

	return recall_key("git", "", &st);
}

/* When it was looked at last.  Where one came from that moved, no walk may have been. */
static struct timespec from_when(struct guard *guard, const struct guard_root *root,
                                 const char *path, bool arrived)
{
	_cleanup_fd_ int fd = guard_open(root->fd, path, O_PATH);
	struct folder_birth birth = guard_birth_of(fd, "");
	struct sha256 key = git_folder_key(&birth);
	bool known = birth.inode && recall_knows(guard->recall, &key);
	struct statx stx;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return guard->began;
	if (birth.inode)
		recall_learn(guard->recall, &key);
	if (known || (!arrived && !guard_changed_since(guard, &st)) ||
	    (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &stx) == 0 &&
	     recall_is_new(guard->recall, &stx)))
		return guard->began;
	return recall_since(guard->recall);
}

static void check_found(struct guard *guard, const struct guard_root *root, const char *path,
                        bool arrived)
{
	const size_t opened = guard->opened_count;
	bool fresh;
	struct guard_place *place = guard_add_place(guard, root, path, &fresh);

	if (!fresh && !place->by_time)
		return;
	place->by_time = true;
	place->from = from_when(guard, root, path, arrived);
	git_place_check(guard, place);
	guard_close_up(guard, opened);
}

static void guard_look_everywhere(struct guard *guard)
{
	const struct timespec began = guard_now();

	recall_load(guard->recall);
	for (size_t i = 0; i < guard->root_count; i++)
		guard_find(guard, &guard->roots[i], check_found);
	names_remember(guard);
	recall_save(guard->recall, !guard->stopped, &began);
	guard_close_up(guard, 0);
	guard_report_rest(guard);
}

size_t guard_check(struct guard *guard, void (*denied)(void *data, const struct denial *denial),
                   void *data)
{
	size_t reported;

	pthread_mutex_lock(&guard->lock);
	reported = guard->early_count;
	guard->denied = denied;
	guard->data = data;
	guard->reported = 0;
	guard->stopped = false;
	guard_deliver_early(guard);
	check_absent(guard);
	guard_keep_check(guard);
	check_places(guard);
	names_check_vacated(guard);
	guard_look_everywhere(guard);
	reported += guard->reported;
	pthread_mutex_unlock(&guard->lock);
	return reported;
}
