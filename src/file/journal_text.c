/* SPDX-License-Identifier: Apache-2.0 */
/* The journal as text.
 *
 *     journal = "hasp-journal 1\n" *entry "end " 64HEX "\n"
 *     entry   = kind TAB path TAB new-path TAB old-inode TAB new-inode TAB
 *               old-sha256 TAB new-sha256 TAB made "\n"
 *     kind    = "write" / "create" / "delete" / "move"
 *     path    = *(ALPHA / DIGIT / "." / "_" / "/" / "-" / "%" 2HEX)
 *
 * The hash is that of everything before "end".
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "file/journal.h"

enum { FIELDS = 8 };

static const char head[] = "hasp-journal 1\n";
static const char *const kinds[] = {
	[JOURNAL_WRITE] = "write",
	[JOURNAL_CREATE] = "create",
	[JOURNAL_DELETE] = "delete",
	[JOURNAL_MOVE] = "move",
};

void journal_entries_release(struct journal_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		free(entries->items[i].path);
		free(entries->items[i].new_path);
	}
	free(entries->items);
	*entries = (struct journal_entries){ 0 };
}

struct journal_entry *journal_entries_add(struct journal_entries *entries)
{
	struct journal_entry *entry;

	if (entries->count == entries->cap)
		entries->items = mem_grow(entries->items, &entries->cap, entries->count + 1,
		                          sizeof(*entries->items));
	entry = &entries->items[entries->count++];
	*entry = (struct journal_entry){ 0 };
	return entry;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '/' || c == '-';
}

static void put_path(struct buf *out, const char *path)
{
	for (; path && *path; path++) {
		if (is_plain(*path))
			buf_char(out, *path);
		else
			buf_printf(out, "%%%02x", (unsigned char)*path);
	}
}

bool journal_format(const struct journal_entries *entries, struct buf *out)
{
	char old_hex[SHA256_HEX_SIZE], new_hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	buf_str(out, head);
	for (size_t i = 0; i < entries->count; i++) {
		const struct journal_entry *entry = &entries->items[i];

		sha256_hex(&entry->old_sum, old_hex);
		sha256_hex(&entry->new_sum, new_hex);
		buf_printf(out, "%s\t", kinds[entry->kind]);
		put_path(out, entry->path);
		buf_char(out, '\t');
		put_path(out, entry->new_path);
		buf_printf(out, "\t%ju\t%ju\t%s\t%s\t%zu\n", (uintmax_t)entry->old_inode,
		           (uintmax_t)entry->new_inode, old_hex, new_hex, entry->made);
	}
	if (out->overflowed)
		return false;
	sum = sha256_of(buf_view(out));
	sha256_hex(&sum, old_hex);
	return buf_printf(out, "end %s\n", old_hex);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A path, or NULL when it is empty; false for what is neither. */
static bool get_path(struct span field, char **ret)
{
	_cleanup_free_ char *path = mem_alloc(field.len + 1, 1);
	size_t len = 0;

	for (size_t i = 0; i < field.len; i++) {
		int high, low;

		if (is_plain(field.data[i])) {
			path[len++] = field.data[i];
			continue;
		}
		if (field.data[i] != '%' || field.len - i < 3)
			return false;
		high = digit(field.data[i + 1]);
		low = digit(field.data[i + 2]);
		if (high < 0 || low < 0 || high + low == 0)
			return false;
		path[len++] = (char)(high << 4 | low);
		i += 2;
	}
	if (len && (path[0] != '/' || len >= LIMIT_PATH_BYTES))
		return false;
	*ret = len ? mem_steal(&path) : NULL;
	return true;
}

static bool get_number(struct span field, uintmax_t max, uintmax_t *ret)
{
	uintmax_t value = 0;

	if (field.len == 0 || field.len > 20)
		return false;
	for (size_t i = 0; i < field.len; i++) {
		uintmax_t next = (uintmax_t)(unsigned char)field.data[i] - '0';

		if (next > 9 || value > (max - next) / 10)
			return false;
		value = value * 10 + next;
	}
	*ret = value;
	return true;
}

static bool split(struct span line, struct span fields[static FIELDS])
{
	for (size_t i = 0; i < FIELDS; i++) {
		const char *tab = line.len ? memchr(line.data, '\t', line.len) : NULL;
		size_t len = tab ? (size_t)(tab - line.data) : line.len;

		if ((tab != NULL) != (i + 1 < FIELDS))
			return false;
		fields[i] = span_head(line, len);
		line = span_skip(line, len + 1);
	}
	return true;
}

static bool get_kind(struct span field, enum journal_kind *ret)
{
	for (size_t i = 0; i < JOURNAL_KIND_COUNT; i++) {
		if (span_eq(field, span_str(kinds[i]))) {
			*ret = (enum journal_kind)i;
			return true;
		}
	}
	return false;
}

static bool parse_entry(struct span line, struct journal_entry *entry)
{
	struct span fields[FIELDS];
	uintmax_t old_inode, new_inode, made;

	if (!split(line, fields) || !get_kind(fields[0], &entry->kind) ||
	    !get_path(fields[1], &entry->path) || !get_path(fields[2], &entry->new_path) ||
	    !get_number(fields[3], UINTMAX_MAX, &old_inode) ||
	    !get_number(fields[4], UINTMAX_MAX, &new_inode) ||
	    !sha256_parse(fields[5], &entry->old_sum) ||
	    !sha256_parse(fields[6], &entry->new_sum) ||
	    !get_number(fields[7], LIMIT_PATH_BYTES, &made))
		return false;
	entry->old_inode = (ino_t)old_inode;
	entry->new_inode = (ino_t)new_inode;
	entry->made = (size_t)made;
	return entry->path && (entry->kind == JOURNAL_MOVE) == (entry->new_path != NULL);
}

/* The text before the last line, if that has its hash. */
static bool check_end(struct span text, struct span *ret_body)
{
	static const size_t end_len = sizeof("end ") - 1 + 64 + 1;
	struct sha256 want, have;
	struct span end;

	if (text.len < sizeof(head) - 1 + end_len)
		return false;
	*ret_body = span_head(text, text.len - end_len);
	end = span_skip(text, ret_body->len);
	if (!span_starts(end, SPAN("end ")) || !sha256_parse(span_skip(end, 4), &want))
		return false;
	have = sha256_of(*ret_body);
	return sha256_eq(&want, &have);
}

bool journal_parse(struct span text, struct journal_entries *ret)
{
	struct journal_entries entries = { 0 };
	struct span body, line;

	if (!check_end(text, &body) || !span_starts(body, span_str(head)))
		return false;
	body = span_skip(body, sizeof(head) - 1);
	while (line_next(&body, &line)) {
		if (entries.count >= 2 * LIMIT_CHANGES ||
		    !parse_entry(line_body(line), journal_entries_add(&entries))) {
			journal_entries_release(&entries);
			return false;
		}
	}
	*ret = entries;
	return true;
}
