/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes lie that a call hands to the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

enum { SLOT_BYTES = 32768, SLOTS = 4, PAGE = 4096 };

static char *slots[SLOTS];

/* ---- memory that a program may read, and its tracer perhaps not ---- */

static char *slot_map(int slot, int flags, int fd)
{
	if (slots[slot])
		munmap(slots[slot], SLOT_BYTES);
	slots[slot] = mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
	return slots[slot] == MAP_FAILED ? NULL : slots[slot];
}

static const void *place_plain(int slot, const void *bytes, const void *other, size_t size)
{
	char *at = slot_map(slot, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)other;
	return at ? memcpy(at, bytes, size) : NULL;
}

static const void *place_exec_only(int slot, const void *bytes, const void *other, size_t size)
{
	const char *at = place_plain(slot, bytes, other, size);

	return at && mprotect(slots[slot], SLOT_BYTES, PROT_EXEC) == 0 ? at : NULL;
}

static const void *place_no_access(int slot, const void *bytes, const void *other, size_t size)
{
	const char *at = place_plain(slot, bytes, other, size);

	/* A file's pages without any right, in the middle of a path. */
	return at && mprotect(slots[slot] + PAGE, SLOT_BYTES - PAGE, PROT_NONE) == 0 ? at : NULL;
}

static const void *place_secret(int slot, const void *bytes, const void *other, size_t size)
{
	int fd = (int)syscall(447 /* memfd_secret */, 0);
	char *at;

	(void)other;
	if (fd < 0 || ftruncate(fd, SLOT_BYTES) != 0)
		return NULL;
	at = slot_map(slot, MAP_SHARED, fd);
	close(fd);
	return at ? memcpy(at, bytes, size) : NULL;
}

/* The last byte is the last of its page, and there is nothing behind it. */
static const void *place_page_end(int slot, const void *bytes, const void *other, size_t size)
{
	char *at = slot_map(slot, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)other;
	if (!at || munmap(at + SLOT_BYTES - PAGE, PAGE) != 0)
		return NULL;
	return memcpy(at + SLOT_BYTES - PAGE - size, bytes, size);
}

/* ---- memory that changes while it is looked at ---- */

/* One byte goes to and fro: the other text's and this one's. */
static struct {
	_Atomic(volatile char *) at;
	volatile char one, two;
	atomic_bool ended;
} *flip;

static pthread_t flipper;
static bool flipper_runs;
static pid_t flipper_process;

static void flip_for_ever(void)
{
	while (!atomic_load(&flip->ended)) {
		volatile char *at = atomic_load(&flip->at);

		if (!at)
			continue;
		*at = flip->two;
		*at = flip->one;
	}
}

static void *flip_thread(void *data)
{
	flip_for_ever();
	return data;
}

/* In memory that is never unmapped, and shared with the process that was made before. */
static const void *place_flipping(int slot, const void *bytes, const void *other, size_t size)
{
	char *at = (char *)flip + PAGE + (size_t)slot * SLOT_BYTES;
	size_t i = 0;

	if (slot == 0)
		atomic_store(&flip->at, NULL);
	memcpy(at, bytes, size);
	while (other && i < size && ((const char *)bytes)[i] == ((const char *)other)[i])
		i++;
	if (other && i < size) {
		flip->one = ((const char *)bytes)[i];
		flip->two = ((const char *)other)[i];
		atomic_store(&flip->at, at + i);
	}
	return at;
}

/* ---- memory whose pages a thread of ours gives, at each reading another one ---- */

static struct {
	int fd;
	char *pages;   /* that are handed out in turn: the other text's, this one's */
	atomic_uint given;
	bool runs;
	pthread_t thread;
} fault = { .fd = -1 };

/* By the call, or by the device; also for what the kernel reads itself, or not at all. */
static int fault_open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	int device = fd < 0 ? open("/dev/userfaultfd", O_RDWR | O_CLOEXEC) : -1;

	if (device >= 0) {
		fd = ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK);
		close(device);
	}
	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A page that was read is taken away again, so that the next reader waits for another. */
static void fault_forget(void)
{
	for (int slot = 0; slot < SLOTS; slot++)
		if (slots[slot])
			madvise(slots[slot], SLOT_BYTES, MADV_DONTNEED);
}

static void *fault_thread(void *data)
{
	struct pollfd ready = { .fd = fault.fd, .events = POLLIN };
	struct uffd_msg message;

	while (!atomic_load(&flip->ended)) {
		if (poll(&ready, 1, 1) <= 0)
			fault_forget();
		while (read(fault.fd, &message, sizeof(message)) == sizeof(message)) {
			size_t at = (size_t)message.arg.pagefault.address & ~(size_t)(PAGE - 1);
			size_t slot = 0;

			while (slot < SLOTS && (at < (size_t)slots[slot] ||
			                        at >= (size_t)slots[slot] + SLOT_BYTES))
				slot++;
			if (slot == SLOTS)
				continue;
			size_t turn = atomic_fetch_add(&fault.given, 1) % 2;
			struct uffdio_copy copy = { .dst = at, .len = PAGE, .src = (size_t)(
				fault.pages + (2 * slot + turn) * SLOT_BYTES +
				(at - (size_t)slots[slot])) };

			struct uffdio_range woken = { at, PAGE };

			while (ioctl(fault.fd, UFFDIO_COPY, &copy) != 0 && errno == EAGAIN)
				copy.copy = 0;
			ioctl(fault.fd, UFFDIO_WAKE, &woken); /* it may be there already */
		}
	}
	return data;
}

static const void *place_faulting(int slot, const void *bytes, const void *other, size_t size)
{
	char *at = slots[slot] ? slots[slot] :
	                         slot_map(slot, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct uffdio_register range = { .range = { (size_t)at, SLOT_BYTES },
		                         .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (!at || fault.fd < 0 || ioctl(fault.fd, UFFDIO_REGISTER, &range) != 0)
		return NULL;
	memcpy(fault.pages + 2 * slot * SLOT_BYTES, other ? other : bytes, size);
	memcpy(fault.pages + (2 * slot + 1) * SLOT_BYTES, bytes, size);
	madvise(at, SLOT_BYTES, MADV_DONTNEED);
	return at;
}

static bool fault_prepare(void)
{
	fault.pages = mmap(NULL, 2 * SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fault.fd = fault_open();
	fault.runs = fault.fd >= 0 && fault.pages != MAP_FAILED &&
	             pthread_create(&fault.thread, NULL, fault_thread, NULL) == 0;
	return fault.runs;
}

bool texts_prepare(const struct text_kind *kind)
{
	flip = mmap(NULL, PAGE + SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE,
	            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (flip == MAP_FAILED)
		return false;
	if (strcmp(kind->name, "thread") == 0) {
		flipper_runs = pthread_create(&flipper, NULL, flip_thread, NULL) == 0;
		return flipper_runs;
	}
	if (strcmp(kind->name, "faulting") == 0)
		return fault_prepare();
	if (strcmp(kind->name, "process") == 0) {
		flipper_process = fork();
		if (flipper_process == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			flip_for_ever();
			_exit(0);
		}
		return flipper_process > 0;
	}
	return kind->place(0, "", NULL, 1) != NULL;
}

void texts_end(void)
{
	atomic_store(&flip->ended, true);
	if (flipper_runs)
		pthread_join(flipper, NULL);
	if (fault.runs)
		pthread_join(fault.thread, NULL);
	if (flipper_process > 0)
		waitpid(flipper_process, NULL, 0);
}

const struct text_kind texts[] = {
	{ "plain", 1, place_plain },
	{ "exec-only", 1, place_exec_only },
	{ "no-access-behind", 1, place_no_access },
	{ "secret", 1, place_secret },
	{ "page-end", 1, place_page_end },
	{ "thread", 20, place_flipping },
	{ "process", 20, place_flipping },
	{ "faulting", 20, place_faulting },
	{ 0 },
};
