-- SPDX-License-Identifier: Apache-2.0
-- Runs a test's steps in a headless Neovim and writes what they return, or why they failed, as JSON:
-- HASP_TEST_STEPS is the file of the steps, HASP_TEST_RESULT the one of the result, HASP_TEST_COMMAND the
-- agent's command as JSON.
local T = {}

local SECONDS = tonumber(vim.env.HASP_TEST_SECONDS or 100)

-- Until the condition holds; Neovim's own events are handled meanwhile.
function T.wait(what, condition)
	if not vim.wait(SECONDS * 1000, condition, 5) then
		error(("waited for %s in vain; the conversation:\n%s"):format(what, T.text()))
	end
end

function T.lines()
	local view = require("hasp").state.view
	return view and vim.api.nvim_buf_get_lines(view.buffer, 0, -1, true) or {}
end

function T.text()
	return table.concat(T.lines(), "\n")
end

function T.shows(text)
	T.wait(text, function()
		return T.text():find(text, 1, true)
	end)
end

-- Sends a prompt and waits for its end.
function T.prompt(text)
	require("hasp").state.stop = nil
	vim.cmd("Hasp send " .. text)
	T.ended()
	return require("hasp").state.stop
end

function T.ended()
	T.wait("the end of the prompt", function()
		return require("hasp").state.stop
	end)
end

-- Until a question waits; it.
function T.question()
	T.wait("a question", function()
		return require("hasp").state.questions[1]
	end)
	return require("hasp").state.questions[1]
end

function T.keys(keys)
	vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, true, true), "xt", false)
end

local function main()
	require("hasp").setup({ command = vim.json.decode(vim.env.HASP_TEST_COMMAND) })
	local ok, result = xpcall(function()
		return assert(loadfile(vim.env.HASP_TEST_STEPS))(T)
	end, debug.traceback)
	local agent = require("hasp").state.agent
	if agent then
		require("hasp").stop()
		ok = vim.wait(SECONDS * 1000, function()
			return agent.ended
		end, 5) and ok
	end
	local file = assert(io.open(vim.env.HASP_TEST_RESULT, "w"))
	file:write(vim.json.encode({ ok = ok, result = result == nil and vim.NIL or result }))
	file:close()
	vim.cmd("qall!")
end

vim.schedule(main)
