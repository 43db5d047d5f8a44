/* SPDX-License-Identifier: Apache-2.0 */
#include "search/scan/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "file/temporary.h"

enum { CHUNK = 64 << 10 };

/* What getdents64(2) fills in. */
struct record {
	uint64_t ino;
	int64_t next;
	unsigned short len;
	unsigned char type;
	char name[];
};

enum entry_type entry_type_of_mode(mode_t mode)
{
	if (S_ISREG(mode))
		return ENTRY_TYPE_FILE;
	if (S_ISDIR(mode))
		return ENTRY_TYPE_FOLDER;
	return S_ISLNK(mode) ? ENTRY_TYPE_LINK : ENTRY_TYPE_OTHER;
}

/* False when the entry is gone. */
static bool type_of(int folder, const struct record *record, enum entry_type *ret)
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
	*ret = entry_type_of_mode(st.st_mode);
	return true;
}

/* Not of the folder's own: "." and "..", and what an edit beside us has under way. */
static bool is_passed_over(const char *name)
{
	struct temporary temporary;

	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0') ||
	                          temporary_parse(name, &temporary));
}

/* Takes the records of one chunk, which stay where they are. */
static void take(struct listing *listing, int folder, size_t from)
{
	for (size_t at = from; at < listing->names_len;) {
		const struct record *record = (const void *)(listing->names + at);
		struct listing_entry entry = { .at = at + offsetof(struct record, name) };

		at += record->len;
		if (is_passed_over(record->name) || !type_of(folder, record, &entry.type))
			continue;
		entry.len = strlen(record->name);
		if (listing->count == listing->cap)
			listing->entries = mem_grow(listing->entries, &listing->cap,
			                            listing->count + 1,
			                            sizeof(*listing->entries));
		listing->entries[listing->count++] = entry;
	}
}

bool listing_read(struct listing *listing, int folder)
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
		take(listing, folder, from);
		if (listing->count > LIMIT_FOLDER_ENTRIES) {
			errno = EFBIG;
			return false;
		}
	}
	for (size_t i = 0; i < listing->count; i++)
		listing->entries[i].name = listing->names + listing->entries[i].at;
	return true;
}

void listing_release(struct listing *listing)
{
	free(listing->names);
	free(listing->entries);
	*listing = (struct listing){ 0 };
}
