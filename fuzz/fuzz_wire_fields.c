/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of any message, decoded as a worker does (borrowed) and as the front does (owned): what is
 * accepted is written again as it came.  The first byte chooses the message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RESULTS = 2 }; /* that an EDIT_DONE must have */

static void *decode(struct wire_in *in, const struct wire_layout *layout,
                    struct wire_arena *arena)
{
	void *object = wire_arena_alloc(arena, 1, layout->size + 1);

	if (layout == &wire_layout_edit_done) {
		struct wire_edit_done *done = object;

		done->count = RESULTS;
		done->results = wire_arena_alloc(arena, RESULTS, sizeof(*done->results));
	}
	return wire_decode(in, layout, object) && wire_decode_end(in) ? object : NULL;
}

/* Unknown codes become "internal", so the bytes of errors may differ; all others may not. */
static void check_same(struct span fields, const struct wire_layout *layout, const void *object)
{
	_cleanup_wire_out_ struct wire_out out, again;
	struct wire_arena arena = { 0 };
	_cleanup_wire_in_ struct wire_in in = { .arena = &arena, .blob_max = UINT64_MAX };
	void *copy;

	(void)fields;
	wire_out_init(&out);
	wire_encode(&out, layout, object);
	in.fields = buf_view(&out.fields);
	copy = decode(&in, layout, &arena);
	if (!copy)
		abort();
	wire_out_init(&again);
	wire_encode(&again, layout, copy);
	if (!span_eq(buf_view(&out.fields), buf_view(&again.fields)))
		abort();
	wire_arena_release(&arena);
}

static void clear_blobs(struct wire_in *in)
{
	for (size_t i = 0; i < in->blob_count; i++)
		if (in->blobs[i].span)
			*in->blobs[i].span = span_of("", 0);
}

static void try_borrowed(struct span fields, const struct wire_layout *layout)
{
	struct wire_arena arena = { 0 };
	_cleanup_wire_in_ struct wire_in in = { .fields = fields, .arena = &arena,
		                                .blob_max = 1 << 20 };
	void *object = decode(&in, layout, &arena);

	if (!object && !in.problem[0])
		abort();
	if (object) {
		clear_blobs(&in);
		check_same(fields, layout, object);
	}
	wire_arena_release(&arena);
}

static void try_results(unsigned number, struct span fields)
{
	_cleanup_wire_in_ struct wire_in in = { .fields = fields, .blob_max = 1 << 20 };
	const struct walk_request walk = { .recursive = true };
	const struct search_request search = { 0 };
	const struct read_request read = { 0 };
	struct change_result results[RESULTS] = { 0 };
	struct wire_edit_done edited = { .results = results, .count = RESULTS };
	struct wire_read_done done = { 0 };
	struct walk_result walked = { 0 };
	struct search_result found = { 0 };
	struct wire_welcome welcome = { 0 };

	if (number == WIRE_MESSAGE_READ_DONE && wire_decode(&in, &wire_layout_read_done, &done))
		wire_check_read(&read, &done);
	if (number == WIRE_MESSAGE_EDIT_DONE && wire_decode(&in, &wire_layout_edit_done, &edited))
		wire_check_edit(&edited);
	if (number == WIRE_MESSAGE_WALK_DONE && wire_decode(&in, &wire_layout_walk_done, &walked))
		wire_check_walk(&walk, &walked);
	if (number == WIRE_MESSAGE_SEARCH_DONE &&
	    wire_decode(&in, &wire_layout_search_done, &found))
		wire_check_search(&search, &found);
	if (number == WIRE_MESSAGE_WELCOME && wire_decode(&in, &wire_layout_welcome, &welcome))
		wire_check_welcome(&welcome);
	read_result_release(&done.result);
	for (size_t i = 0; i < RESULTS; i++)
		change_result_release(&results[i]);
	walk_result_release(&walked);
	search_result_release(&found);
	wire_welcome_release(&welcome);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct wire_message *message = size ? wire_message_find(data[0]) : NULL;
	struct span fields = { (const char *)data + 1, size - 1 };

	if (!message)
		return 0;
	try_borrowed(fields, message->layout);
	if (message->direction == WIRE_TO_FRONT)
		try_results(message->number, fields);
	return 0;
}
