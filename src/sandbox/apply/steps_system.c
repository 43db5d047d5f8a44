/* SPDX-License-Identifier: Apache-2.0 */
/* What commands get instead of the machine's /dev and /proc. */
#include <sys/mount.h>

#include "base/mem.h"
#include "sandbox/apply/steps_private.h"

/* Devices are the machine's own, each put over an empty file. */
static const struct {
	const char *path, *name;
} devices[] = {
	{ "/dev/null", "null" },     { "/dev/zero", "zero" },       { "/dev/full", "full" },
	{ "/dev/random", "random" }, { "/dev/urandom", "urandom" }, { "/dev/tty", "tty" },
};

static const struct {
	const char *name, *target;
} links[] = {
	{ "fd", "/proc/self/fd" },         { "stdin", "/proc/self/fd/0" },
	{ "stdout", "/proc/self/fd/1" },   { "stderr", "/proc/self/fd/2" },
	{ "ptmx", "pts/ptmx" },
};

static void add_device(struct steps *steps, struct steps *puts, int dev, size_t at)
{
	int slot = steps->slots++;

	steps_add(steps, STEP_FILE, dev, devices[at].name)->mode = 0;
	steps_add(steps, STEP_TAKE, slot, devices[at].path)->optional = true;
	steps_add(steps, STEP_SET, slot, devices[at].path)->set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
	steps_add(puts, STEP_PUT, slot, devices[at].path)->reason = SANDBOX_REASON_DEVICE;
}

static int make(struct steps *steps, const char *path, const char *type, const char *options,
                uint64_t set)
{
	int slot = steps->slots++;
	struct step *step = steps_add(steps, STEP_MAKE, slot, path);

	step->text = type;
	step->more = options;
	step->set = set;
	step->reason = SANDBOX_REASON_DEVICE;
	return slot;
}

static void put(struct steps *puts, int slot, const char *path)
{
	steps_add(puts, STEP_PUT, slot, path)->reason = SANDBOX_REASON_DEVICE;
}

int steps_devices(struct steps *steps, struct steps *puts, const struct sandbox_limits *limits)
{
	const char *shm_options = "mode=1777";
	int dev, pts, shm;

	/* What is in files there is no process's memory: it gets half of what the processes get. */
	if (limits->memory_bytes)
		shm_options = steps_text(steps, mem_printf("mode=1777,size=%llu",
		                         (unsigned long long)limits->memory_bytes / 2));
	dev = make(steps, "/dev", "tmpfs", "mode=0755,size=64k,nr_inodes=256", 0);
	steps_add(steps, STEP_FOLDER, dev, "pts")->mode = 0755;
	steps_add(steps, STEP_FOLDER, dev, "shm")->mode = 0755;
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		steps_add(steps, STEP_LINK, dev, links[i].name)->text = links[i].target;
	steps_add(puts, STEP_SET, dev, "/dev")->set =
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY;
	put(puts, dev, "/dev");
	for (size_t i = 0; i < ARRAY_LEN(devices); i++)
		add_device(steps, puts, dev, i);
	pts = make(steps, "/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620",
	           MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	put(puts, pts, "/dev/pts");
	shm = make(steps, "/dev/shm", "tmpfs", shm_options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	put(puts, shm, "/dev/shm");
	return dev;
}

void steps_proc(struct steps *steps, struct steps *puts, bool needed)
{
	/* Read-only: much of /proc/sys asks only who one is, and root outside is root inside. */
	int slot = make(steps, "/proc", "proc", "", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
	                MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY);

	/* A container that hides parts of its /proc does not get another: then Landlock alone keeps
	 * commands from looking into the machine's processes. */
	steps->steps[steps->count - 1].optional = !needed;
	put(puts, slot, "/proc");
}
