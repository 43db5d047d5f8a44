/* SPDX-License-Identifier: Apache-2.0 */
/* The editor in whose terminal hasp runs: a front (front/front.h) that shows edits there while they
 * are asked about, and gives the model what is open there.
 *
 *     struct ide *ide = ide_new(session);
 *     ide_attach(ide, runner);       // before front_runner_begin; nothing, unless it is enabled
 *     ...                            // and the terminal is an editor's
 *     ide_enable(ide, host, &err);   // /ide enable
 *     json_t *status = ide_status(ide);
 *     ide_detach(ide);               // after front_runner_end
 *     ide_free(ide);
 *
 * What an editor decides is what it is asked: whether an edit is made, and with which text.  Which
 * file and on which state (its hash) stays as it was asked; the first answer counts, the terminal's
 * or the editor's.  Everything else that it sends is text for the model, bounded (view.h).
 *
 * Files:
 *   discover.c   the files in which editors say where they listen, and who may be believed
 *   link.c       a connection; companion.c, claude.c: the two kinds of editors
 *   view.c       what an editor shows
 *   problems.c   what an edit breaks, as the editor sees it
 *   ide.c        the front
 *
 * Not here: an editor that starts hasp (acp/acp.h).
 */
#ifndef HASP_IDE_IDE_H
#define HASP_IDE_IDE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "front/front.h"

struct ide;

/* `session` is borrowed, and loaded. */
struct ide *ide_new(struct front_session *session);
/* When it is detached; NULL is fine. */
void ide_free(struct ide *ide);
/* Attaches the front if the setting ide.enabled and the terminal say that there is an editor; it
 * connects when the session is opened.  Where there is an editor that is not enabled, the user is
 * shown that it could be, once (ide.hasSeenNudge). */
void ide_attach(struct ide *ide, struct front_runner *runner);
/* Closes the connection and detaches the front. */
void ide_detach(struct ide *ide);

/* The next two while the session is open and nothing is under way. */

/* Connects now.  FILE_NOT_FOUND: no editor counts; else those of mcp/client/client.h. */
bool ide_enable(struct ide *ide, struct host *host, struct err *err);
/* Closes the connection; diffs that are shown are closed with it. */
void ide_disable(struct ide *ide);

/* {"hint"?: what the terminal says that it is, "editor"?: its name, connected, "protocol"?: for
 * people, "answers"? (bool), "shows"?: the active file, "reviews"? and "diagnoses"? (bool),
 * "problem"?: why the last try failed, "found": [{"file", "editor"?, "refused"?: why}]}: a new
 * reference.  Asks the editor, for up to a second. */
json_t *ide_status(struct ide *ide);

#endif
