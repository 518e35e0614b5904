// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is a part of a page between fences: what stands there, and the first line's language and what follows it.
type block struct {
	language, argument, text string
}

// otherLanguage is the part of the guide that starts again, with other tools.
const otherLanguage = "## In another language"

// blocks reads the fenced blocks of the sections whose heading, of the second level, is wanted.
func blocks(t *testing.T, page string, wanted func(heading string) bool) []block {
	t.Helper()
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	var list []block
	var open *block
	inside := wanted("")
	for line := range strings.Lines(string(data)) {
		info, fence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case fence && open == nil:
			language, argument, _ := strings.Cut(info, " ")
			open = &block{language: language, argument: argument}
		case fence:
			if inside {
				list = append(list, *open)
			}
			open = nil
		case open != nil:
			open.text += line
		case strings.HasPrefix(line, "## "):
			inside = wanted(strings.TrimSpace(line))
		}
	}
	require.Nil(t, open, "%s: a block does not end", page)
	return list
}

// reader follows a page.
type reader struct {
	dir       string
	variables []string
	cwd       string // a file with the directory of the last command
}

// follow writes the files and runs the commands; it returns what the commands printed, by their text.
func (r *reader) follow(t *testing.T, list []block) map[string]string {
	t.Helper()
	printed := map[string]string{}
	for _, b := range list {
		switch {
		case b.argument == "":
		case b.argument == "run":
			printed[strings.TrimSpace(b.text)] += r.run(t, b.text)
		default:
			require.True(t, filepath.IsLocal(b.argument), b.argument)
			path := filepath.Join(r.dir, b.argument)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(b.text), 0o644))
		}
	}
	return printed
}

func (r *reader) run(t *testing.T, script string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", "-euc", script+"\npwd > \"$GUIDE_CWD\"\n")
	command.Dir = r.dir
	command.Env = append(os.Environ(), append(r.variables, "GUIDE_CWD="+r.cwd)...)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
	dir, err := os.ReadFile(r.cwd)
	require.NoError(t, err)
	r.dir = strings.TrimSpace(string(dir))
	return string(out)
}
