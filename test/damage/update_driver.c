/* SPDX-License-Identifier: Apache-2.0 */
/* Answers many updates on one pipe, so that the tests of damaged updates can ask by the
 * thousand.
 *
 *     update_driver FOLDER        an empty folder, for the file that is asked about
 *
 * Request:  u32 lengths of base, old text and new text (little-endian), then the three; without an
 *           old text the new one is a diff.  The caller made each before, of another state.
 * Answer:   u32 error code (0: done), u32 places replaced, u32 line of the first difference (0:
 *           none), u32 text length, u32 note length; the text that the file would have; the note
 *           or message
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "edit/edit.h"
#include "file/workspace.h"

enum { FRAME_BYTES_MAX = 64 << 20 }; /* more is a defect of the caller */

static bool read_exactly(void *data, size_t len)
{
	return len == 0 || fread(data, 1, len, stdin) == len;
}

static void write_exactly(const void *data, size_t len)
{
	if (len && fwrite(data, 1, len, stdout) != len)
		exit(1);
}

static char *read_block(uint32_t len)
{
	char *data = mem_alloc((size_t)len + 1, 1);

	if (len > FRAME_BYTES_MAX || !read_exactly(data, len))
		exit(1);
	return data;
}

static void put_file(const char *folder, struct span text)
{
	_cleanup_free_ char *path = mem_printf("%s/f", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text.data, text.len) != (ssize_t)text.len || close(fd) != 0)
		exit(1);
}

static void answer(const struct workspace *ws, struct span base, struct span old_text,
                   struct span text)
{
	struct sha256 hash = sha256_of(base), other = { { 0 } };
	struct change change = { .kind = old_text.len ? CHANGE_UPDATE : CHANGE_PATCH, .path = "f",
	                         .base = &hash, .old_text = old_text, .text = text,
	                         .made = &other };
	struct edit_options options = { .dry_run = true, .want_content = true };
	struct change_result result;
	struct err err = ERR_INIT;
	bool ok = edit_apply(ws, &change, 1, &options, &result, &err);
	struct span note = span_str(ok ? result.note : err.message);
	uint32_t head[5] = { (uint32_t)err.code, (uint32_t)result.replaced,
	                     (uint32_t)result.failure.found_line, (uint32_t)result.content.len,
	                     (uint32_t)note.len };

	write_exactly(head, sizeof(head));
	write_exactly(result.content.data, result.content.len);
	write_exactly(note.data, note.len);
	fflush(stdout);
	change_result_release(&result);
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct workspace *ws = NULL;
	uint32_t lengths[3];

	if (argc != 2 || !workspace_open((const char *const[]){ argv[1] }, 1, &ws, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	while (read_exactly(lengths, sizeof(lengths))) {
		_cleanup_free_ char *base = read_block(lengths[0]);
		_cleanup_free_ char *old_text = read_block(lengths[1]);
		_cleanup_free_ char *text = read_block(lengths[2]);

		put_file(argv[1], span_of(base, lengths[0]));
		answer(ws, span_of(base, lengths[0]), span_of(old_text, lengths[1]),
		       span_of(text, lengths[2]));
	}
	workspace_free(ws);
	return 0;
}
