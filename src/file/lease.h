/* SPDX-License-Identifier: Apache-2.0 */
/* A read lease: proof that nobody has a file open for writing.
 *
 * The kernel grants F_RDLCK only while no descriptor (or mapping) of any process can write
 * to the file, and breaks it before the next open for writing, or truncation, takes
 * effect: the opener waits until the lease is given up. So while lease_kept() is true,
 * no byte has changed since lease_take().  Readers are never disturbed, and several
 * may hold such a lease at once, which is why it is not a write lease: that one is
 * also refused and broken for readers, and proves nothing more.
 *
 * The signal that tells of a break would by default end the process. It is set to SIGURG,
 * whose default is to be ignored: lease_kept() asks instead.  Internal to file/.
 */
#ifndef HASP_FILE_LEASE_H
#define HASP_FILE_LEASE_H

#include <stdbool.h>

enum lease {
	LEASE_HELD,
	LEASE_BUSY, /* somebody has the file open for writing */
	LEASE_NONE, /* this file system has none, or this user may not: compare instead */
};

/* `fd` must be open for reading only. */
enum lease lease_take(int fd);
bool lease_kept(int fd);
void lease_drop(int fd); /* harmless when there is none */

#endif
