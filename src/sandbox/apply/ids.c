/* SPDX-License-Identifier: Apache-2.0 */
/* Id maps (user_namespaces(7)) and capabilities (capabilities(7)). */
#include "sandbox/apply/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"

/* The kernel takes a map of up to 340 lines, in one write of less than a page. */
enum { MAP_BYTES = 4096 };

static const char *const map_names[] = { "uid_map", "gid_map" };

static int write_file(pid_t child, const char *name, const char *text)
{
	size_t len = strlen(text);
	char path[64];
	_cleanup_fd_ int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)child, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	return write(fd, text, len) == (ssize_t)len ? 0 : errno;
}

/* This process's own map ("inside outside count" a line), each id to itself: what has an id here keeps
 * it. NULL when it cannot be read. */
static char *identity_map(const char *name)
{
	_cleanup_free_ char *path = mem_printf("/proc/self/%s", name);
	_cleanup_buf_ struct buf text = BUF_INIT(MAP_BYTES);
	FILE *file = fopen(path, "re");
	unsigned long inside, outside, count;

	while (file && fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3)
		buf_printf(&text, "%lu %lu %lu\n", inside, inside, count);
	if (file)
		fclose(file);
	return text.len && !text.overflowed ? buf_steal(&text) : NULL;
}

void ids_prepare(struct ids *ret)
{
	const unsigned own[] = { geteuid(), getegid() };

	*ret = (struct ids){ 0 };
	for (size_t i = 0; i < ARRAY_LEN(map_names); i++) {
		ret->own[i] = mem_printf("%u %u 1\n", own[i], own[i]);
		/* Only who may set any id may map any. */
		if (geteuid() == 0)
			ret->all[i] = identity_map(map_names[i]);
	}
}

void ids_release(struct ids *ids)
{
	for (size_t i = 0; i < ARRAY_LEN(map_names); i++) {
		free(ids->all[i]);
		free(ids->own[i]);
	}
	*ids = (struct ids){ 0 };
}

static int map(const struct ids *ids, size_t which, pid_t child)
{
	const char *name = map_names[which];

	if (ids->all[which] && write_file(child, name, ids->all[which]) == 0)
		return 0;
	return write_file(child, name, ids->own[which]);
}

int ids_map(const struct ids *ids, pid_t child)
{
	int error = map(ids, 0, child);

	if (error == 0)
		error = write_file(child, "setgroups", "deny");
	if (error == 0)
		error = map(ids, 1, child);
	return error;
}

uint64_t caps_kept(const struct sandbox_plan *plan)
{
	if (plan->use != SANDBOX_USE_FILES || geteuid() != 0)
		return 0;
	return UINT64_C(1) << CAP_CHOWN | UINT64_C(1) << CAP_DAC_OVERRIDE | UINT64_C(1) << CAP_FOWNER |
	       UINT64_C(1) << CAP_FSETID;
}

static bool drop_bounding(uint64_t kept)
{
	for (unsigned long cap = 0; cap < 64; cap++) {
		if (kept >> cap & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		/* EINVAL: after the last one. EPERM: without CAP_SETPCAP; then there is nothing to gain
		 * from the set either, because of no_new_privs. */
		return errno == EINVAL || errno == EPERM;
	}
	return true;
}

int caps_drop(uint64_t kept)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)kept, .permitted = (uint32_t)kept },
		{ .effective = (uint32_t)(kept >> 32), .permitted = (uint32_t)(kept >> 32) },
	};
	unsigned long bits = SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	/* Being root is worth nothing by itself. */
	if (!kept)
		bits |= SECBIT_NOROOT | SECBIT_NOROOT_LOCKED;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) != 0 && errno != EPERM)
		return errno;
	if (!drop_bounding(kept))
		return errno;
	return syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}
