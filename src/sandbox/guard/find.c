/* SPDX-License-Identifier: Apache-2.0 */
/* Looking through a writable folder for what a command has left, wherever it is: repositories, and
 * names that others obey.
 *
 * Every folder is looked at after every command, whatever the supervisor has seen.  What keeps
 * that cheap is what the walk before has seen (recall.h): a folder whose names have not changed
 * since (its change time says so, and no program can set that) is not listed, and only the folders
 * and names that count in it are looked at.  That is trusted on file systems that are known to keep
 * change times, and if the last change was before the moment of listing: a later one has a later
 * time.
 *
 * A repository's own folders are not entered. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <strings.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/guard/recall.h"
#include "sandbox/guard/links.h"
#include "sandbox/guard/private.h"
#include "sandbox/guard/walk.h"
#include "sandbox/plan/names.h"

enum {
	ARRIVED = 1 << 0, /* it, or one above it, came to be at this place while the command ran */
	INSIDE = 1 << 1,  /* on the way to, or beneath, a name that others obey */
	STEADY = 1 << 2,  /* its change time can be trusted */
	STAYED = 1 << 3,  /* the walk before has seen it at this place */
	PACKAGES = 1 << 4, /* it is, or is in, a folder of packages */
};

/* Names of a folder, each with its NUL. */
struct find_names {
	char *text; /* owned */
	size_t len, cap;
};

struct find {
	struct guard *guard;
	const struct guard_root *root;
	void (*found)(struct guard *guard, const struct guard_root *root, const char *path,
	              bool arrived);
	struct links *stood; /* borrowed; NULL: a walk after the command */
	bool first_bytes[256]; /* what names that others obey begin with */
	uint64_t steady_dev, fickle_dev; /* the last file system of each kind; 0: none */
	/* of the folder that is being listed */
	bool head, objects, refs, common;
	struct timespec listed;
	char *name;     /* owned; its own */
	struct find_names counting, links; /* names that count, and links (links.c) */
};

/* ---- what is known of a folder ---- */

/* Where change times are known to be kept as the kernel makes them. */
static bool keeps_times(struct find *find, const struct guard_walk *walk, const struct stat *st)
{
	static const long kinds[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
		                      TMPFS_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC };
	_cleanup_fd_ int fd = -1;
	struct statfs fs;

	if (st->st_dev == find->steady_dev || st->st_dev == find->fickle_dev)
		return st->st_dev == find->steady_dev;
	fd = guard_open(walk->top, walk->path, O_PATH | O_DIRECTORY);
	for (size_t i = 0; fd >= 0 && fstatfs(fd, &fs) == 0 && i < ARRAY_LEN(kinds); i++)
		if ((long)fs.f_type == kinds[i]) {
			find->steady_dev = st->st_dev;
			return true;
		}
	find->fickle_dev = st->st_dev;
	return false;
}

/* Whether it may come from where no walk has been, or another place. */
static bool has_arrived(const struct find *find, const struct guard_walk *walk,
                        const struct walk_folder *folder, const struct seen_folder *seen)
{
	const struct recall *recall = find->guard->recall;
	_cleanup_fd_ int fd = -1;
	struct statx stx;

	if (!recall_has_folders(recall) || !guard_changed_since(find->guard, &folder->st))
		return false;
	if (seen)
		return true;
	fd = guard_open(walk->top, walk->path, O_PATH | O_DIRECTORY);
	return statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &stx) != 0 || !recall_is_new(recall, &stx);
}

static unsigned folder_marks(struct find *find, const struct guard_walk *walk,
                             const struct walk_folder *folder, const char *name,
                             const struct seen_folder *seen)
{
	const struct walk_folder *above = walk_above(walk);
	unsigned marks = folder->marks & (ARRIVED | INSIDE | PACKAGES);

	if (!above || (seen && seen->above == above->st.st_ino &&
	               strcmp(recall_text(find->guard->recall, seen), name) == 0))
		marks |= STAYED;
	else if (has_arrived(find, walk, folder, seen))
		marks |= ARRIVED;
	if (!(marks & INSIDE) && names_leads_to_obeyed(name))
		marks |= INSIDE;
	if (find->stood && names_is_packages(span_str(name)))
		marks |= PACKAGES;
	if (keeps_times(find, walk, &folder->st))
		marks |= STEADY;
	return marks;
}

static bool is_unchanged(const struct seen_folder *seen, const struct walk_folder *folder)
{
	return recall_is_same(seen, &folder->st) &&
	       (folder->marks & (STAYED | ARRIVED)) == STAYED &&
	       !(seen->flags & SEEN_INSIDE) == !(folder->marks & INSIDE);
}

/* ---- names ---- */

static void check_counting(struct find *find, struct guard_walk *walk, const char *name,
                           unsigned marks)
{
	_cleanup_free_ char *path = walk_join(walk, name);

	if (strcasecmp(name, ".git") == 0)
		find->found(find->guard, find->root, path, marks & ARRIVED);
	else
		names_check(find->guard, find->root, path, marks & ARRIVED);
}

static bool name_counts(const struct find *find, const char *name, unsigned marks)
{
	return strcasecmp(name, ".git") == 0 || (marks & INSIDE) ||
	       (find->first_bytes[(unsigned char)name[0]] && names_obeyed_at(name));
}

static void find_keep_name(struct find_names *names, const char *name)
{
	size_t len = strlen(name) + 1;

	names->text = mem_grow(names->text, &names->cap, names->len + len, 1);
	memcpy(names->text + names->len, name, len);
	names->len += len;
}

static bool find_entry(struct guard_walk *walk, struct walk_folder *folder, const char *name,
                        unsigned char type)
{
	struct find *find = walk->data;

	if (name_counts(find, name, folder->marks)) {
		find_keep_name(&find->counting, name);
		if (!find->stood)
			check_counting(find, walk, name, folder->marks);
		if (strcasecmp(name, ".git") == 0)
			return false;
	}
	if (type == DT_LNK && links_counts(folder->fd, name))
		find_keep_name(&find->links, name);
	if (type == DT_LNK && !find->stood &&
	    (find->guard->vacated_count || find->guard->vacated_lost)) {
		_cleanup_free_ char *path = walk_join(walk, name);

		names_check_link(find->guard, find->root, path);
	}
	find->head |= strcmp(name, "HEAD") == 0;
	find->objects |= strcmp(name, "objects") == 0;
	find->refs |= strcmp(name, "refs") == 0;
	find->common |= strcmp(name, "commondir") == 0;
	return true;
}

/* ---- folders ---- */

/* One that is as it was: what was seen in it then is looked at. */
static enum walk_answer use_seen(struct find *find, struct guard_walk *walk,
                                 struct walk_folder *folder, const struct seen_folder *seen)
{
	struct recall *recall = find->guard->recall;
	const char *texts = recall_text(recall, seen), *at = texts + strlen(texts) + 1;
	bool any = false;

	for (; *at; at += strlen(at) + 1) {
		walk_push(walk, at);
		any = true;
	}
	for (at++; *at; at += strlen(at) + 1)
		check_counting(find, walk, at, folder->marks);
	for (at++; *at; at += strlen(at) + 1)
		continue;
	recall_add(recall, seen, texts, (size_t)(at + 1 - texts));
	if (seen->flags & SEEN_REPOSITORY)
		find->found(find->guard, find->root, walk->path, false);
	return any ? WALK_GIVEN : WALK_SKIP;
}

static enum walk_answer find_enter(struct guard_walk *walk, struct walk_folder *folder,
                                    const char *name)
{
	struct find *find = walk->data;
	const struct seen_folder *seen = recall_find(find->guard->recall, &folder->st);

	folder->marks = folder_marks(find, walk, folder, name, seen);
	if (is_unchanged(seen, folder))
		return use_seen(find, walk, folder, seen);
	find->head = find->objects = find->refs = find->common = false;
	find->counting.len = find->links.len = 0;
	free(find->name);
	find->name = mem_strdup(name);
	clock_gettime(CLOCK_REALTIME_COARSE, &find->listed);
	return WALK_LIST;
}

static void remember_folder(struct find *find, const struct guard_walk *walk,
                            const struct walk_folder *folder, bool repository)
{
	const struct walk_folder *above = walk_above(walk);
	const size_t name = strlen(find->name) + 1, beneath = walk->names_len - folder->names;
	struct seen_folder seen = {
		.dev = folder->st.st_dev, .ino = folder->st.st_ino,
		.above = above ? above->st.st_ino : 0,
		.seconds = folder->st.st_ctim.tv_sec,
		.nanoseconds = (uint32_t)folder->st.st_ctim.tv_nsec,
	};
	const size_t counting = find->counting.len, links = find->links.len;
	const size_t len = name + beneath + 1 + counting + 1 + links + 1;
	_cleanup_free_ char *texts = mem_alloc(len, 1);

	if ((folder->marks & STEADY) && !folder->opened_up &&
	    !guard_stat_since(&folder->st, &find->listed))
		seen.flags |= SEEN_STEADY;
	if (folder->marks & INSIDE)
		seen.flags |= SEEN_INSIDE;
	if (repository)
		seen.flags |= SEEN_REPOSITORY;
	memcpy(texts, find->name, name);
	if (beneath)
		memcpy(texts + name, walk->names + folder->names, beneath);
	if (counting)
		memcpy(texts + name + beneath + 1, find->counting.text, counting);
	if (links)
		memcpy(texts + name + beneath + 1 + counting + 1, find->links.text, links);
	recall_add(find->guard->recall, &seen, texts, len);
}

static void find_listed(struct guard_walk *walk, struct walk_folder *folder)
{
	struct find *find = walk->data;
	const struct span links = span_of(find->links.text, find->links.len);
	bool repository = find->head && (find->common || (find->objects && find->refs));

	if (repository)
		walk_forget(walk);
	remember_folder(find, walk, folder, repository);
	if (find->stood && (folder->marks & PACKAGES))
		return;
	if (find->stood) {
		links_add(find->stood, &folder->st, links);
		return;
	}
	links_compare(find->guard, find->root, walk->path, &folder->st, links);
	if (repository)
		find->found(find->guard, find->root, walk->path, folder->marks & ARRIVED);
}

static void find_failed(struct guard_walk *walk, int error)
{
	const struct find *find = walk->data;

	if (find->stood)
		links_lose(find->stood);
	else
		guard_report_unchecked(find->guard, find->root, walk->path, error);
}

static void find_through(struct find *find)
{
	struct guard_walk walk = { .guard = find->guard, .data = find, .enter = find_enter,
		                   .entry = find_entry, .listed = find_listed,
		                   .failed = find_failed };

	names_obeyed_first(find->first_bytes);
	walk_run(&walk, find->root->fd);
	free(find->name);
	free(find->counting.text);
	free(find->links.text);
}

void guard_find(struct guard *guard, const struct guard_root *root,
                void (*found)(struct guard *guard, const struct guard_root *root,
                              const char *path, bool arrived))
{
	struct find find = { .guard = guard, .root = root, .found = found };

	find_through(&find);
}

void guard_find_before(struct guard *guard, const struct guard_root *root, struct links *links)
{
	struct find find = { .guard = guard, .root = root, .stood = links };

	find_through(&find);
}
