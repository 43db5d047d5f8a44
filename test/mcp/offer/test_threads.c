/* SPDX-License-Identifier: Apache-2.0 */
/* One session, called from many threads: no edit is lost, no version is given out twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "data/json.h"
#include "scratch_folder.h"
#include "tool/tool.h"

enum { THREADS = 4, ROUNDS = 60, VERSIONS_MAX = 1 << 16 };

struct stage {
	struct scratch_folder scratch;
	struct session session;
	_Atomic unsigned char seen[VERSIONS_MAX]; /* by version */
	_Atomic int edits, stale;
};

struct actor {
	struct stage *stage;
	int number;
};

static void note_version(struct stage *stage, const json_t *state)
{
	json_int_t version = json_integer_value(json_object_get(state, "version"));

	if (version <= 0 || version >= VERSIONS_MAX || atomic_fetch_add(&stage->seen[version], 1))
		abort();
}

static bool has_code(const json_t *result, const char *code)
{
	const char *own = json_string_value(json_object_get(json_object_get(result, "error"),
	                                                    "code"));

	return own && strcmp(own, code) == 0;
}

/* Adds a line of its own to the shared file, by the hash it has read; tries again when another
 * thread was faster. */
static void add_line(struct actor *actor, int round)
{
	struct stage *stage = actor->stage;

	for (;;) {
		json_auto_t *path = json_pack("{s:s}", "file_path", "shared");
		json_auto_t *read = tool_call(&stage->session, "read_file", path);
		_cleanup_free_ char *text = mem_printf(
			"%sthread %d round %d\n",
			json_string_value(json_object_get(read, "content")), actor->number, round);
		json_auto_t *arguments = json_pack(
			"{s:s, s:s, s:O}", "file_path", "shared", "content", text,
			"base_content_sha256", json_object_get(read, "sha256"));
		json_auto_t *result = tool_call(&stage->session, "write_file", arguments);

		note_version(stage, read);
		note_version(stage, json_object_get(result, "latest_file_state"));
		if (!tool_result_failed(result))
			break;
		if (!has_code(result, "state_mismatch") && !has_code(result, "busy"))
			abort();
		atomic_fetch_add(&stage->stale, 1);
	}
	atomic_fetch_add(&stage->edits, 1);
}

/* Everything else that a server does meanwhile, files of every kind among it. */
static void look_around(struct actor *actor)
{
	static const char *const names[] = { "legacy", "binary", "folder", "missing", "shared" };
	struct stage *stage = actor->stage;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		json_auto_t *path = json_pack("{s:s}", "file_path", names[i]);
		json_auto_t *one = tool_call(&stage->session, "read_file", path);

		if (json_object_get(one, "version"))
			note_version(stage, one);
	}
	json_auto_t *here = json_pack("{s:s}", "path", ".");
	json_auto_t *list = tool_call(&stage->session, "list_directory", here);

	if (tool_result_failed(list))
		abort();
}

static void *act(void *data)
{
	struct actor *actor = data;
	struct stage *stage = actor->stage;
	_cleanup_free_ char *own = mem_printf("own%d", actor->number);

	for (int round = 0; round < ROUNDS; round++) {
		json_auto_t *wrong = tool_call(&stage->session, "no_such_tool", NULL);
		json_auto_t *edit = json_pack("{s:s, s:s, s:s}", "file_path", own, "old_content",
		                              !round ? "" : round % 2 ? "x" : "y",
		                              "new_content", round % 2 ? "y" : "x");
		json_auto_t *written = tool_call(&stage->session, "update_file", edit);

		if (!tool_result_failed(wrong) || tool_result_failed(written))
			abort();
		note_version(stage, json_object_get(written, "latest_file_state"));
		add_line(actor, round);
		if (round % 20 == 0)
			look_around(actor);
	}
	return NULL;
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void threads_share_a_session(void **state)
{
	static struct stage stage;
	struct actor actors[THREADS];
	pthread_t threads[THREADS];
	char *text;

	(void)state;
	scratch_make(&stage.scratch);
	_cleanup_free_ char *folder = mem_printf("%s/folder", stage.scratch.path);

	mkdir(folder, 0777);
	scratch_write(&stage.scratch, "shared", "begin\n");
	scratch_write(&stage.scratch, "legacy",
	              "caf\xE9 cr\xE8me br\xFBl\xE9" "e, d\xE9j\xE0 vu\n");
	scratch_write(&stage.scratch, "binary", "\x7F" "ELF\x02\x01\x01\x03\x01");
	session_init(&stage.session, stage.scratch.provider);
	for (int i = 0; i < THREADS; i++) {
		actors[i] = (struct actor){ &stage, i };
		pthread_create(&threads[i], NULL, act, &actors[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	text = scratch_read(&stage.scratch, "shared");
	assert_int_equal(stage.edits, THREADS * ROUNDS);
	assert_int_equal(count_lines(text), 1 + THREADS * ROUNDS);
	free(text);
	session_release(&stage.session);
	scratch_remove(&stage.scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_a_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
