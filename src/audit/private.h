/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#ifndef HASP_AUDIT_PRIVATE_H
#define HASP_AUDIT_PRIVATE_H

#include "audit/audit.h"
#include "base/sha256.h"

/* The hash that a line states; false: it has none. */
bool audit_line_hash(struct span line, char ret[static SHA256_HEX_SIZE]);
/* Whether that is the hash of its bytes. */
bool audit_line_is_whole(struct span line);
/* As audit_read, of one file's text; false: `each` returned it. */
bool audit_read_text(const char *file, struct span text,
                     bool (*each)(void *data, const struct audit_line *line), void *data);
/* {n, sha256} of the last record, as "head" has it, a new reference; NULL: it is missing. */
json_t *audit_head(const char *folder);

/* Looks at a chain line by line (verify.c): from audit_check_begin on each line in order, then the
 * end, which releases it. */
struct audit_check;
struct audit_check *audit_check_begin(const struct audit_checks *checks,
                                      struct audit_findings *findings);
bool audit_check_line(void *check, const struct audit_line *line);
void audit_check_end(struct audit_check *check, const json_t *head);

#endif
