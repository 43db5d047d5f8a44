/* SPDX-License-Identifier: Apache-2.0 */
/* The one way from a path that a stranger chose to a descriptor: opened beneath a folder by the
 * kernel (openat2 with RESOLVE_BENEATH), so that "..", absolute paths, links and races cannot leave
 * that folder.
 *
 *     fd = beneath_open(root, "src/main.c", O_RDONLY | O_NONBLOCK);      // no links at all
 *     fd = beneath_open_linked(root, ".gemini/settings.json", O_RDONLY); // links that stay beneath
 *
 * Both add O_CLOEXEC, and never follow a magic link of /proc. EXDEV: the path leaves the folder,
 * also by an absolute link. ELOOP: a link where none is followed. EAGAIN, which the kernel answers
 * when a rename races with the walk, is tried again a bounded number of times and may still come
 * back; the EAGAIN of a file whose lease O_NONBLOCK does not wait for comes back at once.
 *
 * Not here: whether what was opened is a regular file (file.h); the workspace's several roots and
 * links between them (file/workspace.h).
 */
#ifndef HASP_BASE_BENEATH_H
#define HASP_BASE_BENEATH_H

/* Opens `path`, relative to `folder`; O_NOFOLLOW is added. -1 with errno set. */
int beneath_open(int folder, const char *path, int flags);

/* The same, and relative links are followed as long as they stay beneath `folder`. */
int beneath_open_linked(int folder, const char *path, int flags);

#endif
