/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "worker/front/open.h"
#include "worker/inside/inprocess.h"
#include "worker/inside/server.h"

static bool over_pipes;

static bool open_plain(void *data, const struct wire_hello *hello, struct provider **ret,
                       struct err *err)
{
	const struct inprocess_options options = { .roots = hello->options.roots,
		                                   .root_count = hello->options.root_count,
		                                   .durability = DURABILITY_RENAME };

	(void)data;
	return inprocess_provider(&options, ret, err);
}

void live_main(int argc, char **argv)
{
	over_pipes = argc > 1 && strcmp(argv[1], "pipes") == 0;
	if (argc < 2 || strcmp(argv[1], "worker") != 0)
		return;
	if (argc > 2 && strcmp(argv[2], "--plain") == 0)
		exit(!serve_connection(&(struct serve_connection){ .read_fd = 0, .write_fd = 1,
			                                           .open = open_plain }));
	exit(worker_serve(&(struct worker_serve_options){
		.read_fd = 0, .write_fd = 1, .confined = argc > 2 &&
		                                         strcmp(argv[2], "--confined") == 0 }));
}

void live_open(struct live *live)
{
	static const char *const plain[] = { "/proc/self/exe", "worker", "--plain", NULL };
	const char *const roots[] = { live->folder };
	const struct worker_options options = { .roots = roots, .root_count = 1,
		                                .durability = DURABILITY_RENAME };
	struct err err = ERR_INIT;

	snprintf(live->folder, sizeof(live->folder), "/tmp/hasp-worker-XXXXXX");
	assert_non_null(mkdtemp(live->folder));
	if (!(over_pipes ? local_provider_command(plain, &options, &live->provider, &err) :
	                   local_provider_none(&options, &live->provider, &err)))
		fail_msg("%s", err.message);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

void live_close(struct live *live)
{
	provider_free(live->provider);
	nftw(live->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void live_write(const struct live *live, const char *name, const char *text)
{
	char path[256];
	_cleanup_fd_ int fd = -1;

	snprintf(path, sizeof(path), "%s/%s", live->folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0 && fd_write_all(fd, text, strlen(text)));
}

int live_worker(void)
{
	char path[64], text[256] = "";
	_cleanup_fd_ int fd = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fd_read_full(fd, text, sizeof(text) - 1) >= 0);
	return (int)strtol(text, NULL, 10);
}

struct read_result live_read(const struct live *live, const char *path)
{
	const struct read_request request = { .path = path, .whole = true };
	struct read_result result;
	struct err err = ERR_INIT;

	if (!provider_read(live->provider, &request, &result, &err))
		fail_msg("%s", err.message);
	return result;
}

bool live_edit(const struct live *live, const char *path, const char *text, struct err *err)
{
	const struct read_request request = { .path = path };
	struct edit_options options = { 0 };
	struct change_result result;
	struct read_result before;
	struct change change = { .kind = CHANGE_WRITE, .path = path, .text = span_str(text) };
	bool ok;

	if (!provider_read(live->provider, &request, &before, err)) {
		read_result_release(&before);
		return false;
	}
	change.base = &before.state.sha256;
	ok = provider_edit(live->provider, &change, 1, &options, &result, err);
	change_result_release(&result);
	read_result_release(&before);
	return ok;
}

int live_setup(void **state)
{
	struct live *live = mem_alloc(1, sizeof(*live));

	live_open(live);
	*state = live;
	return 0;
}

int live_teardown(void **state)
{
	live_close(*state);
	free(*state);
	return 0;
}
