# SPDX-License-Identifier: Apache-2.0
# A hook: keeps what it was given (its name, its environment, its input), then does what its name
# says.  Only the shell's own commands, because there are many runs of it.
read -r input
{
	echo "$1"
	export -p
	echo
	printf '%s\n' "$input"
} > "$GEMINI_PROJECT_DIR/../hooks/$$"

specific() {
	printf '{"hookSpecificOutput": {"hookEventName": "%s", %s}}\n' "$1" "$2"
}

case "$1:$input" in
prompt:*)
	specific BeforeAgent '"additionalContext": "The build is red."' ;;
guard:*blocked.md*)
	echo '{"decision": "deny", "reason": "blocked.md belongs to the release team"}' ;;
guard:*by-code.md*)
	echo "by-code.md is generated" >&2
	exit 2 ;;
rewrite:*HOOKME*)
	specific BeforeTool '"tool_input": {"content": "written by a hook\n"}' ;;
rewrite:*WHOLE*)
	specific BeforeTool \
		'"tool_input": {"file_path": "notes/whole.md", "content": "written by a hook\n"}' ;;
listed:*'"docs"'*)
	specific AfterTool \
		'"tailToolCallRequest": {"name": "read_file", "args": {"file_path": "src/table.txt"}}' ;;
listed:*)
	specific AfterTool '"additionalContext": "private is <not> for you."' ;;
narrow:*)
	specific BeforeToolSelection \
		'"toolConfig": {"mode": "ANY", "allowedFunctionNames": ["read_file", "glob"]}' ;;
esac
exit 0
