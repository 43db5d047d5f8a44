/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file whole, with its hash, or the hash already known for its content; hashes on a
 * separate thread. */
#include "file/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/private.h"

/* ---- the hashing thread: a bounded queue of pieces, in order ----------------------- */

static void *hash_pieces(void *arg)
{
	struct hasher *hasher = arg;

	pthread_mutex_lock(&hasher->lock);
	for (;;) {
		struct span piece;

		while (!hasher->count && !hasher->closed)
			pthread_cond_wait(&hasher->changed, &hasher->lock);
		if (!hasher->count)
			break;
		piece = hasher->queue[hasher->head];
		pthread_mutex_unlock(&hasher->lock);
		sha256_update(&hasher->stream, piece);
		pthread_mutex_lock(&hasher->lock);
		hasher->head = (hasher->head + 1) % HASHER_QUEUE;
		hasher->count--;
		pthread_cond_signal(&hasher->changed);
	}
	pthread_mutex_unlock(&hasher->lock);
	return NULL;
}

void snapshot_hash_start(struct hasher *hasher, size_t total)
{
	hasher->head = hasher->count = 0;
	hasher->closed = false;
	hasher->threaded = false;
	sha256_init(&hasher->stream);
	if (total <= HASHER_THREAD_BYTES)
		return;
	pthread_mutex_init(&hasher->lock, NULL);
	pthread_cond_init(&hasher->changed, NULL);
	hasher->threaded = pthread_create(&hasher->thread, NULL, hash_pieces, hasher) == 0;
	if (!hasher->threaded) {
		pthread_cond_destroy(&hasher->changed);
		pthread_mutex_destroy(&hasher->lock);
	}
}

void snapshot_hash_feed(struct hasher *hasher, struct span piece)
{
	if (!hasher->threaded) {
		sha256_update(&hasher->stream, piece);
		return;
	}
	pthread_mutex_lock(&hasher->lock);
	while (hasher->count == HASHER_QUEUE)
		pthread_cond_wait(&hasher->changed, &hasher->lock);
	hasher->queue[(hasher->head + hasher->count++) % HASHER_QUEUE] = piece;
	pthread_cond_signal(&hasher->changed);
	pthread_mutex_unlock(&hasher->lock);
}

struct sha256 snapshot_hash_finish(struct hasher *hasher)
{
	if (hasher->threaded) {
		pthread_mutex_lock(&hasher->lock);
		hasher->closed = true;
		pthread_cond_signal(&hasher->changed);
		pthread_mutex_unlock(&hasher->lock);
		pthread_join(hasher->thread, NULL);
		pthread_cond_destroy(&hasher->changed);
		pthread_mutex_destroy(&hasher->lock);
	}
	return sha256_final(&hasher->stream);
}

/* ---- reading a file with its hash ------------------------------------------------- */

/* A file that changes all the time is read this often before its last state is taken as it
 * came: it has a hash like any other, and the commit compares bytes. */
enum { TORN_MAX = 4, PIECE_BYTES = 1 << 20, HUGE_PAGE_BYTES = 2 << 20 };

void snapshot_release(struct snapshot *snapshot)
{
	place_release(&snapshot->place);
	if (snapshot->fd >= 0)
		close(snapshot->fd);
	free((void *)(uintptr_t)snapshot->content.data);
	*snapshot = (struct snapshot)SNAPSHOT_INIT;
}

static bool check_stat(const struct snapshot *snap, size_t max_bytes, struct err *err)
{
	const char *path = snap->place.path;

	if (S_ISDIR(snap->stat.st_mode))
		return err_set(err, ERR_NOT_A_FILE, "%s is a folder.", path);
	if (!S_ISREG(snap->stat.st_mode))
		return err_set(err, ERR_NOT_A_FILE, "%s is not a regular file.", path);
	if ((unsigned long long)snap->stat.st_size > max_bytes)
		return err_set(err, ERR_TOO_LARGE, "%s has %lld bytes; the limit is %zu.", path,
		               (long long)snap->stat.st_size, max_bytes);
	return true;
}

/* Reads bytes `at` and following, at most `len`; the number read, or -1 with errno set. A read that
 * ends where the file should end (`size`) is not followed by one that finds nothing. */
static ssize_t read_piece(int fd, char *data, size_t len, size_t at, size_t size)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, data + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
		if (done < len && at + done == size)
			break;
	}
	return (ssize_t)done;
}

/* A small file in one piece; its hash may be known. */
static ssize_t read_small(struct snapshot *snap, struct file_cache *cache, char *data, size_t cap)
{
	ssize_t n = read_piece(snap->fd, data, cap, 0, cap - 1);
	struct span content = span_of(data, n > 0 ? (size_t)n : 0);

	if (n < 0 || file_cache_find_sum(cache, &snap->stat, content, &snap->sha256))
		return n;
	snap->sha256 = sha256_of(content);
	file_cache_keep_sum(cache, &snap->stat, content, &snap->sha256);
	return n;
}

/* Reads up to `cap` bytes and hashes them meanwhile; the number read, or -1 with errno set. */
static ssize_t read_hashed(int fd, char *data, size_t cap, struct sha256 *ret)
{
	struct hasher hasher;
	size_t done = 0;
	ssize_t n = 0;
	int saved;

	snapshot_hash_start(&hasher, cap);
	while (done < cap) {
		size_t want = cap - done < PIECE_BYTES ? cap - done : PIECE_BYTES;

		n = read_piece(fd, data + done, want, done, cap - 1);
		if (n <= 0)
			break;
		snapshot_hash_feed(&hasher, span_of(data + done, (size_t)n));
		done += (size_t)n;
		if ((size_t)n < want)
			break;
	}
	saved = errno;
	*ret = snapshot_hash_finish(&hasher);
	errno = saved;
	return n < 0 ? -1 : (ssize_t)done;
}

bool snapshot_same_stamp(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Memory for the content; in large pages where the system gives them on request: touching
 * many small ones for the first time costs as much as reading the file. */
static char *content_alloc(size_t size)
{
	void *data = NULL;

	if (size < HASHER_THREAD_BYTES)
		return malloc(size);
	if (posix_memalign(&data, HUGE_PAGE_BYTES, size) != 0)
		return NULL;
	madvise(data, size, MADV_HUGEPAGE);
	return data;
}

/* One reading; *torn when the file changed meanwhile. A byte more than the size is
 * asked for, so that growth shows. */
static bool snapshot_read_once(struct snapshot *snap, struct file_cache *cache, bool *torn,
                               struct err *err)
{
	size_t cap = (size_t)snap->stat.st_size + 1;
	char *data = content_alloc(cap);
	struct stat after;
	ssize_t n;

	free((void *)(uintptr_t)snap->content.data);
	snap->content = span_of(data, 0);
	if (!data)
		return err_set(err, ERR_NO_RESOURCES, "There is no memory for the %zu bytes of %s.",
		               cap, snap->place.path);
	n = cap <= FILE_CACHE_CONTENT_BYTES ? read_small(snap, cache, data, cap) :
	                                   read_hashed(snap->fd, data, cap, &snap->sha256);
	if (n < 0 || fstat(snap->fd, &after) < 0)
		return err_set_errno(err, errno, "Cannot read %s", snap->place.path);
	*torn = !snapshot_same_stamp(&snap->stat, &after) || (off_t)n != after.st_size;
	snap->content.len = (size_t)n;
	snap->stat = after;
	return true;
}

static bool snapshot_read_content(struct snapshot *snap, struct file_cache *cache, size_t max_bytes,
                                  struct err *err)
{
	bool torn = true;

	for (int i = 0; torn && i < TORN_MAX; i++)
		if (!check_stat(snap, max_bytes, err) ||
		    !snapshot_read_once(snap, cache, &torn, err))
			return false;
	/* Content without a size: made by the kernel while it is read (procfs). */
	if (snap->stat.st_size == 0 && snap->content.len)
		return err_set(err, ERR_NOT_A_FILE, "%s is not a file on a disk.",
		               snap->place.path);
	return true;
}

/* Opens what the path was just seen to name. A special file is never opened for its
 * data: even opening some devices has effects. */
static bool snapshot_open_file(struct snapshot *snap, const struct stat *leaf, size_t max_bytes,
                               struct err *err)
{
	snap->stat = *leaf;
	if (!check_stat(snap, max_bytes, err))
		return false;
	snap->fd = place_open(&snap->place, O_RDONLY);
	if (snap->fd < 0 || fstat(snap->fd, &snap->stat) < 0)
		return err_set_errno(err, errno, "Cannot open %s", snap->place.path);
	return true;
}

bool snapshot_read(const struct workspace *ws, const char *path, size_t max_bytes,
                   struct snapshot *ret, struct err *err)
{
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
	struct stat leaf;

	if (max_bytes == 0)
		max_bytes = LIMIT_FILE_BYTES_DEFAULT;
	if (!workspace_resolve_stat(ws, path, PLACE_FILE, &snap.place, &leaf, err))
		return false;
	if (leaf.st_mode == 0) {
		snap.sha256 = sha256_of(span_of(NULL, 0));
	} else {
		if (!snapshot_open_file(&snap, &leaf, max_bytes, err) ||
		    !snapshot_read_content(&snap, ws->cache, max_bytes, err))
			return false;
		snap.exists = true;
	}
	*ret = snap;
	snap = (struct snapshot)SNAPSHOT_INIT;
	return true;
}

bool snapshot_content_is(int fd, const struct sha256 *sum)
{
	_cleanup_free_ char *block = mem_piece();
	struct sha256_stream stream;
	struct sha256 have;
	off_t at = 0;

	sha256_init(&stream);
	for (;;) {
		ssize_t n = pread(fd, block, MEM_PIECE_BYTES, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (n == 0)
			break;
		sha256_update(&stream, span_of(block, (size_t)n));
		at += n;
	}
	have = sha256_final(&stream);
	return sha256_eq(&have, sum);
}
