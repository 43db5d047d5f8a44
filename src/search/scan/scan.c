/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a tree with several threads.
 *
 * What costs is system calls, so each folder is opened once, by its path beneath the root, read
 * with large buffers, and looked at for ignore files only where its listing names some.
 *
 * Each further thread has a private table of descriptors (CLOSE_RANGE_UNSHARE): opening
 * and closing files then needs no lock and no atomic operations, and nothing of the process
 * is held open by a search. */
#include "search/scan/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/temporary.h"
#include "search/rules/chain.h"

/* ---- the names in one folder ---- */

enum { CHUNK = 64 << 10 };

/* What getdents64(2) fills in. */
struct entry_record {
	uint64_t ino;
	int64_t next;
	unsigned short len;
	unsigned char type;
	char name[];
};

enum entry_type scan_type_of_mode(mode_t mode)
{
	if (S_ISREG(mode))
		return ENTRY_TYPE_FILE;
	if (S_ISDIR(mode))
		return ENTRY_TYPE_FOLDER;
	return S_ISLNK(mode) ? ENTRY_TYPE_LINK : ENTRY_TYPE_OTHER;
}

/* False when the entry no longer exists. */
static bool record_type(int folder, const struct entry_record *record, enum entry_type *ret)
{
	struct stat st;

	switch (record->type) {
	case DT_REG: *ret = ENTRY_TYPE_FILE; return true;
	case DT_DIR: *ret = ENTRY_TYPE_FOLDER; return true;
	case DT_LNK: *ret = ENTRY_TYPE_LINK; return true;
	case DT_UNKNOWN: break;
	default: *ret = ENTRY_TYPE_OTHER; return true;
	}
	if (fstatat(folder, record->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	*ret = scan_type_of_mode(st.st_mode);
	return true;
}

/* Not part of the folder's contents: ".", "..", and temporary files of a concurrent edit. */
static bool is_passed_over(const char *name)
{
	struct temporary temporary;

	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0') ||
	                          temporary_parse(name, &temporary));
}

bool scan_listing_read(struct listing *listing, int folder)
{
	listing->count = 0;
	listing->names_len = 0;
	for (;;) {
		const size_t from = listing->names_len;
		long n;

		if (listing->names_cap - from < CHUNK)
			listing->names = mem_grow(listing->names, &listing->names_cap,
			                          from + CHUNK, 1);
		n = syscall(SYS_getdents64, folder, listing->names + from, (size_t)CHUNK);
		if (n == 0)
			break;
		if (n < 0)
			return false;
		listing->names_len += (size_t)n;
		/* Takes the records of one chunk, which stay where they are. */
		for (size_t at = from; at < listing->names_len;) {
			const struct entry_record *record = (const void *)(listing->names + at);
			struct listing_entry entry = { .at = at +
				                             offsetof(struct entry_record, name) };

			at += record->len;
			if (is_passed_over(record->name) ||
			    !record_type(folder, record, &entry.type))
				continue;
			entry.len = strlen(record->name);
			if (listing->count == listing->cap)
				listing->entries = mem_grow(listing->entries, &listing->cap,
				                            listing->count + 1,
				                            sizeof(*listing->entries));
			listing->entries[listing->count++] = entry;
		}
		if (listing->count > LIMIT_FOLDER_ENTRIES) {
			errno = EFBIG;
			return false;
		}
	}
	for (size_t i = 0; i < listing->count; i++)
		listing->entries[i].name = listing->names + listing->entries[i].at;
	return true;
}

void scan_listing_release(struct listing *listing)
{
	free(listing->names);
	free(listing->entries);
	*listing = (struct listing){ 0 };
}

/* ---- what the threads of a scan still have to do ---- */

/*
 *     while (scan_queue_take(&queue, &task)) {
 *             ... scan_queue_push(&queue, more, count) ...
 *             scan_task_release(&task);
 *     }
 *
 * A stack: what was pushed last, first element on top, comes out first, so that the tree is
 * taken depth first and nearly in order.  It is over when it is empty and no thread works.
 */

/* Names of a large folder's files, shared by its parts. */
struct scan_batch;

struct scan_task {
	char *path;              /* owned; the folder: "" or ends with '/' */
	size_t path_len;
	struct chain *above;     /* owned reference: the chain of the folder above */
	struct scan_batch *batch; /* owned reference; NULL: the folder is still to be read */
	size_t from, count;      /* the part of the batch */
};

struct scan_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct scan_task *tasks; /* owned */
	size_t count, cap;
	unsigned working;        /* threads between take and take */
	bool stopped;
};

struct scan_batch {
	atomic_size_t references;
	const char **names; /* owned */
	char *text;         /* owned */
};

static void batch_unref(struct scan_batch *batch);

static void scan_task_release(struct scan_task *task)
{
	free(task->path);
	chain_unref(task->above);
	batch_unref(task->batch);
}

static void scan_queue_init(struct scan_queue *queue)
{
	*queue = (struct scan_queue){ 0 };
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
}

static void scan_queue_release(struct scan_queue *queue)
{
	while (queue->count > 0)
		scan_task_release(&queue->tasks[--queue->count]);
	free(queue->tasks);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
}

/* Takes the tasks over; false when there would be too many (LIMIT_SCAN_PENDING), then they are
 * still the caller's. Returns in *ret_waiting how many wait now. */
static bool scan_queue_push(struct scan_queue *queue, const struct scan_task *tasks, size_t count,
                            size_t *ret_waiting)
{
	bool room;

	pthread_mutex_lock(&queue->lock);
	room = queue->count + count <= LIMIT_SCAN_PENDING;
	if (room) {
		if (queue->count + count > queue->cap)
			queue->tasks = mem_grow(queue->tasks, &queue->cap, queue->count + count,
			                        sizeof(*queue->tasks));
		for (size_t i = count; i-- > 0;)
			queue->tasks[queue->count++] = tasks[i];
		pthread_cond_broadcast(&queue->changed);
	}
	*ret_waiting = queue->count;
	pthread_mutex_unlock(&queue->lock);
	return room;
}

/* Waits for a task; `was_working` when the caller has just finished one. False at the end. */
static bool scan_queue_take(struct scan_queue *queue, bool was_working, struct scan_task *ret)
{
	bool taken;

	pthread_mutex_lock(&queue->lock);
	if (was_working)
		queue->working--;
	while (!queue->stopped && queue->count == 0 && queue->working > 0)
		pthread_cond_wait(&queue->changed, &queue->lock);
	taken = !queue->stopped && queue->count > 0;
	if (taken) {
		*ret = queue->tasks[--queue->count];
		queue->working++;
	} else {
		pthread_cond_broadcast(&queue->changed);
	}
	pthread_mutex_unlock(&queue->lock);
	return taken;
}

/* Everybody's next take is the last. */
static void scan_queue_stop(struct scan_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->stopped = true;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

static void batch_unref(struct scan_batch *batch)
{
	if (!batch ||
	    atomic_fetch_sub_explicit(&batch->references, 1, memory_order_acq_rel) != 1)
		return;
	free(batch->names);
	free(batch->text);
	free(batch);
}

/* Copies `count` names; one reference. */
static struct scan_batch *scan_batch_new(const char *const *names, size_t count)
{
	struct scan_batch *batch = mem_alloc(1, sizeof(*batch));
	size_t len = 0, at = 0;

	for (size_t i = 0; i < count; i++)
		len += strlen(names[i]) + 1;
	atomic_init(&batch->references, 1);
	batch->names = mem_alloc(count, sizeof(*batch->names));
	batch->text = mem_alloc(len, 1);
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(names[i]) + 1;

		batch->names[i] = memcpy(batch->text + at, names[i], size);
		at += size;
	}
	return batch;
}

static struct scan_batch *scan_batch_ref(struct scan_batch *batch)
{
	atomic_fetch_add_explicit(&batch->references, 1, memory_order_relaxed);
	return batch;
}

/* ---- the threads ---- */

/* Threads are worth their start when this many folders wait. */
enum { ENOUGH_TASKS = 8 };
/* Files handed over at a time; the others of a folder become separate tasks. */
enum { PART_FILES = 512 };

struct scanner {
	const struct tree_scan *scan;
	struct chain_base base;
	struct scan_queue queue;
	struct err *err;            /* the caller's; guarded by queue.lock until the end */
	atomic_bool failed;
	unsigned thread_count;
	unsigned started;           /* further threads; only the first thread starts any */
	pthread_t threads[SCAN_THREADS_MAX];
};

/* One thread. */
struct hand {
	struct scanner *scanner;
	unsigned number;
	int root;               /* the workspace root in this thread's table */
	struct listing listing; /* owned, reused */
	struct buf path;        /* of the entry looked at */
	const char **files, **folders; /* owned, reused; names in the listing */
	size_t file_count, file_cap, folder_count, folder_cap;
	size_t ignored;
};

unsigned scan_threads(const struct tree_scan *scan)
{
	cpu_set_t set;
	unsigned count = scan->threads;

	if (count == 0)
		count = sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set)
		                                                     : 1;
	return count < SCAN_THREADS_MAX ? count : SCAN_THREADS_MAX;
}

/* Errors that are the process's, not the folder's. */
static bool is_fatal(int sys_errno)
{
	return sys_errno == EMFILE || sys_errno == ENFILE || sys_errno == ENOMEM ||
	       sys_errno == EIO;
}

static void fail_scan(struct scanner *s, const char *path, int sys_errno)
{
	if (!is_fatal(sys_errno)) {
		if (s->scan->visitor->failed)
			s->scan->visitor->failed(s->scan->data, path, sys_errno);
		return;
	}
	if (!atomic_exchange(&s->failed, true))
		err_set_errno(s->err, sys_errno, "Cannot read the folder %s", path);
	scan_queue_stop(&s->queue);
}

static void hand_add_name(const char ***names, size_t *count, size_t *cap, const char *name)
{
	if (*count == *cap)
		*names = mem_grow(*names, cap, *count + 1, sizeof(**names));
	(*names)[(*count)++] = name;
}

/* Whether an entry of the folder in h->path is left in. */
static bool hand_takes(struct hand *h, const struct chain *chain,
                       const struct listing_entry *entry)
{
	const struct tree_scan *scan = h->scanner->scan;
	const bool is_folder = entry->type == ENTRY_TYPE_FOLDER;
	const size_t folder_len = h->path.len;
	enum scan_choice choice = SCAN_TAKE;

	if (!buf_append(&h->path, entry->name, entry->len))
		return false;
	if (chain_ignores(&h->scanner->base, chain, buf_view(&h->path), is_folder))
		choice = SCAN_LEAVE_OUT;
	else if (scan->visitor->wanted)
		choice = scan->visitor->wanted(scan->data, buf_view(&h->path), is_folder);
	h->path.len = folder_len;
	if (choice == SCAN_LEAVE_OUT)
		h->ignored++;
	return choice == SCAN_TAKE;
}

static void hand_filter(struct hand *h, const struct chain *chain)
{
	const bool hidden_out = h->scanner->scan->rules->hidden_out;

	h->file_count = h->folder_count = h->ignored = 0;
	for (size_t i = 0; i < h->listing.count; i++) {
		const struct listing_entry *entry = &h->listing.entries[i];

		if (entry->type > ENTRY_TYPE_FOLDER || (hidden_out && entry->name[0] == '.') ||
		    strcmp(entry->name, ".git") == 0 || !hand_takes(h, chain, entry))
			continue;
		if (entry->type == ENTRY_TYPE_FILE)
			hand_add_name(&h->files, &h->file_count, &h->file_cap, entry->name);
		else
			hand_add_name(&h->folders, &h->folder_count, &h->folder_cap, entry->name);
	}
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Folders sort as if their names ended in '/', as their paths do. */
static int compare_folders(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;

	while (*x && *x == *y)
		x++, y++;
	return (*x ? (unsigned char)*x : '/') - (*y ? (unsigned char)*y : '/');
}

static void *scan_run_thread(void *data);

/* The first thread starts the others once there is work for them. */
static void start_threads(struct hand *h, size_t waiting)
{
	struct scanner *s = h->scanner;

	if (h->number != 0 || s->started > 0 || waiting < ENOUGH_TASKS)
		return;
	while (s->started + 1 < s->thread_count) {
		struct hand *other = mem_alloc(1, sizeof(*other));

		*other = (struct hand){ .scanner = s, .number = s->started + 1, .root = -1 };
		if (pthread_create(&s->threads[s->started], NULL, scan_run_thread, other) != 0) {
			free(other);
			s->thread_count = s->started + 1;
			return;
		}
		s->started++;
	}
}

static void push(struct hand *h, struct scan_task *tasks, size_t count, const char *path)
{
	size_t waiting;

	if (count == 0)
		return;
	if (scan_queue_push(&h->scanner->queue, tasks, count, &waiting)) {
		start_threads(h, waiting);
		return;
	}
	for (size_t i = 0; i < count; i++)
		scan_task_release(&tasks[i]);
	fail_scan(h->scanner, path, EFBIG);
}

static void push_folders(struct hand *h, struct chain *chain, const char *path)
{
	_cleanup_free_ struct scan_task *tasks = mem_alloc(h->folder_count + 1, sizeof(*tasks));

	for (size_t i = 0; i < h->folder_count; i++) {
		tasks[i].path = mem_printf("%s%s/", path, h->folders[i]);
		tasks[i].path_len = strlen(tasks[i].path);
		tasks[i].above = chain_ref(chain);
	}
	push(h, tasks, h->folder_count, path);
}

/* The files from `from` on become tasks that other threads can take. */
static void push_parts(struct hand *h, const struct scan_task *task, size_t from)
{
	size_t count = 0, files = h->file_count - from;
	_cleanup_free_ struct scan_task *tasks =
		mem_alloc(files / PART_FILES + 1, sizeof(*tasks));
	struct scan_batch *batch = scan_batch_new(h->files + from, files);

	for (size_t at = 0; at < files; at += PART_FILES) {
		size_t left = files - at;

		tasks[count++] = (struct scan_task){
			.path = mem_dup(task->path, task->path_len),
			.path_len = task->path_len,
			.batch = at == 0 ? batch : scan_batch_ref(batch),
			.from = at,
			.count = left < PART_FILES ? left : PART_FILES,
		};
	}
	push(h, tasks, count, task->path);
}

static void scan_folder(struct hand *h, const struct scan_task *task, int fd);

static void visit_folder(struct hand *h, const struct scan_folder *folder)
{
	const struct tree_scan *scan = h->scanner->scan;

	if (!scan->visitor->visit(scan->data, h->number, folder))
		scan_queue_stop(&h->scanner->queue);
}

static unsigned names_that_matter(const struct hand *h)
{
	const struct walk_rules *rules = h->scanner->scan->rules;
	unsigned names = 0;

	for (size_t i = 0; i < h->listing.count; i++)
		if (h->listing.entries[i].name[0] == '.' || rules->ignore_file_count > 0)
			names |= chain_name(rules, h->listing.entries[i].name);
	return names;
}

static void scan_folder(struct hand *h, const struct scan_task *task, int fd)
{
	const struct tree_scan *scan = h->scanner->scan;
	struct chain *chain;
	struct scan_folder folder = { .fd = fd, .path = task->path, .path_len = task->path_len,
		                      .first_part = true };

	if (scan->visitor->enter &&
	    !scan->visitor->enter(scan->data, fd, task->path, task->path_len))
		return;
	if (!scan_listing_read(&h->listing, fd)) {
		fail_scan(h->scanner, task->path, errno);
		return;
	}
	chain = chain_enter(&h->scanner->base, task->above, fd,
	                    span_of(task->path, task->path_len), names_that_matter(h));
	h->path.len = 0;
	buf_append(&h->path, task->path, task->path_len);
	hand_filter(h, chain);
	if (h->file_count > 1)
		qsort(h->files, h->file_count, sizeof(*h->files), compare_files);
	if (h->folder_count > 1)
		qsort(h->folders, h->folder_count, sizeof(*h->folders), compare_folders);
	if (!scan->one_folder)
		push_folders(h, chain, task->path);
	chain_unref(chain);
	if (h->file_count > PART_FILES)
		push_parts(h, task, PART_FILES);
	folder.files = h->files;
	folder.file_count = h->file_count < PART_FILES ? h->file_count : PART_FILES;
	folder.folders = h->folders;
	folder.folder_count = h->folder_count;
	folder.ignored = h->ignored;
	visit_folder(h, &folder);
}

static void run_task(struct hand *h, const struct scan_task *task)
{
	_cleanup_fd_ int fd = chain_open(h->root, task->path_len > 0 ? task->path : ".",
	                                 O_RDONLY | O_DIRECTORY);
	struct scan_folder part;

	if (fd < 0) {
		fail_scan(h->scanner, task->path, errno);
	} else if (!task->batch) {
		scan_folder(h, task, fd);
	} else {
		part = (struct scan_folder){
			.fd = fd,
			.path = task->path,
			.path_len = task->path_len,
			.files = task->batch->names + task->from,
			.file_count = task->count,
		};
		visit_folder(h, &part);
	}
}

static void run_hand(struct hand *h)
{
	struct scan_task task;
	bool working = false;

	/* The kernel opens no longer path, and a name in it is at most 255 bytes. */
	h->path = (struct buf)BUF_INIT(LIMIT_PATH_BYTES + 512);
	while (scan_queue_take(&h->scanner->queue, working, &task)) {
		working = true;
		run_task(h, &task);
		scan_task_release(&task);
	}
	buf_release(&h->path);
	scan_listing_release(&h->listing);
	free(h->files);
	free(h->folders);
}

void scan_own_descriptors(int root)
{
	const unsigned keep = (unsigned)root;

	if (syscall(SYS_close_range, keep + 1, ~0U, CLOSE_RANGE_UNSHARE) == 0 && keep > 3)
		syscall(SYS_close_range, 3U, keep - 1, 0U);
}

static void *scan_run_thread(void *data)
{
	struct hand *h = data;

	h->root = h->scanner->scan->root;
	pthread_setname_np(pthread_self(), "hasp-scan");
	scan_own_descriptors(h->root);
	run_hand(h);
	free(h);
	return NULL;
}

bool scan_run(const struct tree_scan *scan, struct err *err)
{
	struct scanner s = {
		.scan = scan,
		.base = { scan->rules, scan->root, scan->root_path, scan->global },
		.err = err,
		.thread_count = scan_threads(scan),
	};
	struct hand first = { .scanner = &s, .root = scan->root };
	struct scan_task task = { .path_len = strlen(scan->start) };
	size_t waiting;

	scan_queue_init(&s.queue);
	task.path = mem_dup(scan->start, task.path_len);
	task.above = chain_approach(&s.base, scan->start);
	scan_queue_push(&s.queue, &task, 1, &waiting);
	run_hand(&first);
	for (unsigned i = 0; i < s.started; i++)
		pthread_join(s.threads[i], NULL);
	scan_queue_release(&s.queue);
	return !atomic_load(&s.failed);
}
