/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: libgit2, loaded by the first checkpoint and not before. */
#ifndef HASP_AGENT_CHECKPOINT_LIBRARY_H
#define HASP_AGENT_CHECKPOINT_LIBRARY_H

#include <git2.h>
#include <stdbool.h>

#include "base/err.h"

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

/* The library, loaded and initialised once for the process, from whichever thread asks first; it stays.
 * What the user, the system or the environment configure for git does not count in it: no file of
 * settings but the repository's own is read.  NULL with INTERNAL and the package to install when it
 * cannot be loaded. */
const struct git_library *git_library(struct err *err);

#endif
