/* SPDX-License-Identifier: Apache-2.0 */
/* A tree that is kept: its life, bringing it up to date, and giving out snapshots. */
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/fd.h"
#include "base/mem.h"
#include "search/cache/kept_tree.h"
#include "search/cache/watch.h"

/* ---- files, lists of names, nodes ---- */

/* What malloc adds to a small block. */
enum { BLOCK_BYTES = 16 };
/* File times may be as coarse as the kernel's tick; two seconds are git's measure for old
 * file systems, too. */
#define SETTLED_NS ((int64_t)2000 * 1000 * 1000)

/* ---- time, and stamps ------------------------------------------------------ */

int64_t cache_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t cache_clock_ms(void)
{
	return cache_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

static uint64_t mix(uint64_t so_far, uint64_t value)
{
	so_far = (so_far ^ value) * 0x9E3779B97F4A7C15u;
	return so_far ^ so_far >> 32;
}

uint64_t cache_file_stamp(const struct stat *st)
{
	uint64_t content = mix(1, (uint64_t)st->st_ino), change = 1;

	content = mix(content, (uint64_t)st->st_size);
	content = mix(content, (uint64_t)st->st_mtim.tv_sec);
	content = mix(content, (uint64_t)st->st_mtim.tv_nsec);
	change = mix(change, (uint64_t)st->st_ctim.tv_sec);
	change = mix(change, (uint64_t)st->st_ctim.tv_nsec);
	return content << 32 | (uint32_t)change | 1;
}

uint64_t cache_file_stamp_settled(const struct stat *st, int64_t now_ns)
{
	const int64_t changed = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;

	return changed + SETTLED_NS < now_ns ? cache_file_stamp(st) : 0;
}

/* ---- files ------------------------------------------------------------------ */

static void grow_files(struct kept_tree *tree)
{
	const size_t before = tree->file_cap * sizeof(*tree->files) +
	                      tree->signature_cap * sizeof(*tree->signature_of);

	pthread_rwlock_wrlock(&tree->files_lock);
	tree->files = mem_grow(tree->files, &tree->file_cap, tree->file_count + 1,
	                       sizeof(*tree->files));
	tree->signature_of = mem_grow(tree->signature_of, &tree->signature_cap,
	                              tree->file_count + 1, sizeof(*tree->signature_of));
	pthread_rwlock_unlock(&tree->files_lock);
	kept_tree_charge(tree, tree->file_cap * sizeof(*tree->files) +
	                          tree->signature_cap * sizeof(*tree->signature_of) - before);
}

void kept_tree_set_signature(struct kept_tree *tree, uint32_t file, uint32_t signature)
{
	pthread_rwlock_wrlock(&tree->files_lock);
	tree->signature_of[file] = signature;
	pthread_rwlock_unlock(&tree->files_lock);
}

uint32_t kept_tree_add_file(struct kept_tree *tree)
{
	uint32_t file, generation = 0;

	if (tree->free_count > 0) {
		file = tree->free_files[--tree->free_count];
		generation = tree->files[file].generation;
	} else {
		if (tree->file_count == tree->file_cap || tree->file_count == tree->signature_cap)
			grow_files(tree);
		file = (uint32_t)tree->file_count++;
	}
	tree->files[file] = (struct kept_file){ .generation = generation + 1, .holders = 1 };
	kept_tree_set_signature(tree, file, SIGNATURE_UNKNOWN);
	return file;
}

void kept_tree_hold_file(struct kept_tree *tree, uint32_t file)
{
	tree->files[file].holders++;
}

void kept_tree_forget_file(struct kept_tree *tree, uint32_t file, uint32_t signature)
{
	const uint32_t before = tree->signature_of[file];

	tree->files[file].generation++;
	if (before == signature)
		return;
	pthread_rwlock_wrlock(&tree->files_lock);
	if (before < SIGNATURE_NUMBER_MAX)
		cache_signatures_drop(&tree->signatures, before);
	tree->signature_of[file] = signature;
	pthread_rwlock_unlock(&tree->files_lock);
}

void kept_tree_mark_linked(struct kept_tree *tree, uint32_t file)
{
	if (tree->files[file].linked)
		return;
	tree->files[file].linked = true;
	tree->linked_files++;
	tree->linked_old = true;
}

static void release_file(struct kept_tree *tree, uint32_t file)
{
	const size_t cap = tree->free_cap;

	if (--tree->files[file].holders > 0)
		return;
	kept_tree_forget_file(tree, file, SIGNATURE_UNKNOWN);
	tree->linked_files -= tree->files[file].linked;
	tree->files[file].linked = false;
	tree->files[file].inode = 0;
	if (tree->free_count == tree->free_cap)
		tree->free_files = mem_grow(tree->free_files, &tree->free_cap,
		                            tree->free_count + 1, sizeof(*tree->free_files));
	tree->free_files[tree->free_count++] = file;
	kept_tree_charge(tree, (tree->free_cap - cap) * sizeof(*tree->free_files));
}

/* ---- lists of names --------------------------------------------------------- */

struct name_list *cache_names_new(struct kept_tree *tree, const char *path,
                                  const char *const *names, size_t count)
{
	const size_t path_size = strlen(path) + 1;
	size_t text = path_size, bytes;
	struct name_list *list;
	char *at;

	for (size_t i = 0; i < count; i++)
		text += strlen(names[i]) + 1;
	bytes = sizeof(*list) + count * (sizeof(*list->names) + sizeof(*list->files)) + text;
	list = mem_alloc(bytes, 1);
	*list = (struct name_list){ .references = 1, .count = count, .bytes = bytes + BLOCK_BYTES };
	list->names = (const char **)(list + 1);
	list->files = (uint32_t *)(list->names + count);
	at = (char *)(list->files + count);
	list->path = memcpy(at, path, path_size);
	at += path_size;
	for (size_t i = 0; i < count; i++) {
		const size_t size = strlen(names[i]) + 1;

		list->names[i] = memcpy(at, names[i], size);
		at += size;
	}
	kept_tree_charge(tree, list->bytes);
	return list;
}

void cache_names_unref(struct kept_tree *tree, struct name_list *list)
{
	if (--list->references > 0)
		return;
	for (size_t i = 0; i < list->count; i++)
		release_file(tree, list->files[i]);
	kept_tree_credit(tree, list->bytes);
	free(list);
}

/* Where a name is in a list; SIZE_MAX: nowhere. */
static size_t name_list_find(const struct name_list *list, const char *name)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = strcmp(list->names[middle], name);

		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

/* ---- nodes ------------------------------------------------------------------ */

struct node *cache_node_new(struct kept_tree *tree, struct name_list *list)
{
	struct node *node = mem_alloc(1, sizeof(*node));

	node->list = list;
	kept_tree_charge(tree, sizeof(*node) + BLOCK_BYTES);
	return node;
}

void cache_node_free(struct kept_tree *tree, struct node *node)
{
	if (node->unread)
		tree->unread--;
	if (node->watch > 0)
		watch_disown(&tree->watch, node->watch, node);
	cache_names_unref(tree, node->list);
	free(node);
	kept_tree_credit(tree, sizeof(*node) + BLOCK_BYTES);
}

size_t kept_tree_lower_bound(const struct kept_tree *tree, const char *path)
{
	size_t low = 0, high = tree->node_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(tree->nodes[middle]->list->path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct node *kept_tree_find(const struct kept_tree *tree, const char *path)
{
	const size_t at = kept_tree_lower_bound(tree, path);

	return at < tree->node_count && strcmp(tree->nodes[at]->list->path, path) == 0
	               ? tree->nodes[at]
	               : NULL;
}

void cache_node_mark_unread(struct kept_tree *tree, struct node *node)
{
	if (!node->unread)
		tree->unread++;
	node->unread = true;
}

/* ---- what events mean for a tree ---- */

/* Nothing is read here: files become unknown and folders are marked, and cached_scan.c reads
 * the folders that are marked.  Marks say too much rather than too little; a folder
 * read in vain costs some microseconds. */

/* Files that keep changing are read less and less often: after so long without a change,
 * which doubles each time, to so long at most. */
enum { CALM_MS = 100, CALM_MAX_MS = 10000 };

#define ENTRY_EVENTS ((uint32_t)(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO))
#define SELF_EVENTS ((uint32_t)(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED))

void cache_node_mark_changed(struct kept_tree *tree, struct node *node)
{
	node->changed = tree->changed = true;
}

void cache_node_mark_whole(struct kept_tree *tree, struct node *node)
{
	node->whole = tree->changed = true;
}

/* The node of the folder that this one is in; NULL for the root. */
static struct node *node_parent(const struct kept_tree *tree, const struct node *node)
{
	const char *path = node->list->path;
	size_t len = strlen(path);
	_cleanup_free_ char *parent = NULL;

	if (len == 0)
		return NULL;
	for (len--; len > 0 && path[len - 1] != '/'; len--)
		;
	parent = mem_dup(path, len);
	return kept_tree_find(tree, parent);
}

static struct node *child_of(const struct kept_tree *tree, const struct node *node,
                             const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s%s/", node->list->path, name);

	return kept_tree_find(tree, path);
}

/* Whether a name is that of an ignore file, or decides which ones count. */
static bool rules_hang_on(const struct kept_tree *tree, const struct node *node,
                          const char *name, uint32_t events)
{
	unsigned kinds = chain_name(&tree->rules, name);

	if (tree->rules.no_git_ignore)
		kinds &= ~(unsigned)(CHAIN_GITIGNORE | CHAIN_DOT_GIT);
	if (tree->rules.no_gemini_ignore || node->list->path[0] != '\0')
		kinds &= ~(unsigned)CHAIN_GEMINIIGNORE;
	/* In the folder .git much happens all the time, to its attributes, too. */
	if (events & IN_ISDIR && !(events & ENTRY_EVENTS))
		kinds &= ~(unsigned)CHAIN_DOT_GIT;
	return kinds != 0;
}

void kept_tree_file_changed(struct kept_tree *tree, struct node *node, const char *name)
{
	const size_t at = name_list_find(node->list, name);
	const int64_t now = cache_clock_ms();
	uint32_t file;

	if (rules_hang_on(tree, node, name, 0))
		cache_node_mark_whole(tree, node);
	if (at == SIZE_MAX)
		return;
	file = node->list->files[at];
	if (node->busy_ms == 0 || now > node->calm_at_ms + CALM_MAX_MS)
		node->busy_ms = CALM_MS;
	else if (tree->signature_of[file] != SIGNATURE_UNKNOWN &&
	         node->busy_ms < CALM_MAX_MS)
		node->busy_ms *= 2; /* it was read in vain */
	node->calm_at_ms = now + node->busy_ms;
	kept_tree_forget_file(tree, file, SIGNATURE_UNKNOWN);
	cache_node_mark_unread(tree, node);
}

static void node_event(struct kept_tree *tree, struct node *node, uint32_t events,
                       const char *name)
{
	if (events & SELF_EVENTS) {
		struct node *parent = node_parent(tree, node);

		node->suspect = true;
		if (parent)
			cache_node_mark_changed(tree, parent);
		else
			tree->lost = true; /* the root itself, or something is badly out of step */
	} else if (name[0] == '\0') {
		cache_node_mark_changed(tree, node); /* the folder's attributes: may it be read? */
	} else if (events & IN_ISDIR) {
		if (rules_hang_on(tree, node, name, events))
			cache_node_mark_whole(tree, node);
		if (strcmp(name, ".git") != 0) {
			struct node *child = child_of(tree, node, name);

			if (child)
				child->suspect = true;
			cache_node_mark_changed(tree, node);
		}
	} else {
		kept_tree_file_changed(tree, node, name);
		if (events & ENTRY_EVENTS)
			cache_node_mark_changed(tree, node);
	}
}

static void tree_take_event(void *data, const struct inotify_event *event, const char *name)
{
	struct kept_tree *tree = data;
	struct node *node;
	size_t at = 0;

	while ((node = watch_owner(&tree->watch, event->wd, &at)) != NULL)
		node_event(tree, node, event->mask, name);
}

bool kept_tree_take_events(struct kept_tree *tree)
{
	return watch_take(&tree->watch, tree_take_event, tree) && !tree->lost;
}

static void collect_linked(struct kept_tree *tree)
{
	tree->linked_old = false;
	tree->linked_count = 0;
	if (tree->linked_files == 0)
		return;
	for (size_t i = 0; i < tree->node_count; i++) {
		struct node *node = tree->nodes[i];

		for (size_t j = 0; j < node->list->count; j++) {
			const uint32_t file = node->list->files[j];

			if (!tree->files[file].linked)
				continue;
			if (tree->linked_count == tree->linked_cap)
				tree->linked = mem_grow(tree->linked, &tree->linked_cap,
				                        tree->linked_count + 1,
				                        sizeof(*tree->linked));
			tree->linked[tree->linked_count++] =
				(struct linked_file){ node, file, node->list->names[j] };
		}
	}
}

/* Whether a file is as it was when it was read. */
static bool is_same(const struct kept_tree *tree, const struct linked_file *linked)
{
	_cleanup_free_ char *path = mem_printf("%s%s", linked->node->list->path, linked->name);
	const uint64_t stamp = tree->files[linked->file].stamp;
	struct stat st;

	return stamp != 0 &&
	       fstatat(tree->place.root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       cache_file_stamp(&st) == stamp;
}

void kept_tree_check_linked(struct kept_tree *tree)
{
	if (tree->linked_old)
		collect_linked(tree);
	for (size_t i = 0; i < tree->linked_count; i++) {
		const struct linked_file *linked = &tree->linked[i];

		if (signature_is_known(tree->signature_of[linked->file]) &&
		    !is_same(tree, linked))
			kept_tree_file_changed(tree, linked->node, linked->name);
	}
}

static int compare_inodes(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void kept_tree_find_linked(struct kept_tree *tree, uint64_t *inodes, size_t count)
{
	if (count == 0)
		return;
	tree->link_serial++;
	qsort(inodes, count, sizeof(*inodes), compare_inodes);
	for (size_t i = 0; i < tree->file_count; i++) {
		const struct kept_file *kept = &tree->files[i];

		if (kept->holders == 0 || kept->inode == 0 ||
		    !bsearch(&kept->inode, inodes, count, sizeof(*inodes), compare_inodes))
			continue;
		if (tree->linked_files < LINKED_FILES_MAX)
			kept_tree_mark_linked(tree, (uint32_t)i);
		else
			kept_tree_forget_file(tree, (uint32_t)i, SIGNATURE_OPEN);
	}
}

/* ---- memory ---------------------------------------------------------------- */

void kept_tree_charge(struct kept_tree *tree, size_t bytes)
{
	atomic_fetch_add(&tree->bytes, bytes);
	atomic_fetch_add(tree->place.bytes, bytes);
}

void kept_tree_credit(struct kept_tree *tree, size_t bytes)
{
	atomic_fetch_sub(&tree->bytes, bytes);
	atomic_fetch_sub(tree->place.bytes, bytes);
}

size_t kept_tree_room(const struct kept_tree *tree)
{
	const size_t used = atomic_load(tree->place.bytes);

	return used < tree->place.max_bytes ? tree->place.max_bytes - used : 0;
}

bool kept_tree_fits(const struct kept_tree *tree)
{
	return atomic_load(&tree->bytes) - tree->signatures.bytes <= tree->place.max_bytes / 2;
}

/* ---- snapshots --------------------------------------------------------------- */

struct cached_tree *cached_tree_snapshot(struct kept_tree *tree)
{
	struct cached_tree *snapshot = mem_alloc(1, sizeof(*snapshot));
	size_t count = 0;

	snapshot->tree = tree;
	snapshot->references = 1;
	snapshot->folders = mem_alloc(tree->node_count, sizeof(*snapshot->folders));
	snapshot->lists = mem_alloc(tree->node_count, sizeof(struct name_list *));
	for (size_t i = 0; i < tree->node_count; i++) {
		struct name_list *list = tree->nodes[i]->list;

		if (tree->nodes[i]->failed) {
			snapshot->unreadable++;
			continue;
		}
		list->references++;
		snapshot->lists[count] = list;
		snapshot->folders[count++] = (struct cached_folder){
			.path = list->path,
			.names = list->names,
			.count = list->count,
			.first = snapshot->file_count,
			.ignored = list->ignored,
		};
		snapshot->file_count += list->count;
	}
	snapshot->folder_count = count;
	snapshot->bytes = sizeof(*snapshot) + tree->node_count * (sizeof(*snapshot->folders) +
	                                                          sizeof(struct name_list *));
	kept_tree_charge(tree, snapshot->bytes);
	return snapshot;
}

/* With the tree's lock held. */
static void snapshot_unref(struct cached_tree *snapshot)
{
	struct kept_tree *tree = snapshot->tree;

	if (--snapshot->references > 0)
		return;
	for (size_t i = 0; i < snapshot->folder_count; i++)
		cache_names_unref(tree, snapshot->lists[i]);
	kept_tree_credit(tree, snapshot->bytes);
	free(snapshot->lists);
	free(snapshot->folders);
	free(snapshot);
}

void kept_tree_drop_snapshot(struct kept_tree *tree)
{
	if (tree->current)
		snapshot_unref(tree->current);
	tree->current = NULL;
}

/* ---- keeping it true ---------------------------------------------------------- */

bool kept_tree_read_global(struct kept_tree *tree)
{
	struct global_ignore *global = global_ignore_read();
	const struct span text = global_ignore_text(global);
	const bool changed =
		!tree->global || !span_eq(text, global_ignore_text(tree->global));

	if (changed) {
		ignore_free(tree->global_rules);
		tree->global_rules = text.len > 0 ? ignore_parse(text) : NULL;
	}
	global_ignore_free(tree->global);
	tree->global = global;
	return changed;
}

size_t kept_tree_unread(struct kept_tree *tree)
{
	size_t unread;

	pthread_mutex_lock(&tree->lock);
	unread = tree->unread;
	pthread_mutex_unlock(&tree->lock);
	return unread;
}

void kept_tree_give_back(struct cached_tree *snapshot)
{
	struct kept_tree *tree = snapshot->tree;

	pthread_mutex_lock(&tree->lock);
	snapshot_unref(snapshot);
	pthread_mutex_unlock(&tree->lock);
	kept_tree_unref(tree);
}

const struct cached_folder *cached_tree_folders(const struct cached_tree *tree, size_t *ret_count)
{
	*ret_count = tree->folder_count;
	return tree->folders;
}

size_t cached_tree_files(const struct cached_tree *tree)
{
	return tree->file_count;
}

size_t cached_tree_unreadable(const struct cached_tree *tree)
{
	return tree->unreadable;
}

/* Whether a file may match. With files_lock held. */
static uint64_t may_match(uint32_t signature, const uint64_t *answers)
{
	if (signature >= SIGNATURE_NUMBER_MAX)
		return signature != SIGNATURE_BINARY;
	return cache_signatures_answer(answers, signature);
}

void cached_tree_select(const struct cached_tree *snapshot, const struct matcher_needs *needs,
                        uint64_t *bits)
{
	struct kept_tree *tree = snapshot->tree;
	struct trigram_query query;
	uint64_t *answers, word = 0;
	size_t file = 0;

	trigram_query_init(&query, needs);
	pthread_rwlock_rdlock(&tree->files_lock);
	answers = mem_alloc(tree->signatures.count, sizeof(*answers));
	cache_signatures_ask(&tree->signatures, &query, answers);
	for (size_t i = 0; i < snapshot->folder_count; i++) {
		const struct name_list *list = snapshot->lists[i];

		for (size_t j = 0; j < list->count; j++, file++) {
			const uint32_t signature = tree->signature_of[list->files[j]];

			word |= may_match(signature, answers) << file % 64;
			if (file % 64 == 63) {
				bits[file / 64] = word;
				word = 0;
			}
		}
	}
	pthread_rwlock_unlock(&tree->files_lock);
	if (file % 64 > 0)
		bits[file / 64] = word;
	free(answers);
	trigram_query_release(&query);
}

/* ---- life -------------------------------------------------------------------- */

static void copy_rules(struct walk_rules *to, const struct walk_rules *from)
{
	char **names = mem_alloc(from->ignore_file_count, sizeof(char *));

	*to = *from;
	for (size_t i = 0; i < from->ignore_file_count; i++)
		names[i] = mem_strdup(from->ignore_files[i]);
	to->ignore_files = (const char *const *)names;
}

static void release_rules(struct walk_rules *rules)
{
	for (size_t i = 0; i < rules->ignore_file_count; i++)
		free((char *)rules->ignore_files[i]);
	free((void *)rules->ignore_files);
}

bool kept_tree_matches(const struct kept_tree *tree, size_t root, const struct walk_rules *rules)
{
	const struct walk_rules *own = &tree->rules;

	if (tree->place.root != root || own->no_git_ignore != rules->no_git_ignore ||
	    own->no_gemini_ignore != rules->no_gemini_ignore ||
	    own->hidden_out != rules->hidden_out ||
	    own->ignore_file_count != rules->ignore_file_count)
		return false;
	for (size_t i = 0; i < rules->ignore_file_count; i++)
		if (strcmp(own->ignore_files[i], rules->ignore_files[i]) != 0)
			return false;
	return true;
}

struct kept_tree *kept_tree_new(const struct kept_place *place)
{
	struct kept_tree *tree = mem_alloc(1, sizeof(*tree));

	*tree = (struct kept_tree){ .place = *place, .watch = WATCH_INIT };
	atomic_init(&tree->references, 1);
	copy_rules(&tree->rules, place->rules);
	tree->place.rules = &tree->rules;
	pthread_mutex_init(&tree->lock, NULL);
	pthread_rwlock_init(&tree->files_lock, NULL);
	kept_tree_charge(tree, sizeof(*tree));
	return tree;
}

struct kept_tree *kept_tree_ref(struct kept_tree *tree)
{
	atomic_fetch_add(&tree->references, 1);
	return tree;
}

void kept_tree_unref(struct kept_tree *tree)
{
	if (!tree || atomic_fetch_sub(&tree->references, 1) > 1)
		return;
	watch_release(&tree->watch); /* first: the kernel drops all watches with it */
	kept_tree_drop_snapshot(tree);
	for (size_t i = 0; i < tree->node_count; i++) {
		tree->nodes[i]->watch = 0;
		cache_node_free(tree, tree->nodes[i]);
	}
	cache_signatures_release(&tree->signatures);
	free(tree->nodes);
	free(tree->repositories);
	free(tree->linked);
	free(tree->files);
	free(tree->signature_of);
	free(tree->free_files);
	ignore_free(tree->global_rules);
	global_ignore_free(tree->global);
	release_rules(&tree->rules);
	atomic_fetch_sub(tree->place.bytes, atomic_load(&tree->bytes));
	pthread_rwlock_destroy(&tree->files_lock);
	pthread_mutex_destroy(&tree->lock);
	free(tree);
}
