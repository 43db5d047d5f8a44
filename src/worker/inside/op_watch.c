/* SPDX-License-Identifier: Apache-2.0 */
/* Watching files, by inotify on the folders they are in.
 *
 * A watch is on the deepest folder of its path that exists, and waits for one name in it: the
 * file's, or that of the first folder that is missing.  So it survives replacement by rename,
 * deletion and re-creation, also of the folders.  Any event about that name, or about the folder
 * itself, makes the watch due; when the events have calmed down the path is resolved again and the
 * file's stamp compared with the last one: what left the file as it was is not reported.  When the
 * kernel's queue overflowed, all watches are due.
 *
 * Not seen: writes through a shared mapping, changes that another machine makes to a file
 * system (NFS), those made under another name of the same file (hard links), and the
 * renaming of a folder further up, until something happens in the file's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "worker/inside/inprocess.h"

enum {
	QUIET_MS = 30,    /* without an event, before a change is reported */
	PATIENCE_MS = 300, /* after the first event it is reported in any case */
	EVENT_BYTES = 8 << 10,
	RETRY_MS = 1000,  /* for a path that leads nowhere while its old folder is missing */
	ARM_TRIES = 8,    /* a path that changes all the time is watched where it was last */
};

static const uint32_t EVENTS = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |
                               IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                               IN_ONLYDIR | IN_EXCL_UNLINK;

/* What distinguishes one state of a file from another. */
struct stamp {
	bool exists;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

struct provider_watch {
	struct provider_watch *next, **at;
	char *path;      /* owned; as it was asked for */
	void (*changed)(void *data);
	void *data;
	int folder;      /* watch descriptor; -1: none */
	char *name;      /* owned; that is waited for in the folder */
	struct stamp stamp;
	int64_t first_ms; /* of the events that are not reported yet; 0: none */
	int64_t last_ms;
};

struct watcher {
	const struct workspace *workspace; /* borrowed */
	pthread_mutex_t lock;
	pthread_cond_t called;  /* a `changed` has returned */
	struct provider_watch *watches;
	size_t count;
	struct provider_watch *calling;  /* whose `changed` is running */
	pthread_t thread;
	bool started, stopping;
	int inotify, wake;      /* -1 before it is started */
};

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
	return a->exists == b->exists && a->device == b->device && a->inode == b->inode &&
	       a->size == b->size && same_time(&a->modified, &b->modified) &&
	       same_time(&a->changed, &b->changed);
}

/* ---- arming ---------------------------------------------------------------- */

/* The name that is waited for in place->folder: the leaf, or the first missing folder. */
static char *awaited_name(const struct place *place)
{
	if (!place->missing)
		return mem_strdup(place->leaf);
	return mem_dup(place->missing, strcspn(place->missing, "/"));
}

static struct stamp stamp_of(const struct place *place)
{
	struct stat st;

	if (place->missing || fstatat(place->folder, place->leaf, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return (struct stamp){ .exists = false };
	return (struct stamp){ true, st.st_dev, st.st_ino, st.st_size, st.st_mtim, st.st_ctim };
}

/* Stops watching a folder that no watch is in any more. */
static void leave_folder(struct watcher *watcher, int folder)
{
	if (folder < 0)
		return;
	for (const struct provider_watch *watch = watcher->watches; watch; watch = watch->next)
		if (watch->folder == folder)
			return;
	inotify_rm_watch(watcher->inotify, folder);
}

static bool watch_add_folder(struct watcher *watcher, const struct place *place, int *ret,
                             struct err *err)
{
	char path[40];

	/* By its descriptor: whatever the path's name means by now, it is this folder. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place->folder);
	*ret = inotify_add_watch(watcher->inotify, path, EVENTS);
	if (*ret >= 0)
		return true;
	if (errno == ENOSPC)
		return err_set(err, ERR_TOO_LARGE,
		               "%s cannot be watched: the system's limit of watches is reached "
		               "(fs.inotify.max_user_watches).", place->path);
	return err_set_errno(err, errno, "%s cannot be watched", place->path);
}

static void set_folder(struct watcher *watcher, struct provider_watch *watch, int folder,
                       char *name)
{
	int old = watch->folder;

	watch->folder = folder;
	free(watch->name);
	watch->name = name;
	if (old != folder)
		leave_folder(watcher, old);
}

/* Puts the watch where its path leads now.  The folder is watched before it is looked into, and
 * the path resolved again until both agree, so that no change falls between. */
static bool arm(struct watcher *watcher, struct provider_watch *watch, struct err *err)
{
	for (int i = 0; i < ARM_TRIES; i++) {
		_cleanup_place_ struct place place = PLACE_INIT;
		char *name;
		bool settled;
		int folder;

		if (!workspace_resolve(watcher->workspace, watch->path, PLACE_FILE, &place, err) ||
		    !watch_add_folder(watcher, &place, &folder, err))
			return false;
		name = awaited_name(&place);
		settled = folder == watch->folder && strcmp(name, watch->name) == 0;
		set_folder(watcher, watch, folder, name);
		watch->stamp = stamp_of(&place);
		if (settled)
			return true;
	}
	return true;
}

/* ---- the thread ------------------------------------------------------------ */

static void watch_mark(struct provider_watch *watch, int64_t now)
{
	if (!watch->first_ms)
		watch->first_ms = now;
	watch->last_ms = now;
}

static void watcher_take_event(struct watcher *watcher, const struct inotify_event *event,
                               int64_t now)
{
	bool folder_itself = event->len == 0;

	for (struct provider_watch *watch = watcher->watches; watch; watch = watch->next) {
		if (!(event->mask & IN_Q_OVERFLOW) &&
		    (watch->folder != event->wd ||
		     (!folder_itself && strcmp(watch->name, event->name) != 0)))
			continue;
		if (event->mask & IN_IGNORED)
			watch->folder = -1; /* the folder no longer exists; its number may be
			                     * reused */
		watch_mark(watch, now);
	}
}

static void take_events(struct watcher *watcher)
{
	_Alignas(struct inotify_event) char bytes[EVENT_BYTES];
	ssize_t got = read(watcher->inotify, bytes, sizeof(bytes));
	int64_t now = clock_monotonic_ms();

	for (ssize_t at = 0; at < got;) {
		const struct inotify_event *event = (const struct inotify_event *)(bytes + at);

		watcher_take_event(watcher, event, now);
		at += (ssize_t)(sizeof(*event) + event->len);
	}
}

static int64_t due_ms(const struct provider_watch *watch)
{
	int64_t quiet = watch->last_ms + QUIET_MS, latest = watch->first_ms + PATIENCE_MS;

	return quiet < latest ? quiet : latest;
}

/* Looks at one watch that is due; reports a change without the lock. */
static void settle_watch(struct watcher *watcher, struct provider_watch *watch)
{
	struct stamp before = watch->stamp;
	struct err err = ERR_INIT;

	watch->first_ms = 0;
	/* To its watchers, a path that now leads outside is a removed file. */
	if (!arm(watcher, watch, &err)) {
		watch->stamp = (struct stamp){ .exists = false };
		if (watch->folder < 0)
			watch_mark(watch, clock_monotonic_ms() + RETRY_MS);
	}
	if (same_stamp(&before, &watch->stamp))
		return;
	watcher->calling = watch;
	pthread_mutex_unlock(&watcher->lock);
	watch->changed(watch->data);
	pthread_mutex_lock(&watcher->lock);
	watcher->calling = NULL;
	pthread_cond_broadcast(&watcher->called);
}

static struct provider_watch *find_due(struct watcher *watcher, int64_t now)
{
	for (struct provider_watch *watch = watcher->watches; watch; watch = watch->next)
		if (watch->first_ms && due_ms(watch) <= now)
			return watch;
	return NULL;
}

/* Milliseconds until the next watch is due; -1: none is. */
static int ms_until_due(const struct watcher *watcher)
{
	int64_t now = clock_monotonic_ms(), left = -1;

	for (const struct provider_watch *watch = watcher->watches; watch; watch = watch->next) {
		int64_t own = watch->first_ms ? due_ms(watch) - now : -1;

		if (watch->first_ms && (left < 0 || own < left))
			left = own > 0 ? own : 0;
	}
	return (int)left;
}

static void *run_watcher(void *data)
{
	struct watcher *watcher = data;
	struct pollfd fds[] = { { .fd = watcher->inotify, .events = POLLIN },
		                { .fd = watcher->wake, .events = POLLIN } };

	pthread_mutex_lock(&watcher->lock);
	while (!watcher->stopping) {
		int left = ms_until_due(watcher);
		struct provider_watch *due;

		pthread_mutex_unlock(&watcher->lock);
		poll(fds, ARRAY_LEN(fds), left);
		pthread_mutex_lock(&watcher->lock);
		take_events(watcher);
		while (!watcher->stopping && (due = find_due(watcher, clock_monotonic_ms())))
			settle_watch(watcher, due);
	}
	pthread_mutex_unlock(&watcher->lock);
	return NULL;
}

static bool start_watcher(struct watcher *watcher, struct err *err)
{
	if (watcher->started)
		return true;
	if (watcher->inotify < 0)
		watcher->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watcher->wake < 0)
		watcher->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watcher->inotify < 0 || watcher->wake < 0)
		return err_set_errno(err, errno, "Files cannot be watched");
	errno = pthread_create(&watcher->thread, NULL, run_watcher, watcher);
	if (errno)
		return err_set_errno(err, errno, "Files cannot be watched");
	watcher->started = true;
	return true;
}

/* ---- the operation --------------------------------------------------------- */

struct watcher *op_watch_new(const struct workspace *workspace)
{
	struct watcher *watcher = mem_alloc(1, sizeof(*watcher));

	*watcher = (struct watcher){ .workspace = workspace, .inotify = -1, .wake = -1 };
	pthread_mutex_init(&watcher->lock, NULL);
	pthread_cond_init(&watcher->called, NULL);
	return watcher;
}

void op_watch_free(struct watcher *watcher)
{
	const uint64_t one = 1;

	if (!watcher)
		return;
	if (watcher->started) {
		pthread_mutex_lock(&watcher->lock);
		watcher->stopping = true;
		pthread_mutex_unlock(&watcher->lock);
		fd_write_all(watcher->wake, &one, sizeof(one));
		pthread_join(watcher->thread, NULL);
	}
	fd_cleanup_close(&watcher->inotify);
	fd_cleanup_close(&watcher->wake);
	pthread_cond_destroy(&watcher->called);
	pthread_mutex_destroy(&watcher->lock);
	free(watcher);
}

static void free_watch(struct provider_watch *watch)
{
	free(watch->path);
	free(watch->name);
	free(watch);
}

static bool watch_begin(struct watcher *watcher, struct provider_watch *watch, struct err *err)
{
	if (watcher->count >= LIMIT_WATCHES)
		return err_set(err, ERR_TOO_LARGE, "At most %d files can be watched.",
		               LIMIT_WATCHES);
	if (!start_watcher(watcher, err) || !arm(watcher, watch, err))
		return false;
	watch->next = watcher->watches;
	watch->at = &watcher->watches;
	if (watch->next)
		watch->next->at = &watch->next;
	watcher->watches = watch;
	watcher->count++;
	return true;
}

bool op_watch(struct watcher *watcher, const struct watch_request *request,
              struct provider_watch **ret, struct err *err)
{
	struct provider_watch *watch = mem_alloc(1, sizeof(*watch));
	bool ok;

	watch->path = mem_strdup(request->path);
	watch->name = mem_strdup("");
	watch->folder = -1;
	watch->changed = request->changed;
	watch->data = request->data;
	pthread_mutex_lock(&watcher->lock);
	ok = watch_begin(watcher, watch, err);
	if (!ok)
		leave_folder(watcher, watch->folder);
	pthread_mutex_unlock(&watcher->lock);
	if (ok)
		*ret = watch;
	else
		free_watch(watch);
	return ok;
}

void op_watch_end(struct watcher *watcher, struct provider_watch *watch)
{
	pthread_mutex_lock(&watcher->lock);
	while (watcher->calling == watch)
		pthread_cond_wait(&watcher->called, &watcher->lock);
	*watch->at = watch->next;
	if (watch->next)
		watch->next->at = watch->at;
	watcher->count--;
	leave_folder(watcher, watch->folder);
	pthread_mutex_unlock(&watcher->lock);
	free_watch(watch);
}
