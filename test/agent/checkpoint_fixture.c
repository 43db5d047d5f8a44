/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "data/json.h"
#include "worker/inside/inprocess.h"

void checkpoint_notice(void *data, enum severity severity, const char *message)
{
	struct fixture *fixture = data;

	(void)severity;
	snprintf(fixture->notice, sizeof(fixture->notice), "%s", message);
}

struct checkpoints *open_checkpoints(struct fixture *fixture, const char *session)
{
	struct checkpoints_options options = { .provider = fixture->provider,
		                               .home = fixture->home, .session_id = session,
		                               .max_file_bytes = 1 << 20, .notices = { checkpoint_notice,
		                                            fixture } };

	return checkpoints_open(&options);
}

int checkpoint_setup(void **state)
{
	struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
	const char *roots[] = { fixture->root };
	struct inprocess_options options = { .roots = roots, .root_count = 1,
		                             .durability = DURABILITY_RENAME };
	struct err err = ERR_INIT;

	snprintf(fixture->top, sizeof(fixture->top), "/tmp/hasp-checkpoint-XXXXXX");
	assert_non_null(mkdtemp(fixture->top));
	snprintf(fixture->root, sizeof(fixture->root), "%s/project", fixture->top);
	assert_int_equal(mkdir(fixture->root, 0755), 0);
	setenv("GEMINI_CLI_HOME", fixture->top, 1);
	options.journal_folder = fixture->top;
	if (!inprocess_provider(&options, &fixture->provider, &err) ||
	    !home_open(fixture->root, &fixture->home, &err))
		fail_msg("%s", err.message);
	session_init(&fixture->session, fixture->provider);
	fixture->checkpoints = open_checkpoints(fixture, "session-1");
	*state = fixture;
	return 0;
}

int checkpoint_teardown(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *command = mem_printf("chmod -R u+rwx %s; rm -rf %s", fixture->top,
	                                          fixture->top);
	pid_t child = fork();

	if (child == 0)
		execl("/bin/sh", "sh", "-c", command, NULL);
	waitpid(child, NULL, 0);
	checkpoints_close(fixture->checkpoints);
	session_release(&fixture->session);
	provider_free(fixture->provider);
	home_free(fixture->home);
	free(fixture);
	return 0;
}

char *path_of(const struct fixture *fixture, const char *name)
{
	return mem_printf("%s/%s", fixture->root, name);
}

/* Somebody else's write. */
void put(const struct fixture *fixture, const char *name, struct span bytes)
{
	_cleanup_free_ char *path = path_of(fixture, name);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0 && fd_write_all(fd, bytes.data, bytes.len));
}

void assert_content(const struct fixture *fixture, const char *name, struct span want)
{
	_cleanup_free_ char *path = path_of(fixture, name);
	_cleanup_fd_ int fd = open(path, O_RDONLY);
	_cleanup_free_ char *have = mem_alloc(1, (1 << 21));

	assert_true(fd >= 0);
	assert_int_equal(fd_read_full(fd, have, 1 << 21), want.len);
	assert_memory_equal(have, want.data, want.len);
}

bool exists(const struct fixture *fixture, const char *name)
{
	_cleanup_free_ char *path = path_of(fixture, name);

	return access(path, F_OK) == 0;
}

/* A call as an agent makes it: kept, made, remembered. `arguments` is taken over. */
json_t *call_in(struct fixture *fixture, struct checkpoints *checkpoints, const char *tool,
                       json_t *arguments)
{
	char id[32];
	json_t *result;

	snprintf(id, sizeof(id), "call-%u", fixture->calls++);
	checkpoints_before_edit(checkpoints, id, tool_find(tool), arguments);
	result = tool_call(&fixture->session, tool, arguments);
	checkpoints_after_edit(checkpoints, id, result);
	json_decref(arguments);
	return result;
}

void edit(struct fixture *fixture, const char *tool, json_t *arguments)
{
	json_auto_t *result = call_in(fixture, fixture->checkpoints, tool, arguments);

	if (!json_is_true(json_object_get(result, "success")))
		fail_msg("%s", json_string_value(json_object_get(result, "message")));
}

/* The whole content, whatever was there. */
void write_file(struct fixture *fixture, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_of(fixture, name);
	struct read_request request = { .path = path, .bytes = true };
	struct read_result read;
	struct err err = ERR_INIT;
	json_t *arguments = json_pack("{s:s, s:s}", "file_path", path, "content", text);

	if (provider_read(fixture->provider, &request, &read, &err))
		json_object_set_new(arguments, "base_content_sha256",
		                    json_sha256(&read.state.sha256));
	read_result_release(&read);
	edit(fixture, "write_file", arguments);
}

json_t *list_checkpoints(struct fixture *fixture)
{
	struct err err = ERR_INIT;
	json_t *all = checkpoints_list(fixture->checkpoints, &err);

	if (!all)
		fail_msg("%s", err.message);
	return all;
}

/* Of the checkpoint `i`; the caller frees. */
char *id_of(struct fixture *fixture, size_t i)
{
	json_auto_t *all = list_checkpoints(fixture);

	assert_true(i < json_array_size(all));
	return mem_strdup(json_string_value(json_object_get(json_array_get(all, i), "id")));
}

json_t *restore(struct fixture *fixture, const char *id, bool force)
{
	struct err err = ERR_INIT;
	json_t *result;

	if (!checkpoints_restore(fixture->checkpoints, id, force, &result, &err))
		fail_msg("%s", err.message);
	return result;
}

const char *action(const json_t *result, const struct fixture *fixture, const char *name)
{
	_cleanup_free_ char *path = path_of(fixture, name);
	size_t i;
	json_t *file;

	json_array_foreach(json_object_get(result, "files"), i, file)
		if (strcmp(json_string_value(json_object_get(file, "path")), path) == 0)
			return json_string_value(json_object_get(file, "action"));
	return "not named";
}

bool succeeded(const json_t *result)
{
	return json_is_true(json_object_get(result, "success"));
}

/* Runs git on the repository of checkpoints; its output, for the caller. */
char *git(const struct fixture *fixture, const char *arguments)
{
	_cleanup_free_ char *command = mem_printf(
		"git --git-dir %s/.git --work-tree %s %s 2>&1", home_history(fixture->home),
		fixture->root, arguments);
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	FILE *pipe = popen(command, "r"); /* a test's own command */
	char piece[4096];
	size_t n;

	while ((n = fread(piece, 1, sizeof(piece), pipe)) > 0)
		buf_append(&out, piece, n);
	assert_int_equal(pclose(pipe), 0);
	return buf_steal(&out);
}
