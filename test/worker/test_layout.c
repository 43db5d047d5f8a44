/* SPDX-License-Identifier: Apache-2.0 */
/* Every message keeps every value on its way, and hostile frames are refused without harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "random_object.h"

/* Decodes fields and blobs as a receiver does, everything in the arena. */
static void *decode(struct span fields, uint64_t blob_max, const struct wire_layout *layout,
                    const struct wire_edit_done *into, struct wire_arena *arena,
                    struct wire_in *in)
{
	char *object = wire_arena_alloc(arena, 1, layout->size + 1);

	*in = (struct wire_in){ .fields = fields, .arena = arena, .blob_max = blob_max };
	if (layout == &wire_layout_edit_done) {
		((struct wire_edit_done *)object)->count = into->count;
		((struct wire_edit_done *)object)->results =
			wire_arena_alloc(arena, into->count + 1, sizeof(*into->results));
	}
	return wire_decode(in, layout, object) && wire_decode_end(in) ? object : NULL;
}

static void fill_blobs(const struct wire_out *out, struct wire_in *in)
{
	assert_int_equal(out->blob_count, in->blob_count);
	for (size_t i = 0; i < in->blob_count; i++) {
		assert_int_equal(out->blobs[i].len, in->blobs[i].len);
		if (in->blobs[i].buf)
			*in->blobs[i].buf = (struct buf){ .data = (char *)out->blobs[i].data,
				                          .len = out->blobs[i].len };
		else
			*in->blobs[i].span = out->blobs[i];
	}
}

/* What was decoded is written again: the bytes must be the same. */
static void round_trip(struct randomness *random, const struct wire_layout *layout)
{
	_cleanup_wire_out_ struct wire_out out, again;
	_cleanup_wire_in_ struct wire_in in;
	struct wire_arena arena = { 0 };
	void *object = random_object(random, layout), *copy;

	wire_out_init(&out);
	wire_out_init(&again);
	wire_encode(&out, layout, object);
	assert_false(out.fields.overflowed);
	copy = decode(buf_view(&out.fields), out.blob_bytes, layout, object, &arena, &in);
	if (!copy)
		fail_msg("%s: %s", layout->name, in.problem);
	fill_blobs(&out, &in);
	wire_encode(&again, layout, copy);
	assert_true(span_eq(buf_view(&out.fields), buf_view(&again.fields)));
	assert_int_equal(out.blob_bytes, again.blob_bytes);
	assert_true(wire_layout_least(layout) <= out.fields.len);
	wire_arena_release(&arena);
}

static void test_every_message_round_trips(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++)
		for (size_t i = 0; wire_message_at(i); i++) {
			struct randomness random = { .state = seed * 1000 + i };

			round_trip(&random, wire_message_at(i)->layout);
			wire_arena_release(&random.arena);
		}
}

/* Decodes both ways: borrowed, and as results that own what they have. */
static bool survives(struct span fields, const struct wire_layout *layout,
                     const struct wire_edit_done *into)
{
	_cleanup_wire_in_ struct wire_in in;
	struct wire_arena arena = { 0 };
	bool ok = decode(fields, LIMIT_RESULT_BYTES, layout, into, &arena, &in) != NULL;

	assert_true(ok || in.problem[0]);
	wire_arena_release(&arena);
	return ok;
}

static void test_every_cut_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; wire_message_at(i); i++) {
		const struct wire_layout *layout = wire_message_at(i)->layout;
		struct randomness random = { .state = i };
		void *object = random_object(&random, layout);
		_cleanup_wire_out_ struct wire_out out;

		wire_out_init(&out);
		wire_encode(&out, layout, object);
		for (size_t len = 0; len < out.fields.len; len++) {
			_cleanup_free_ char *cut = mem_dup(out.fields.data, len);

			assert_false(survives(span_of(cut, len), layout, object));
		}
		wire_arena_release(&random.arena);
	}
}

static void test_flipped_bits_do_no_harm(void **state)
{
	(void)state;
	for (size_t i = 0; wire_message_at(i); i++) {
		const struct wire_layout *layout = wire_message_at(i)->layout;
		struct randomness random = { .state = 77 + i };
		void *object = random_object(&random, layout);
		_cleanup_wire_out_ struct wire_out out;

		wire_out_init(&out);
		wire_encode(&out, layout, object);
		for (size_t bit = 0; bit < 8 * out.fields.len; bit++) {
			_cleanup_free_ char *bad = mem_dup(out.fields.data, out.fields.len);

			bad[bit / 8] = (char)(bad[bit / 8] ^ (1 << bit % 8));
			survives(span_of(bad, out.fields.len), layout, object);
		}
		wire_arena_release(&random.arena);
	}
}

static void test_counts_beyond_the_frame_ask_for_no_memory(void **state)
{
	/* A walk's answer with a folder and 2^22 entries, of which none is there. */
	static const char frame[] = "\x01\0\0\0/\0\0\0\x40\0";
	struct walk_result result = { 0 };
	_cleanup_wire_in_ struct wire_in in = { .fields = span_of(frame, 10) };

	(void)state;
	assert_false(wire_decode(&in, &wire_layout_walk_done, &result));
	assert_null(result.entries);
	assert_non_null(strstr(in.problem, "more than the frame can have"));
	walk_result_release(&result);
}

static void test_unknown_codes_become_internal(void **state)
{
	static const char frame[] = "\x03\0\0\0new\0\x05\0\0\0\x02\0\0\0ok\0\0";
	struct wire_error error = { 0 };
	_cleanup_wire_in_ struct wire_in in = { .fields = span_of(frame, sizeof(frame) - 1) };

	(void)state;
	assert_true(wire_decode(&in, &wire_layout_error, &error) && wire_decode_end(&in));
	assert_int_equal(error.err.code, ERR_INTERNAL);
	assert_string_equal(error.err.message, "ok");
}

/* A denial travels beside the sentence, and only where a rule can have refused. */
static void test_a_denial_travels_with_its_error(void **state)
{
	const struct denial denial = { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_GIT,
		                       .level = SANDBOX_FULL, .what = "/w/.git/hooks/x",
		                       .rule = "/w/.git/hooks" };
	struct wire_error sent = { 0 };
	struct denial arrived;

	(void)state;
	denial_refuse(&denial, &sent.err);
	for (int other = 0; other < 2; other++) {
		_cleanup_wire_out_ struct wire_out out;
		_cleanup_wire_in_ struct wire_in in = { 0 };
		struct wire_error got = { 0 };

		sent.err.code = other ? ERR_PERMISSION_DENIED : ERR_DENIED_BY_SANDBOX;
		wire_out_init(&out);
		wire_encode(&out, &wire_layout_error, &sent);
		in.fields = buf_view(&out.fields);
		assert_int_equal(wire_decode(&in, &wire_layout_error, &got), !other);
		assert_int_equal(denial_of(&got.err, &arrived), !other);
	}
	assert_memory_equal(&arrived, &denial, sizeof(denial));
}

static void test_answers_are_checked(void **state)
{
	struct walk_entry entries[2] = { { .path = (char *)"b" }, { .path = (char *)"a" } };
	struct walk_result walked = { .folder = (char *)"/w", .entries = entries, .count = 2 };
	const struct walk_request request = { .recursive = true };
	struct search_line line = { .number = 3, .text = SPAN("abc"), .match_start = 1,
		                    .match_end = 9 };
	struct file_match file = { .path = (char *)"x", .lines = &line, .line_count = 1 };
	struct search_result found = { .folder = (char *)"/w", .files = &file, .count = 1 };
	const struct search_request search = { 0 };

	(void)state;
	assert_string_equal(wire_check_walk(&request, &walked), "entries out of order");
	entries[0].path = (char *)"a/../../etc";
	assert_string_equal(wire_check_walk(&request, &walked), "an entry outside its folder");
	assert_string_equal(wire_check_search(&search, &found), "a match outside its line");
	line.match_end = 2;
	line.text = SPAN("a\xff" "c");
	assert_string_equal(wire_check_search(&search, &found), "text that is not UTF-8");
	line.text = SPAN("abc");
	assert_null(wire_check_search(&search, &found));
	file.path = (char *)"/etc/passwd";
	assert_string_equal(wire_check_search(&search, &found), "a file outside the folder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_message_round_trips),
		cmocka_unit_test(test_every_cut_is_an_error),
		cmocka_unit_test(test_flipped_bits_do_no_harm),
		cmocka_unit_test(test_counts_beyond_the_frame_ask_for_no_memory),
		cmocka_unit_test(test_unknown_codes_become_internal),
		cmocka_unit_test(test_a_denial_travels_with_its_error),
		cmocka_unit_test(test_answers_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
