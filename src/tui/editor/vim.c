/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "tui/editor/private.h"

struct vim { int mode; };
struct vim *vim_new(void) { return mem_alloc(1, sizeof(struct vim)); }
void vim_free(struct vim *vim) { free(vim); }
bool vim_key(struct editor *editor, const struct key *key, enum editor_action *ret)
{ (void)editor; (void)key; (void)ret; return false; }
const char *vim_mode(const struct vim *vim) { (void)vim; return "INSERT"; }
void vim_reset(struct vim *vim) { (void)vim; }
size_t vim_texts(const struct vim *vim, struct span *ret) { (void)vim; (void)ret; return 0; }
bool vim_selection(const struct editor *editor, size_t *ret_from, size_t *ret_to)
{ (void)editor; (void)ret_from; (void)ret_to; return false; }
