/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the corpora of fuzz_wire_fields and fuzz_wire_stream: write_corpus FOLDER. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "random_object.h"
#include "worker/wire/layout.h"
#include "worker/wire/wire.h"

static void save(const char *folder, const char *kind, const char *name, size_t seed,
                 const struct buf *bytes)
{
	_cleanup_free_ char *path = mem_printf("%s/%s/%s-%zu", folder, kind, name, seed);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || !fd_write_all(fd, bytes->data, bytes->len))
		perror(path);
}

static void add_frame(struct buf *stream, const struct wire_message *message,
                      const struct wire_out *out)
{
	char header[WIRE_HEADER_BYTES] = { 0 };

	bytes_put(header, out->fields.len, 4);
	bytes_put(header + 4, message->number, 2);
	bytes_put(header + 8, message->number, 8);
	bytes_put(header + 16, out->blob_bytes, 8);
	buf_append(stream, header, sizeof(header));
	buf_span(stream, buf_view(&out->fields));
	for (size_t i = 0; i < out->blob_count; i++)
		buf_span(stream, out->blobs[i]);
}

int main(int argc, char **argv)
{
	static const char greeting[WIRE_GREETING_BYTES] = WIRE_MAGIC "\1\0\1\0";

	for (size_t seed = 0; argc == 2 && seed < 3; seed++) {
		_cleanup_buf_ struct buf stream = BUF_INIT(1 << 20);

		buf_append(&stream, greeting, sizeof(greeting));
		for (size_t i = 0; wire_message_at(i); i++) {
			const struct wire_message *message = wire_message_at(i);
			struct randomness random = { .state = 100 * seed + i };
			_cleanup_buf_ struct buf fields = BUF_INIT(1 << 20);
			_cleanup_wire_out_ struct wire_out out;

			wire_out_init(&out);
			wire_encode(&out, message->layout, random_object(&random, message->layout));
			buf_char(&fields, (char)message->number);
			buf_span(&fields, buf_view(&out.fields));
			if (message->layout->count)
				save(argv[1], "wire_fields", message->name, seed, &fields);
			if (message->direction == WIRE_TO_WORKER)
				add_frame(&stream, message, &out);
			wire_arena_release(&random.arena);
		}
		save(argv[1], "wire_stream", "all", seed, &stream);
	}
	return argc == 2 ? 0 : 2;
}
