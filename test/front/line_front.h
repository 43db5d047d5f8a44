/* SPDX-License-Identifier: Apache-2.0 */
/* A front that reads orders and writes events, a line each: the smallest front that does everything.
 *
 * The first line is NAME ROLES AFTER: a word, letters of "cadr" (comment, approve, drive; a reviewer
 * of that name, not the owner) or "-", and the number of the last event that it has.  Then
 *
 *   prompt TEXT | steer TEXT | interrupt | mode WORD | comment TEXT | answer ID OUTCOME | leave
 *   vote JSON (an answer) | invite NAME | uninvite NAME | whole | answered (show questions,
 *   or who has answered, as JSON)
 *
 * An event is "NUMBER KIND TEXT", a question's diff follows as lines that begin with "| ", and
 * perhaps "whole JSON".  What is refused is "error TEXT".
 */
#ifndef HASP_TEST_FRONT_LINE_FRONT_H
#define HASP_TEST_FRONT_LINE_FRONT_H

#include "front/front.h"

/* Serves one connection on the calling thread, until it or the session ends; closes `fd`. */
void line_front_serve(struct front_runner *runner, int fd);

#endif
