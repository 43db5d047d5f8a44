/* SPDX-License-Identifier: Apache-2.0 */
/* The stage, and what is fetched into it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/extensions.h"
#include "config/home.h"
#include "data/json.h"
#include "install/private.h"

/* ---- the stage ------------------------------------------------------------------------ */

#define STAGING ".staging" /* hidden: no extension's folder */

enum { STAGES_MAX = 1000 };

/* Removes those of processes that were killed before they finished. */
static void remove_stale_stages(const char *staging)
{
	char **names;
	const size_t count = door_names(door_folder(staging, staging), STAGES_MAX, &names);

	for (size_t i = 0; i < count; i++) {
		const long pid = strtol(names[i], NULL, 10);
		struct err ignored = ERR_INIT;

		if (pid > 0 && (pid == getpid() ||
		                (kill((pid_t)pid, 0) != 0 && errno == ESRCH)))
			tree_remove(staging, names[i], &ignored);
		free(names[i]);
	}
	free(names);
}

bool install_stage_open(const struct home *home, struct install_stage *ret, struct err *err)
{
	_cleanup_free_ char *gemini = home_make(home_user(home), ".gemini", err);
	struct install_stage stage = { 0 };
	_cleanup_free_ char *staging = NULL;

	stage.extensions = gemini ? home_make(gemini, "extensions", err) : NULL;
	staging = stage.extensions ? home_make(stage.extensions, STAGING, err) : NULL;
	if (staging) {
		remove_stale_stages(staging);
		stage.name = mem_printf("%ld", (long)getpid());
		stage.path = home_make(staging, stage.name, err);
	}
	*ret = stage;
	if (!stage.path)
		install_stage_close(ret);
	return ret->path;
}

void install_stage_close(struct install_stage *stage)
{
	struct err ignored = ERR_INIT;

	if (stage->extensions) {
		_cleanup_free_ char *staging = mem_printf("%s/" STAGING, stage->extensions);

		if (stage->path)
			tree_remove(staging, stage->name, &ignored);
		/* Both stay unless they are empty. */
		(void)rmdir(staging);
		(void)rmdir(stage->extensions);
	}
	free(stage->extensions);
	free(stage->name);
	free(stage->path);
	*stage = (struct install_stage){ 0 };
}

/* ---- archives ------------------------------------------------------------------------- */

static bool unpack_into(int file, const char *what, const struct install_stage *stage,
                        struct err *err)
{
	_cleanup_free_ char *content = home_make(stage->path, "content", err);
	_cleanup_fd_ int folder = -1;
	struct stat status;

	if (!content)
		return false;
	folder = open(content, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || fstat(file, &status) != 0)
		return err_set_errno(err, errno, "Cannot open a folder of the installation");
	if (status.st_size <= 0 || (uint64_t)status.st_size > LIMIT_ARCHIVE_BYTES)
		return err_set(err, ERR_TOO_LARGE, "%s is empty, or has more than %zu bytes.",
		               what, (size_t)LIMIT_ARCHIVE_BYTES);
	return unpack(file, (uint64_t)status.st_size, what, folder, err);
}

static bool unpack_file(const struct install_source *source, const struct install_stage *stage,
                        struct err *err)
{
	_cleanup_free_ char *what = extension_line(span_str(source->text));
	_cleanup_fd_ int file = open(source->text, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (file < 0)
		return err_set_errno(err, errno, "Cannot read %s", what);
	return unpack_into(file, what, stage, err);
}

static bool unpack_url(const char *url, const struct install_stage *stage, json_t *origin,
                       struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/archive", stage->path);
	_cleanup_fd_ int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	                             0600);
	_cleanup_free_ char *what = extension_line(span_str(url)), *mark = NULL;

	if (file < 0)
		return err_set_errno(err, errno, "Cannot make a file for a download");
	if (!install_download(url, file, &mark, err))
		return false;
	if (mark)
		json_object_set_new(origin, "mark", json_text(span_str(mark)));
	if (lseek(file, 0, SEEK_SET) != 0)
		return err_set_errno(err, errno, "Cannot read a download");
	return unpack_into(file, what, stage, err);
}

/* ---- the whole ------------------------------------------------------------------------ */

static bool fetch_git(const struct install_wish *wish, const struct install_source *source,
                      const struct install_stage *stage, json_t *origin, struct err *err)
{
	const struct git_place place = { source->git, wish->ref, wish->path };
	_cleanup_free_ char *commit = NULL;

	if (!git_fetch(&place, stage->path, &commit, err))
		return false;
	json_object_set_new(origin, "commit", json_string(commit));
	return true;
}

static bool fetch_github(const struct install_wish *wish, const struct install_source *source,
                         const struct install_stage *stage, json_t *origin, struct err *err)
{
	_cleanup_free_ char *url = NULL, *tag = NULL;

	if (!github_release(source, wish->ref, wish->pre_release, &url, &tag, err))
		return false;
	if (!url)
		return fetch_git(wish, source, stage, origin, err);
	json_object_set_new(origin, "type", json_string("github-release"));
	json_object_set_new(origin, "releaseTag", json_text(span_str(tag)));
	return unpack_url(url, stage, origin, err);
}

bool install_fetch(const struct install_wish *wish, const struct install_source *source,
                   const struct install_stage *stage, json_t *origin, struct err *err)
{
	switch (source->kind) {
	case SOURCE_FOLDER:
		return tree_copy(source->text, stage->path, "content", err);
	case SOURCE_FILE:
		return unpack_file(source, stage, err);
	case SOURCE_URL:
		return unpack_url(source->text, stage, origin, err);
	case SOURCE_GIT:
		return fetch_git(wish, source, stage, origin, err);
	case SOURCE_GITHUB:
		return fetch_github(wish, source, stage, origin, err);
	}
	return err_set(err, ERR_INTERNAL, "There is no such source.");
}

/* ---- skills ----------------------------------------------------------------------------- */

bool install_fetch_skills(const char *word, const char *folder, struct err *err)
{
	_cleanup_source_ struct install_source source = { 0 };
	const struct install_wish wish = { .source = word };
	const struct install_stage stage = { .path = (char *)folder };
	json_auto_t *origin = json_object();

	if (!source_parse(word, &source, err))
		return false;
	if (source.git)
		source.kind = SOURCE_GIT; /* no releases */
	if (source.git && !strncasecmp(source.git, "http://", 7))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "What comes over http may be anybody's: use https.");
	return install_fetch(&wish, &source, &stage, origin, err);
}
