/* SPDX-License-Identifier: Apache-2.0 */
/* The repository of saved files, with libgit2, which is loaded when needed. */
#include "agent/checkpoint/private.h"

#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/library.h"
#include "base/mem.h"

/* Libgit2, loaded by the first checkpoint and not before. */

/* Its functions, with the types that its header gives them. */
struct git_library {
	__typeof__(git_libgit2_init) *init;
	__typeof__(git_libgit2_opts) *opts;
	__typeof__(git_error_last) *error_last;
	__typeof__(git_error_clear) *error_clear;
	__typeof__(git_repository_open_ext) *repository_open_ext;
	__typeof__(git_repository_init_ext) *repository_init_ext;
	__typeof__(git_repository_free) *repository_free;
	__typeof__(git_oid_fromstr) *oid_fromstr;
	__typeof__(git_oid_tostr) *oid_tostr;
	__typeof__(git_blob_create_from_buffer) *blob_create_from_buffer;
	__typeof__(git_blob_lookup) *blob_lookup;
	__typeof__(git_blob_rawcontent) *blob_rawcontent;
	__typeof__(git_blob_rawsize) *blob_rawsize;
	__typeof__(git_blob_free) *blob_free;
	__typeof__(git_index_new) *index_new;
	__typeof__(git_index_add) *index_add;
	__typeof__(git_index_write_tree_to) *index_write_tree_to;
	__typeof__(git_index_free) *index_free;
	__typeof__(git_tree_lookup) *tree_lookup;
	__typeof__(git_tree_free) *tree_free;
	__typeof__(git_commit_create) *commit_create;
	__typeof__(git_commit_lookup) *commit_lookup;
	__typeof__(git_commit_free) *commit_free;
	__typeof__(git_signature_new) *signature_new;
	__typeof__(git_signature_free) *signature_free;
	__typeof__(git_reference_create) *reference_create;
	__typeof__(git_reference_remove) *reference_remove;
	__typeof__(git_reference_free) *reference_free;
};

/* ---- the library ------------------------------------------------------------- */

/* Structures of its interface change with this number, so no other will do. */
#define LIBRARY "libgit2.so." LIBGIT2_SOVERSION

#define ROW(member, name) { name, offsetof(struct git_library, member) }

static const struct library_symbol symbols[] = {
	ROW(init, "git_libgit2_init"),
	ROW(opts, "git_libgit2_opts"),
	ROW(error_last, "git_error_last"),
	ROW(error_clear, "git_error_clear"),
	ROW(repository_open_ext, "git_repository_open_ext"),
	ROW(repository_init_ext, "git_repository_init_ext"),
	ROW(repository_free, "git_repository_free"),
	ROW(oid_fromstr, "git_oid_fromstr"),
	ROW(oid_tostr, "git_oid_tostr"),
	ROW(blob_create_from_buffer, "git_blob_create_from_buffer"),
	ROW(blob_lookup, "git_blob_lookup"),
	ROW(blob_rawcontent, "git_blob_rawcontent"),
	ROW(blob_rawsize, "git_blob_rawsize"),
	ROW(blob_free, "git_blob_free"),
	ROW(index_new, "git_index_new"),
	ROW(index_add, "git_index_add"),
	ROW(index_write_tree_to, "git_index_write_tree_to"),
	ROW(index_free, "git_index_free"),
	ROW(tree_lookup, "git_tree_lookup"),
	ROW(tree_free, "git_tree_free"),
	ROW(commit_create, "git_commit_create"),
	ROW(commit_lookup, "git_commit_lookup"),
	ROW(commit_free, "git_commit_free"),
	ROW(signature_new, "git_signature_new"),
	ROW(signature_free, "git_signature_free"),
	ROW(reference_create, "git_reference_create"),
	ROW(reference_remove, "git_reference_remove"),
	ROW(reference_free, "git_reference_free"),
};

static const struct library row =
	{ { LIBRARY }, "Checkpoints need", "libgit2-" LIBGIT2_SOVERSION, symbols,
	                            ARRAY_LEN(symbols) };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct git_library loaded;
static struct err load_error;

/* Neither ~/.gitconfig nor /etc/gitconfig: what they say of filters, hooks, line endings,
 * templates or programs must not have a part in what is kept. */
static bool close_configuration(void)
{
	static const git_config_level_t levels[] = { GIT_CONFIG_LEVEL_PROGRAMDATA,
		                                     GIT_CONFIG_LEVEL_SYSTEM,
		                                     GIT_CONFIG_LEVEL_XDG,
		                                     GIT_CONFIG_LEVEL_GLOBAL };

	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (loaded.opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "") < 0)
			return false;
	return loaded.opts(GIT_OPT_SET_TEMPLATE_PATH, "") >= 0;
}

static void load_libgit2(void)
{
	if (library_load(&row, &loaded, &load_error) &&
	    (loaded.init() < 0 || !close_configuration()))
		err_set(&load_error, ERR_INTERNAL, LIBRARY " could not be initialised.");
}

/* Loads and initializes libgit2 once for the process, from any thread; it stays loaded. Git
 * configuration of the user, the system and the environment is ignored: only the repository's own
 * is read. NULL with INTERNAL, and the package to install, if it cannot be loaded. */
static const struct git_library *git_library(struct err *err)
{
	pthread_once(&once, load_libgit2);
	if (load_error.code == ERR_NONE)
		return &loaded;
	*err = load_error;
	return NULL;
}

/* ---- the repository ---------------------------------------------------------- */

#define AUTHOR "hasp"
#define AUTHOR_EMAIL "hasp@localhost"

enum { MODE_FILE = 0100644 };

struct repository {
	const struct git_library *git;
	git_repository *handle;
};

/* libgit2 reports the reason only as text; a full disk needs its own error code. */
static bool git_failed(const struct git_library *git, int code, const char *what, struct err *err)
{
	const git_error *said = git->error_last();
	const char *words = said && said->message ? said->message : "no reason was given";

	if (strstr(words, strerror(ENOSPC)) || strstr(words, strerror(EDQUOT)))
		return err_set(err, ERR_DISK_FULL, "%s: %s.", what, words);
	if (code == GIT_ENOTFOUND)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s: %s.", what, words);
	if (code == GIT_EEXISTS)
		return err_set(err, ERR_FILE_EXISTS, "%s: %s.", what, words);
	if (code == GIT_EOWNER)
		return err_set(err, ERR_PERMISSION_DENIED, "%s: it belongs to another user.", what);
	return err_set(err, ERR_IO_ERROR, "%s: %s.", what, words);
}

/* ---- opening ----------------------------------------------------------------------- */

static int git_init(const struct git_library *git, const char *folder, git_repository **ret)
{
	git_repository_init_options options = {
		.version = GIT_REPOSITORY_INIT_OPTIONS_VERSION,
		.flags = GIT_REPOSITORY_INIT_NO_REINIT | GIT_REPOSITORY_INIT_MKDIR,
		.initial_head = "main",
	};

	return git->repository_init_ext(ret, folder, &options);
}

/* The root commit: a fixed author and date make it the same in all repositories. */
static int make_root(struct repository *repository, git_oid *ret)
{
	const struct git_library *git = repository->git;
	git_signature *nobody = NULL;
	git_index *index = NULL;
	git_tree *tree = NULL;
	git_oid id;
	int code = git->index_new(&index);

	code = code < 0 ? code : git->index_write_tree_to(&id, index, repository->handle);
	code = code < 0 ? code : git->tree_lookup(&tree, repository->handle, &id);
	code = code < 0 ? code : git->signature_new(&nobody, AUTHOR, AUTHOR_EMAIL, 0, 0);
	code = code < 0 ? code : git->commit_create(ret, repository->handle, NULL, nobody, nobody,
	                                            NULL, "Initial commit\n", tree, 0, NULL);
	git->signature_free(nobody);
	git->tree_free(tree);
	git->index_free(index);
	return code;
}

/* Gemini CLI counts on a commit in a repository that exists. */
static int begin_main(struct repository *repository)
{
	git_reference *branch = NULL;
	git_oid root;
	int code = make_root(repository, &root);

	code = code < 0 ? code :
	                  repository->git->reference_create(&branch, repository->handle,
	                                                    "refs/heads/main", &root, 0, NULL);
	repository->git->reference_free(branch);
	return code == GIT_EEXISTS ? 0 : code;
}

int repository_lock(const char *folder, const struct file_lock_wait *wait, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/hasp.lock", folder);
	_cleanup_fd_ int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (lock < 0)
		err_set_errno(err, errno, "Cannot lock %s", path);
	else if (file_lock_take(lock, path, wait, err))
		return fd_steal(&lock);
	return -1;
}

/* The lock is held while a repository is created, so that no process sees half of it. */
static bool open_or_make(struct repository *repository, const char *folder, bool create,
                         const struct file_lock_wait *wait, struct err *err)
{
	_cleanup_free_ char *git_folder = mem_printf("%s/.git", folder);
	_cleanup_fd_ int lock = create ? repository_lock(folder, wait, err) : -1;
	int code;

	if (create && lock < 0)
		return false;
	code = repository->git->repository_open_ext(
		&repository->handle, git_folder, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
	if (code == GIT_ENOTFOUND && create) {
		code = git_init(repository->git, folder, &repository->handle);
		code = code < 0 ? code : begin_main(repository);
	}
	return code >= 0 ||
	       git_failed(repository->git, code, "The repository of checkpoints cannot be opened",
	                  err);
}

bool repository_open(const char *folder, bool create, bool durable,
                     const struct file_lock_wait *wait, struct repository **ret, struct err *err)
{
	const struct git_library *git = git_library(err);
	struct repository *repository;

	if (!git)
		return false;
	repository = mem_alloc(1, sizeof(*repository));
	repository->git = git;
	git->opts(GIT_OPT_ENABLE_FSYNC_GITDIR, (int)durable);
	if (!open_or_make(repository, folder, create, wait, err)) {
		repository_close(repository);
		return false;
	}
	*ret = repository;
	return true;
}

void repository_close(struct repository *repository)
{
	if (!repository)
		return;
	repository->git->repository_free(repository->handle);
	free(repository);
}

/* ---- writing ----------------------------------------------------------------------- */

bool repository_add(struct repository *repository, struct span bytes, char ret[OBJECT_ID_SIZE],
                    struct err *err)
{
	const struct git_library *git = repository->git;
	git_oid id;
	int code = git->blob_create_from_buffer(&id, repository->handle,
	                                        bytes.data ? bytes.data : "", bytes.len);

	if (code < 0)
		return git_failed(git, code, "A file's content could not be kept", err);
	git->oid_tostr(ret, OBJECT_ID_SIZE, &id);
	return true;
}

static int index_add_entry(const struct git_library *git, git_index *index,
                           const struct repository_file *file)
{
	_cleanup_free_ char *other = mem_printf(".hasp/%s", file->blob);
	git_index_entry entry = { .mode = MODE_FILE, .path = file->path };
	int code = git->oid_fromstr(&entry.id, file->blob);

	if (code < 0 || (file->path && git->index_add(index, &entry) >= 0))
		return code;
	git->error_clear();
	entry.path = other;
	return git->index_add(index, &entry);
}

static int make_tree(struct repository *repository, const struct repository_file *files,
                     size_t count, git_tree **ret)
{
	const struct git_library *git = repository->git;
	git_index *index = NULL;
	git_oid id;
	int code = git->index_new(&index);

	for (size_t i = 0; code >= 0 && i < count; i++)
		code = index_add_entry(git, index, &files[i]);
	code = code < 0 ? code : git->index_write_tree_to(&id, index, repository->handle);
	code = code < 0 ? code : git->tree_lookup(ret, repository->handle, &id);
	git->index_free(index);
	return code;
}

static int make_commit(struct repository *repository, git_tree *tree, const char *message,
                       git_oid *ret)
{
	const struct git_library *git = repository->git;
	const git_commit *parents[1];
	git_signature *author = NULL;
	git_commit *root = NULL;
	git_oid id;
	int code = make_root(repository, &id);

	code = code < 0 ? code : git->commit_lookup(&root, repository->handle, &id);
	code = code < 0 ? code : git->signature_new(&author, AUTHOR, AUTHOR_EMAIL,
	                                            (git_time_t)time(NULL), 0);
	parents[0] = root;
	code = code < 0 ? code : git->commit_create(ret, repository->handle, NULL, author, author,
	                                            "UTF-8", message, tree, 1, parents);
	git->signature_free(author);
	git->commit_free(root);
	return code;
}

bool repository_commit(struct repository *repository, const char *id, const char *message,
                       const struct repository_file *files, size_t count,
                       char ret[OBJECT_ID_SIZE], struct err *err)
{
	const struct git_library *git = repository->git;
	_cleanup_free_ char *name = mem_printf("refs/hasp/%s", id);
	git_reference *reference = NULL;
	git_tree *tree = NULL;
	git_oid commit;
	int code = make_tree(repository, files, count, &tree);

	code = code < 0 ? code : make_commit(repository, tree, message, &commit);
	code = code < 0 ? code : git->reference_create(&reference, repository->handle, name,
	                                               &commit, 0, NULL);
	git->reference_free(reference);
	git->tree_free(tree);
	if (code < 0)
		return git_failed(git, code, "The checkpoint could not be stored", err);
	git->oid_tostr(ret, OBJECT_ID_SIZE, &commit);
	return true;
}

bool repository_forget(struct repository *repository, const char *id, struct err *err)
{
	_cleanup_free_ char *name = mem_printf("refs/hasp/%s", id);
	int code = repository->git->reference_remove(repository->handle, name);

	return code >= 0 || code == GIT_ENOTFOUND ||
	       git_failed(repository->git, code, "The checkpoint could not be removed", err);
}

/* ---- reading ----------------------------------------------------------------------- */

bool repository_read(struct repository *repository, const char *blob, struct buf *out,
                     struct err *err)
{
	const struct git_library *git = repository->git;
	git_blob *object = NULL;
	git_oid id;
	int code = git->oid_fromstr(&id, blob);
	bool ok;

	code = code < 0 ? code : git->blob_lookup(&object, repository->handle, &id);
	if (code < 0)
		return git_failed(git, code, "A kept content cannot be read", err);
	ok = buf_append(out, git->blob_rawcontent(object), (size_t)git->blob_rawsize(object));
	git->blob_free(object);
	return ok || err_set(err, ERR_TOO_LARGE, "A kept content is too large.");
}
