/* SPDX-License-Identifier: Apache-2.0 */
/* The landlock level: System V shared memory of the command's own.
 *
 * There is no IPC namespace, so the segments of all the machine's programs are there.  The
 * supervisor makes those that a command asks for, always without a key: nobody outside finds
 * them by one, and what the command names by a key is looked up here.  shmat and shmctl go on to
 * the kernel for these alone; their number is an argument, not memory, so it cannot be exchanged.
 * Numbers count on when a segment goes, so an old one does not soon mean another's.
 *
 * Each segment is attached here and marked for removal at once: attaching by number still
 * works (shmctl(2), Linux), and it goes with the last process, however the supervisor ends.
 * Not here: semaphores and messages, which have no such mark and would stay for ever.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "base/mem.h"
#include "sandbox/supervise/internal.h"

#define IPC_64 0x100 /* a bit that old systems set in the command of shmctl */

struct segment {
	struct segment *next;
	key_t key;    /* IPC_PRIVATE: it has none */
	int id;
	size_t size;
	void *memory; /* attached, and never looked at */
};

static struct segment **find_id(struct supervisor *supervisor, int id)
{
	struct segment **at = &supervisor->segments;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static const struct segment *find_key(const struct supervisor *supervisor, key_t key)
{
	const struct segment *segment = supervisor->segments;

	while (segment && (key == IPC_PRIVATE || segment->key != key))
		segment = segment->next;
	return segment;
}

static void segment_remove(struct supervisor *supervisor, struct segment **at)
{
	struct segment *segment = *at;

	*at = segment->next;
	shmdt(segment->memory);
	free(segment);
	supervisor->segment_count--;
}

void segments_free(struct supervisor *supervisor)
{
	while (supervisor->segments)
		segment_remove(supervisor, &supervisor->segments);
}

/* Of the mode, what others may do is left out. */
static struct answer make_segment(struct supervisor *supervisor, key_t key, size_t size, int flags)
{
	struct segment *segment;
	void *memory;
	int id;

	if (supervisor->segment_count >= LIMIT_SHARED_SEGMENTS)
		return answer_error(ENOSPC);
	id = shmget(IPC_PRIVATE, size, IPC_CREAT | (flags & 0700));
	if (id < 0)
		return answer_error(errno);
	memory = shmat(id, NULL, SHM_RDONLY);
	if (memory == (void *)-1) {
		int error = errno;

		shmctl(id, IPC_RMID, NULL);
		return answer_error(error);
	}
	shmctl(id, IPC_RMID, NULL);
	segment = mem_alloc(1, sizeof(*segment));
	*segment = (struct segment){ .next = supervisor->segments, .key = key, .id = id,
		.size = size, .memory = memory };
	supervisor->segments = segment;
	supervisor->segment_count++;
	return answer_of(id);
}

struct answer handle_shmget(const struct call *call, const struct handler *row)
{
	const key_t key = (key_t)call->args[0];
	const int flags = (int)call->args[2];
	const struct segment *segment = find_key(call->supervisor, key);

	(void)row;
	if (!segment && key != IPC_PRIVATE && !(flags & IPC_CREAT))
		return answer_error(ENOENT);
	if (!segment)
		return make_segment(call->supervisor, key, call->args[1], flags);
	if ((flags & (IPC_CREAT | IPC_EXCL)) == (IPC_CREAT | IPC_EXCL))
		return answer_error(EEXIST);
	return call->args[1] > segment->size ? answer_error(EINVAL) : answer_of(segment->id);
}

struct answer handle_shmat(const struct call *call, const struct handler *row)
{
	if (!*find_id(call->supervisor, (int)call->args[0]))
		return handle_refuse(call, row);
	return answer_go_on();
}

/* Looking at it and removing it.  The others look at all the machine's segments, or give one away. */
struct answer handle_shmctl(const struct call *call, const struct handler *row)
{
	struct segment **at = find_id(call->supervisor, (int)call->args[0]);
	const int command = (int)call->args[1] & ~IPC_64;

	if (!*at || (command != IPC_STAT && command != IPC_RMID))
		return handle_refuse(call, row);
	if (command == IPC_STAT)
		return answer_go_on();
	segment_remove(call->supervisor, at);
	return answer_made(0);
}
