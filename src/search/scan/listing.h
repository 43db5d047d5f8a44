/* SPDX-License-Identifier: Apache-2.0 */
/* The names in one folder, read with few system calls. Private to search/. */
#ifndef HASP_SEARCH_SCAN_LISTING_H
#define HASP_SEARCH_SCAN_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum entry_type { ENTRY_TYPE_FILE, ENTRY_TYPE_FOLDER, ENTRY_TYPE_LINK, ENTRY_TYPE_OTHER };

struct listing_entry {
	const char *name; /* in the listing's memory, which moves while it is read ... */
	size_t at;        /* ... so this is where it begins there */
	size_t len;
	enum entry_type type;
};

/* Reused from folder to folder; begins as zeroes. */
struct listing {
	char *names;                   /* owned */
	size_t names_len, names_cap;
	struct listing_entry *entries; /* owned; without ".", ".." and temporaries of edits */
	size_t count, cap;
};

/* Fills the listing with the entries of an open folder, in no order. False with errno set
 * (EFBIG: more than LIMIT_FOLDER_ENTRIES). */
bool listing_read(struct listing *listing, int folder);
void listing_release(struct listing *listing);

enum entry_type entry_type_of_mode(mode_t mode);

#endif
