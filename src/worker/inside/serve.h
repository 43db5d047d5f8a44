/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's side of the protocol: answers what arrives on a pair of descriptors with any
 * provider.
 *
 *     hasp worker             at the other end of ssh, docker exec ...: answers with
 *                             local_provider, which confines (the hello says roots and options)
 *     hasp worker --confined  what local_provider starts: already inside its sandbox; answers
 *                             with inprocess_provider
 *
 * The protocol is written down in docs/protocol-worker.md.
 */
#ifndef HASP_WORKER_INSIDE_SERVE_H
#define HASP_WORKER_INSIDE_SERVE_H

#include "worker/provider.h"

/* Where a confined worker for a command finds what guards know of each other
 * (sandbox/guard/recall.h). */
enum { SERVE_RECALL_FD = 3 };

struct worker_serve_options {
	int read_fd, write_fd;  /* the same one for a socket */
	bool confined;          /* started by local_provider: the first frame carries the plan */
	/* Not confined: what the one who started this worker allows at most; NULL: anything. */
	const struct worker_options *most;
};

/* Until the other side ends. Returns an exit status. */
int worker_serve(const struct worker_serve_options *options);

#endif
