/* SPDX-License-Identifier: Apache-2.0 */
/* A tree that is kept: its life, bringing it up to date, and giving out snapshots. */
#include "search/cache/cached_tree.h"

#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"

/* ---- memory ---------------------------------------------------------------- */

void tree_charge(struct kept_tree *tree, size_t bytes)
{
	atomic_fetch_add(&tree->bytes, bytes);
	atomic_fetch_add(tree->place.bytes, bytes);
}

void tree_credit(struct kept_tree *tree, size_t bytes)
{
	atomic_fetch_sub(&tree->bytes, bytes);
	atomic_fetch_sub(tree->place.bytes, bytes);
}

size_t tree_room(const struct kept_tree *tree)
{
	const size_t used = atomic_load(tree->place.bytes);

	return used < tree->place.max_bytes ? tree->place.max_bytes - used : 0;
}

bool tree_fits(const struct kept_tree *tree)
{
	return atomic_load(&tree->bytes) - tree->signatures.bytes <= tree->place.max_bytes / 2;
}

/* ---- snapshots --------------------------------------------------------------- */

static struct cached_tree *snapshot_new(struct kept_tree *tree)
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
	tree_charge(tree, snapshot->bytes);
	return snapshot;
}

/* With the tree's lock held. */
static void snapshot_unref(struct cached_tree *snapshot)
{
	struct kept_tree *tree = snapshot->tree;

	if (--snapshot->references > 0)
		return;
	for (size_t i = 0; i < snapshot->folder_count; i++)
		name_list_unref(tree, snapshot->lists[i]);
	tree_credit(tree, snapshot->bytes);
	free(snapshot->lists);
	free(snapshot->folders);
	free(snapshot);
}

void tree_drop_snapshot(struct kept_tree *tree)
{
	if (tree->current)
		snapshot_unref(tree->current);
	tree->current = NULL;
}

/* ---- keeping it true ---------------------------------------------------------- */

bool tree_read_global(struct kept_tree *tree)
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

static void check_global(struct kept_tree *tree)
{
	if (tree->global && !global_ignore_is_current(tree->global) && tree_read_global(tree))
		node_mark_whole(tree, tree->nodes[0]);
}

static void check_repositories(struct kept_tree *tree)
{
	for (size_t i = 0; i < tree->repository_count; i++) {
		struct node *node = tree->repositories[i];
		const char *path = node->list->path;
		_cleanup_fd_ int fd = chain_open(tree->place.root_fd, path[0] ? path : ".",
		                                 O_PATH | O_DIRECTORY);
		bool repository;

		if (fd < 0 || node->exclude_stamp == 0 ||
		    tree_exclude_stamp(tree, fd, path, &repository) != node->exclude_stamp)
			node_mark_whole(tree, node);
	}
}

static bool tree_update(struct kept_tree *tree)
{
	if (tree->lost || !watch_mounts_hold(&tree->watch) || !tree_take_events(tree))
		return false;
	check_global(tree);
	check_repositories(tree);
	tree_check_linked(tree);
	if (!tree->changed)
		return true;
	if (!tree_scan_changed(tree))
		return false;
	tree_check_linked(tree); /* new names of files that had others */
	return true;
}

bool kept_tree_update(struct kept_tree *tree)
{
	bool good;

	pthread_mutex_lock(&tree->lock);
	good = tree_update(tree);
	tree->lost |= !good;
	pthread_mutex_unlock(&tree->lock);
	return good;
}

size_t kept_tree_unread(struct kept_tree *tree)
{
	size_t unread;

	pthread_mutex_lock(&tree->lock);
	unread = tree->unread;
	pthread_mutex_unlock(&tree->lock);
	return unread;
}

struct cached_tree *kept_tree_take(struct kept_tree *tree)
{
	struct cached_tree *snapshot = NULL;

	pthread_mutex_lock(&tree->lock);
	if (tree_update(tree)) {
		if (!tree->current)
			tree->current = snapshot_new(tree);
		snapshot = tree->current;
		snapshot->references++;
		tree->answers++;
		kept_tree_ref(tree);
	} else {
		tree->lost = true;
	}
	pthread_mutex_unlock(&tree->lock);
	return snapshot;
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
	return signatures_answer(answers, signature);
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
	signatures_ask(&tree->signatures, &query, answers);
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

bool kept_tree_is(const struct kept_tree *tree, size_t root, const struct walk_rules *rules)
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

struct kept_tree *kept_tree_new(const struct tree_place *place)
{
	struct kept_tree *tree = mem_alloc(1, sizeof(*tree));

	*tree = (struct kept_tree){ .place = *place, .watch = WATCH_INIT };
	atomic_init(&tree->references, 1);
	copy_rules(&tree->rules, place->rules);
	tree->place.rules = &tree->rules;
	pthread_mutex_init(&tree->lock, NULL);
	pthread_rwlock_init(&tree->files_lock, NULL);
	tree_charge(tree, sizeof(*tree));
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
	watch_release(&tree->watch); /* first: nothing need be told to the kernel then */
	tree_drop_snapshot(tree);
	for (size_t i = 0; i < tree->node_count; i++) {
		tree->nodes[i]->watch = 0;
		node_free(tree, tree->nodes[i]);
	}
	signatures_release(&tree->signatures);
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
