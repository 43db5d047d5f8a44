/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini CLI's class names of tools, which its settings accept beside the tools' names. */
#ifndef HASP_TOOL_CLASS_NAMES_H
#define HASP_TOOL_CLASS_NAMES_H

/* The tool that a class name means ("ShellTool": "run_shell_command"), by the name hasp has for it;
 * NULL: it is none. */
const char *class_name_tool(const char *class_name);

#endif
