// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
)

// otherLanguage is the section of the guide that starts again, with other tools.
const otherLanguage = "In another language"

// sections reads the blocks of the sections of the guide that are wanted.
func sections(t *testing.T, wanted func(name string) bool) []page.Block {
	t.Helper()
	blocks, err := page.Read("../../" + authors)
	require.NoError(t, err)
	return slices.DeleteFunc(blocks, func(b page.Block) bool { return !wanted(b.Section) })
}

// reader follows a page.
type reader struct {
	dir       string
	variables []string
	cwd       string // a file with the directory of the last command
}

// follow writes the files and runs the commands; it returns what the commands printed, by their text.
func (r *reader) follow(t *testing.T, list []page.Block) map[string]string {
	t.Helper()
	printed := map[string]string{}
	for _, b := range list {
		switch {
		case b.Language == "sh" && b.Mark == page.Run:
			printed[strings.TrimSpace(b.Text)] += r.run(t, b.Text)
		case b.File() != "":
			path := filepath.Join(r.dir, b.File())
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(b.Text), 0o644))
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
