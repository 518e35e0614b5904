// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
)

var (
	// longFlag is a flag as a user writes it.
	longFlag = regexp.MustCompile(`(^|[\s\[(|])--([a-z][a-z0-9-]*)`)
	// flagRow begins the row of a flag in docs/cli.md, and firstFlag code that is a flag.
	flagRow   = regexp.MustCompile("^\\| (?:`-\\w`, )?`--([a-z0-9-]+)")
	firstFlag = regexp.MustCompile(`^--([a-z][a-z0-9-]*)`)
	// call begins a call of pipedeck; the words behind it may be subcommands.
	call = regexp.MustCompile(`\bpipedeck((?: [a-z][a-z-]*)+)`)
	// fenced is a block.
	fenced = regexp.MustCompile("(?s)```.*?\n *```\n")
	// end is where a call ends within a line.
	end = regexp.MustCompile(` (\||&&|;|<|>|#) ?`)
)

// commands are the flags of each command of pipedeck by its path, such as "plugin sign", as docs/cli.md lists them.
// lint holds that page against the program. The flags of all commands are under "".
func commands(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("cli.md")
	require.NoError(t, err)
	all, current := map[string][]string{"": {"help", "version"}}, ""
	for line := range strings.Lines(string(text)) {
		if path, isCommand := strings.CutPrefix(line, "## pipedeck "); isCommand {
			current = strings.TrimSpace(path)
			all[current] = []string{}
		}
		if flag := flagRow.FindStringSubmatch(line); flag != nil {
			all[current] = append(all[current], flag[1])
		}
	}
	require.Greater(t, len(all), 30)
	return all
}

// calls returns what the pages show as calls of pipedeck: lines of blocks, and code within lines.
func calls(t *testing.T) map[string][]string {
	t.Helper()
	shown := map[string][]string{}
	for _, b := range every(t) {
		if b.Language == "sh" || b.Mark == page.Usage {
			text := strings.ReplaceAll(b.Text, "\\\n", " ")
			shown[b.Place()] = append(shown[b.Place()], strings.Split(text, "\n")...)
		}
	}
	pages, err := page.All("..")
	require.NoError(t, err)
	for _, path := range pages {
		if strings.Contains(path, "/decisions/") { // they say what was, also inside of the program
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, code := range inCode.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			shown[path] = append(shown[path], strings.ReplaceAll(code[1], "\n", " "))
		}
	}
	return shown
}

func TestTheCommandsOfThePagesExistAndHaveTheirFlags(t *testing.T) {
	t.Parallel()
	known, checked := commands(t), 0
	for place, lines := range calls(t) {
		for _, line := range lines {
			at := call.FindStringSubmatchIndex(line)
			if at == nil {
				continue
			}
			path, found := subcommand(known, strings.Fields(line[at[2]:at[3]]))
			require.True(t, found, "%s: pipedeck has no such command: %s", place, line)
			rest := end.Split(line[at[3]:], 2)[0]
			for _, flag := range longFlag.FindAllStringSubmatch(rest, -1) {
				has := slices.Contains(known[path], flag[2]) || slices.Contains(known[""], flag[2])
				require.True(t, has, "%s: pipedeck %s has no flag --%s: %s", place, path, flag[2], line)
				checked++
			}
		}
	}
	require.Greater(t, checked, 50)
}

// subcommand returns the longest path of a command that the words begin with.
func subcommand(known map[string][]string, words []string) (path string, found bool) {
	for n := min(2, len(words)); n > 0; n-- {
		path = strings.Join(words[:n], " ")
		if _, found = known[path]; found {
			return path, true
		}
	}
	return "", false
}

// TestFlagsWithoutACommandExist is about code such as `--live` in a sentence.
func TestFlagsWithoutACommandExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, flags := range commands(t) {
		for _, flag := range flags {
			known[flag] = true
		}
	}
	for _, flag := range []string{"prefix", "require-signature", "use-base64-encoding"} {
		known[flag] = true // the first two are of install.sh, the last one is of pipectl
	}
	text, err := os.ReadFile("piped.md") // a test of piped holds its list
	require.NoError(t, err)
	for _, flag := range regexp.MustCompile("`--([a-z0-9-]+)`").FindAllStringSubmatch(string(text), -1) {
		known[flag[1]] = true
	}
	for place, lines := range calls(t) {
		if strings.HasPrefix(place, "../devenv/embeddedk8s/") {
			continue // another program
		}
		for _, line := range lines {
			flag := firstFlag.FindStringSubmatch(line)
			if flag != nil && !known[flag[1]] {
				t.Errorf("%s: no program has the flag %s", place, line)
			}
		}
	}
}
