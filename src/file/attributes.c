/* SPDX-License-Identifier: Apache-2.0 */
/* Copying owner, mode, ACL and extended attributes between two open files. */
#include "file/stage.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/span.h"

/* How to treat attributes by the beginning of their names; the first row that fits counts. */
enum keep { KEEP_NOT, KEEP_TRY, KEEP_MUST };

static const struct {
	const char *prefix;
	enum keep keep;
} rules[] = {
	{ "user.", KEEP_MUST },
	{ "system.posix_acl_access", KEEP_MUST },
	{ "security.capability", KEEP_NOT },
	{ "security.ima", KEEP_NOT }, /* a signature of the old content */
	{ "security.evm", KEEP_NOT },
	{ "", KEEP_TRY },
};

static enum keep keep_of(const char *name)
{
	size_t i = 0;

	while (!span_starts(span_str(name), span_str(rules[i].prefix)))
		i++;
	return rules[i].keep;
}

/* The names of a file's attributes, each with its NUL. */
struct names {
	char small[256];
	char *data; /* `small` or owned */
	size_t len;
};

static void attribute_names_release(struct names *names)
{
	if (names->data != names->small)
		free(names->data);
}
#define _cleanup_names_ __attribute__((cleanup(attribute_names_release)))

static bool names_read(int fd, struct names *names)
{
	ssize_t len = flistxattr(fd, names->small, sizeof(names->small));

	names->data = names->small;
	if (len < 0 && errno == ERANGE) {
		names->data = mem_alloc(1, XATTR_LIST_MAX);
		len = flistxattr(fd, names->data, XATTR_LIST_MAX);
	}
	if (len < 0 && errno != ENOTSUP && errno != ENOSYS)
		return false;
	names->len = len > 0 ? (size_t)len : 0;
	return true;
}

static bool names_have(const struct names *names, const char *name)
{
	for (size_t at = 0; at < names->len; at += strlen(names->data + at) + 1)
		if (strcmp(names->data + at, name) == 0)
			return true;
	return false;
}

static bool attributes_fail(int sys_errno, const char *what, const char *path, struct err *err)
{
	err_set_errno(err, sys_errno, "Cannot keep %s of %s", what, path);
	if (err->code != ERR_DISK_FULL)
		err->code = ERR_CANNOT_PRESERVE;
	return false;
}

static bool copy_value(int from, int to, const char *name, const char *path, struct err *err)
{
	char small[1024];
	_cleanup_free_ char *large = NULL;
	char *value = small;
	ssize_t len = fgetxattr(from, name, small, sizeof(small));

	if (len < 0 && errno == ERANGE) {
		value = large = mem_alloc(1, XATTR_SIZE_MAX);
		len = fgetxattr(from, name, large, XATTR_SIZE_MAX);
	}
	if (len < 0 && errno == ENODATA)
		return true;
	if (len >= 0 && fsetxattr(to, name, value, (size_t)len, 0) == 0)
		return true;
	return keep_of(name) != KEEP_MUST || attributes_fail(errno, name, path, err);
}

/* *acl is set when an ACL was set or removed: the mode must then be set again. */
static bool copy_xattrs(int from, int to, const char *path, bool *acl, struct err *err)
{
	static const char acl_name[] = "system.posix_acl_access";
	_cleanup_names_ struct names old, new;

	old.data = old.small;
	new.data = new.small;
	if (!names_read(from, &old) || !names_read(to, &new))
		return attributes_fail(errno, "the attributes", path, err);
	for (size_t at = 0; at < old.len; at += strlen(old.data + at) + 1) {
		const char *name = old.data + at;

		if (keep_of(name) != KEEP_NOT && !copy_value(from, to, name, path, err))
			return false;
	}
	*acl = names_have(&old, acl_name);
	/* The folder's default ACL was given to the new file, but the old has none. */
	if (!*acl && names_have(&new, acl_name)) {
		if (fremovexattr(to, acl_name) < 0 && errno != ENODATA)
			return attributes_fail(errno, "the access list", path, err);
		*acl = true;
	}
	return true;
}

bool attributes_copy(int from, const struct stat *stat, int to, const char *path,
                     struct stat *was, struct err *err)
{
	const mode_t bits = 07777, special = S_ISUID | S_ISGID;
	bool acl = false, chown_needed;
	struct stat now;

	if (fstat(to, &now) < 0)
		return err_set_errno(err, errno, "Cannot examine the new %s", path);
	if (was)
		*was = now;
	chown_needed = now.st_uid != stat->st_uid || now.st_gid != stat->st_gid;
	if (chown_needed && fchown(to, now.st_uid == stat->st_uid ? (uid_t)-1 : stat->st_uid,
	                           now.st_gid == stat->st_gid ? (gid_t)-1 : stat->st_gid) < 0)
		return attributes_fail(errno, "the owner and group", path, err);
	if (!copy_xattrs(from, to, path, &acl, err))
		return false;
	if (!chown_needed && !acl && (now.st_mode & bits) == (stat->st_mode & bits))
		return true;
	if (fchmod(to, stat->st_mode & bits) < 0)
		return attributes_fail(errno, "the mode", path, err);
	/* The kernel drops set-group-id in silence for who is not in the group. */
	if ((stat->st_mode & special) &&
	    (fstat(to, &now) < 0 || (now.st_mode & bits) != (stat->st_mode & bits)))
		return attributes_fail(EPERM, "the mode", path, err);
	return true;
}
