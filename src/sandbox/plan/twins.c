/* SPDX-License-Identifier: Apache-2.0 */
/* Other mounts of what is hidden: a bind mount of ~/.aws shows the same files elsewhere.
 *
 * /proc/self/mountinfo (proc_pid_mountinfo(5)) says of each mount which folder of which file system
 * it shows, so the other places of a path are found without looking for them.  Another name by a
 * hard link is not found: nothing but a walk over the whole file system would. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "sandbox/plan/private.h"

struct mount {
	char *root;  /* owned; the folder of the file system that is shown */
	char *point; /* owned; where */
	unsigned major, minor;
};

struct mounts {
	struct mount *list; /* owned; in the order in which they were made */
	size_t count, cap;
};

enum { MOUNTS_MAX = 4096 };

static void mounts_release(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		free(mounts->list[i].root);
		free(mounts->list[i].point);
	}
	free(mounts->list);
}

/* "\\040" and the like. */
static void undo_escapes(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned value;

		if (from[0] == '\\' && sscanf(from + 1, "%3o", &value) == 1 && strlen(from) >= 4) {
			*to = (char)value;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

static void add_line(struct mounts *mounts, const char *line)
{
	struct mount mount = { 0 };
	unsigned major, minor;

	if (sscanf(line, "%*u %*u %u:%u %ms %ms", &major, &minor, &mount.root, &mount.point) != 4) {
		free(mount.root);
		return;
	}
	mount.major = major;
	mount.minor = minor;
	undo_escapes(mount.root);
	undo_escapes(mount.point);
	mounts->list = mem_grow(mounts->list, &mounts->cap, mounts->count + 1,
	                        sizeof(*mounts->list));
	mounts->list[mounts->count++] = mount;
}

static void read_mounts(struct mounts *ret)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;

	*ret = (struct mounts){ 0 };
	while (file && ret->count < MOUNTS_MAX && getline(&line, &size, file) > 0)
		add_line(ret, line);
	free(line);
	if (file)
		fclose(file);
}

static const char *behind(const char *path, const char *folder)
{
	size_t len = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

	return path[len] == '/' ? path + len + 1 : path + len;
}

static char *join(const char *folder, const char *rest)
{
	return rest[0] ? location_join(folder, rest) : mem_strdup(folder);
}

/* The mount that a path lies on: of those at the longest point, the last. */
static const struct mount *mount_of(const struct mounts *mounts, const char *path)
{
	const struct mount *found = NULL;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->list[i];

		if (location_within(path, mount->point) &&
		    (!found || strlen(mount->point) >= strlen(found->point)))
			found = mount;
	}
	return found;
}

static bool same_file(const char *a, const char *b)
{
	struct stat left, right;

	return lstat(a, &left) == 0 && lstat(b, &right) == 0 && left.st_ino == right.st_ino &&
	       left.st_dev == right.st_dev;
}

/* A place with a workspace in it, or all, is not hidden for what it shows besides. */
static bool holds_writable(const struct draft *draft, const char *path)
{
	for (size_t i = 0; i < draft->writable_count; i++)
		if (location_within(draft->writable[i], path))
			return true;
	return strcmp(path, "/") == 0;
}

static void hide_again(struct draft *draft, const struct draft_rule *rule, const char *inner,
                       const struct mount *mount)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *twin = NULL;
	bool folder;

	if (location_within(inner, mount->root)) {
		path = join(mount->point, behind(inner, mount->root));
		twin = mem_strdup(rule->rule.path);
	} else if (location_within(mount->root, inner)) {
		/* It shows a part of what is hidden. */
		path = mem_strdup(mount->point);
		twin = join(rule->rule.path, behind(mount->root, inner));
	} else {
		return;
	}
	if (strcmp(path, twin) == 0 || !same_file(path, twin) || holds_writable(draft, path))
		return;
	folder = location_kind_of(path) == LOCATION_FOLDER;
	draft_rule(draft, mem_steal(&path), folder, SANDBOX_HIDDEN, rule->rule.reason,
	           rule->strength, rule->rule.why);
}

static bool is_secret(const struct sandbox_rule *rule)
{
	return rule->access == SANDBOX_HIDDEN &&
	       (rule->reason == SANDBOX_REASON_CREDENTIALS || rule->reason == SANDBOX_REASON_DENY ||
	        rule->reason == SANDBOX_REASON_OWN_SECRETS);
}

void plan_twins(struct draft *draft)
{
	__attribute__((cleanup(mounts_release))) struct mounts mounts = { 0 };
	size_t count = draft->rule_count;
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any = any || is_secret(&draft->rules[i].rule);
	if (any)
		read_mounts(&mounts);
	for (size_t i = 0; i < count; i++) {
		struct draft_rule rule = draft->rules[i]; /* the list moves when it grows */
		const struct mount *own = mount_of(&mounts, rule.rule.path);
		_cleanup_free_ char *inner = NULL;

		if (!own || !is_secret(&rule.rule))
			continue;
		inner = join(own->root, behind(rule.rule.path, own->point));
		for (size_t k = 0; k < mounts.count; k++)
			if (mounts.list[k].major == own->major &&
			    mounts.list[k].minor == own->minor && &mounts.list[k] != own)
				hide_again(draft, &rule, inner, &mounts.list[k]);
	}
}
