/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a tree with several threads.
 *
 * What costs is system calls, so each folder is opened once, by its path beneath the root, read
 * with large buffers, and looked at for ignore files only where its listing names some.
 *
 * Each further thread has a table of descriptors of its own (CLOSE_RANGE_UNSHARE): opening
 * and closing files then needs no lock and no atomic operations, and nothing of the process
 * is held open by a search.
 */
#include "search/scan/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "search/rules/chain.h"
#include "search/scan/listing.h"
#include "search/scan/queue.h"

/* Threads are worth their start when this many folders wait. */
enum { ENOUGH_TASKS = 8 };
/* Files handed over at a time; the others of a folder become tasks of their own. */
enum { PART_FILES = 512 };

struct scanner {
	const struct scan *scan;
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

unsigned scan_threads(const struct scan *scan)
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

static void fail(struct scanner *s, const char *path, int sys_errno)
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

static void add_name(const char ***names, size_t *count, size_t *cap, const char *name)
{
	if (*count == *cap)
		*names = mem_grow(*names, cap, *count + 1, sizeof(**names));
	(*names)[(*count)++] = name;
}

/* Whether an entry of the folder in h->path is left in. */
static bool is_wanted(struct hand *h, const struct chain *chain,
                      const struct listing_entry *entry)
{
	const struct scan *scan = h->scanner->scan;
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

static void filter(struct hand *h, const struct chain *chain)
{
	const bool hidden_out = h->scanner->scan->rules->hidden_out;

	h->file_count = h->folder_count = h->ignored = 0;
	for (size_t i = 0; i < h->listing.count; i++) {
		const struct listing_entry *entry = &h->listing.entries[i];

		if (entry->type > ENTRY_TYPE_FOLDER || (hidden_out && entry->name[0] == '.') ||
		    strcmp(entry->name, ".git") == 0 || !is_wanted(h, chain, entry))
			continue;
		if (entry->type == ENTRY_TYPE_FILE)
			add_name(&h->files, &h->file_count, &h->file_cap, entry->name);
		else
			add_name(&h->folders, &h->folder_count, &h->folder_cap, entry->name);
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

static void *run_thread(void *data);

/* The first thread starts the others once there is work for them. */
static void start_threads(struct hand *h, size_t waiting)
{
	struct scanner *s = h->scanner;

	if (h->number != 0 || s->started > 0 || waiting < ENOUGH_TASKS)
		return;
	while (s->started + 1 < s->thread_count) {
		struct hand *other = mem_alloc(1, sizeof(*other));

		*other = (struct hand){ .scanner = s, .number = s->started + 1, .root = -1 };
		if (pthread_create(&s->threads[s->started], NULL, run_thread, other) != 0) {
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
	fail(h->scanner, path, EFBIG);
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

static void visit(struct hand *h, const struct scan_folder *folder)
{
	const struct scan *scan = h->scanner->scan;

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
	const struct scan *scan = h->scanner->scan;
	struct chain *chain;
	struct scan_folder folder = { .fd = fd, .path = task->path, .path_len = task->path_len,
		                      .first_part = true };

	if (scan->visitor->enter &&
	    !scan->visitor->enter(scan->data, fd, task->path, task->path_len))
		return;
	if (!listing_read(&h->listing, fd)) {
		fail(h->scanner, task->path, errno);
		return;
	}
	chain = chain_enter(&h->scanner->base, task->above, fd,
	                    span_of(task->path, task->path_len), names_that_matter(h));
	h->path.len = 0;
	buf_append(&h->path, task->path, task->path_len);
	filter(h, chain);
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
	visit(h, &folder);
}

static void run_task(struct hand *h, const struct scan_task *task)
{
	_cleanup_fd_ int fd = chain_open(h->root, task->path_len > 0 ? task->path : ".",
	                                 O_RDONLY | O_DIRECTORY);
	struct scan_folder part;

	if (fd < 0) {
		fail(h->scanner, task->path, errno);
	} else if (!task->batch) {
		scan_folder(h, task, fd);
	} else {
		part = (struct scan_folder){
			.fd = fd,
			.path = task->path,
			.path_len = task->path_len,
			.files = scan_batch_names(task->batch) + task->from,
			.file_count = task->count,
		};
		visit(h, &part);
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
	listing_release(&h->listing);
	free(h->files);
	free(h->folders);
}

void scan_own_descriptors(int root)
{
	const unsigned keep = (unsigned)root;

	if (syscall(SYS_close_range, keep + 1, ~0U, CLOSE_RANGE_UNSHARE) == 0 && keep > 3)
		syscall(SYS_close_range, 3U, keep - 1, 0U);
}

static void *run_thread(void *data)
{
	struct hand *h = data;

	h->root = h->scanner->scan->root;
	pthread_setname_np(pthread_self(), "hasp-scan");
	scan_own_descriptors(h->root);
	run_hand(h);
	free(h);
	return NULL;
}

bool scan_run(const struct scan *scan, struct err *err)
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
