/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checkpoint/library.h"

#include <pthread.h>
#include <stddef.h>

#include "base/library.h"
#include "base/mem.h"

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

static const struct library row = { { LIBRARY }, "Checkpoints need", "libgit2-" LIBGIT2_SOVERSION, symbols,
	                            ARRAY_LEN(symbols) };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct git_library loaded;
static struct err load_error;

/* Neither ~/.gitconfig nor /etc/gitconfig: what they say of filters, hooks, line endings, templates or
 * programs must not have a part in what is kept. */
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

static void load(void)
{
	if (library_load(&row, &loaded, &load_error) && (loaded.init() < 0 || !close_configuration()))
		err_set(&load_error, ERR_INTERNAL, LIBRARY " could not be initialised.");
}

const struct git_library *git_library(struct err *err)
{
	pthread_once(&once, load);
	if (load_error.code == ERR_NONE)
		return &loaded;
	*err = load_error;
	return NULL;
}
