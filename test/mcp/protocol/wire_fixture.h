/* SPDX-License-Identifier: Apache-2.0 */
/* A peer of a server on a transport that only remembers: for tests of the core.
 *
 *     struct wire *wire = wire_open_bare(&offer);
 *     wire_say(wire, "{...}");             a line from the client
 *     wire_expect(wire, "{...}\n{...}");   what comes back, in this order
 *     wire_close(wire);
 *
 * Real loop, real pool.  Expected JSON is compared member by member; the string "*" stands
 * for anything, and a member "..." says that there may be others.
 */
#ifndef HASP_TEST_MCP_WIRE_FIXTURE_H
#define HASP_TEST_MCP_WIRE_FIXTURE_H

#include "mcp/protocol/peer.h"
#include "mcp/protocol/server.h"

struct mcp_exchange {
	const char *const *headers; /* name, value, ..., NULL; or NULL */
	unsigned finals;            /* how often it was answered */
	unsigned closed;            /* how often its stream was */
	bool close_peer;            /* at its FINAL, as a transport without sessions does */
};

struct wire_line {
	enum mcp_route route;
	struct mcp_exchange *exchange;
	int error_code;
	char *text;
};

struct wire {
	struct loop *loop;
	struct pool *pool;
	struct mcp_server *server;
	struct mcp_peer *peer;
	struct wire_line *lines; /* all that was sent */
	size_t count, cap;
	size_t seen;   /* of these, by wire_expect */
	size_t wanted; /* the loop is stopped when there are so many */
	bool hung_up;
	bool keep;     /* remember the lines; otherwise only count them */
	bool stateless;
};

/* Without a handshake. */
struct wire *wire_open_bare(const struct mcp_offer *offer);
/* Another peer of the same server. */
struct wire *wire_open_beside(struct wire *wire, bool headers, bool stateless);
/* With the handshake, in a version. */
struct wire *wire_open_version(const struct mcp_offer *offer, const char *version,
                               const char *capabilities);
void wire_close(struct wire *wire);
void wire_close_beside(struct wire *wire);

void wire_say(struct wire *wire, const char *line);
void wire_say_on(struct wire *wire, struct mcp_exchange *exchange, const char *text);
/* Runs the loop until so many lines were sent in all; fails after 30 seconds. */
void wire_run_until(struct wire *wire, size_t count);
/* Runs it for a while. */
void wire_run_ms(struct wire *wire, unsigned ms);
/* The next lines are these, and no others are there. */
void wire_expect(struct wire *wire, const char *lines);
/* Nothing is sent while all that is under way comes to its end. */
void wire_expect_nothing(struct wire *wire);

/* Whether JSON is as expected, with the rules above. */
bool wire_matches(const char *text, const char *expected);

#endif
