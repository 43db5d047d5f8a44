/* SPDX-License-Identifier: Apache-2.0 */
/* A file that was read, as read_file and read_many_files hand it over. */
#ifndef HASP_TOOL_BUILTIN_FILE_RESULT_H
#define HASP_TOOL_BUILTIN_FILE_RESULT_H

#include "tool/tool.h"

/* The versioned file object; takes the session's next version. */
json_t *file_result(struct session *session, const struct read_request *request,
                    const struct read_result *read);

/* Adds what a failed read found out about the file to a failure: path, and hash and version
 * if it was read. */
void file_failure_state(struct session *session, const struct read_request *request,
                        const struct read_result *read, json_t *failure);

#endif
