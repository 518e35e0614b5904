// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// clipboard waits until the UI has asked the terminal to copy content.
func (s *terminal) clipboard(content string) {
	s.t.Helper()
	request := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(content))
	s.sees("a request to copy "+content, func(string) bool { return strings.Contains(s.raw.String(), request) })
}

func TestWhatIsSelectedIsCopiedInEveryPane(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "one", "two")
	server.Resources("app-1", &deckv1.WatchResourcesResponse{Resources: decktest.Resources(), Complete: true})
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("press a to approve", "two")
	for _, c := range []struct{ pane, sees, says, content string }{
		{"1", "5 stages", "copied the id of hello-world", "app-1"},
		{"2", "5 stages", "copied the id of the deployment", "dep-1"},
		{"3", "two", "copied 2 lines", "one\ntwo\n"},
		{"d", "Deployments of", "copied the id of the deployment", "dep-1"},
		{"e", "Preflight", "copied the path of the repository", decktest.Environment().GetRepository()},
		{"t", "ReplicaSet", "copied the name of the resource", "ConfigMap/settings"},
	} {
		s.types(c.pane)
		s.seesText(c.sees)
		s.types("y")
		s.seesText(c.says)
		s.clipboard(c.content)
	}
	s.types("2:newest commit")
	s.seesText("pipedeck sync hello-world", "the same as a command")
	s.types("\x19") // ctrl+y
	s.seesText("copied pipedeck sync hello-world", "Actions")
	s.clipboard("pipedeck sync hello-world")
	s.types("\x15draw the screen\x19")
	s.seesText("there is no command that does the same")
	require.Empty(t, server.Calls)
}

func TestATerminalWithoutAClipboardGetsAFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ term, content, says string }{
		{"TERM=linux", "short", "the terminal has no clipboard; saved 2 lines to "},
		{"TERM=xterm-256color", strings.Repeat("long", 20_000), "too long for the clipboard; saved 2 lines to "},
	} {
		m := waiting(t, 80, 24, c.term)
		path := filepath.Join(t.TempDir(), "copy.txt")
		m.host.cfg.Files.Copy = path
		m.Update(clipboard{m.host, &m.toast}.take(lineCopy([]string{c.content, "end"}))())
		require.Equal(t, c.says+path, m.toast.text)
		written, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, c.content+"\nend\n", string(written))

		m.host.cfg.Files.Copy = filepath.Join(path, "impossible")
		m.Update(clipboard{m.host, &m.toast}.take(copied{"1 line", c.content})())
		require.Contains(t, m.toast.text, "cannot copy 1 line")
		require.True(t, m.toast.bad)
	}
}

func TestOnlyTitlesStandAroundWhatIsCopied(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 40}, {180, 45}} {
		for pane, title := range map[string]string{"1": "1 Applications", "2": "2 Deployment", "3": "3 Log",
			"4": "waitapproval", "e": "Environment", "d": "Deployments of"} {
			m := waiting(t, size[0], size[1])
			m.key(pane, "G")
			screen := ansi.Strip(m.View().Content)
			require.NotRegexp(t, "[╭╮╰╯│┃]", screen, "pane %s at %v", pane, size)
			require.Regexp(t, "(?m)(^| )━ "+title, screen, "the title of the focused pane is heavy")
			if pane != "4" { // the list and the table have it both
				require.Len(t, regexp.MustCompile("━ ([1-4] )?[A-Z]").FindAllString(screen, -1), 1, screen)
			}
		}
	}
	m := waiting(t, 120, 40)
	m.key("2")
	require.Regexp(t, "(?m)  12:00:12   Waiting for approval by one of: ada, grace +$", ansi.Strip(m.View().Content))
	require.Regexp(t, "─ 3 Log · WAIT_APPROVAL", ansi.Strip(m.View().Content))
}

func TestAZoomedPaneStandsAlone(t *testing.T) {
	t.Parallel()
	for pane, shows := range map[string]string{"1": "hello-world", "2": "WAIT_APPROVAL", "3": "Log", "4": "kubernetes",
		"e": "Preflight", "d": "Deployments"} {
		m := waiting(t, 80, 24)
		m.key(pane)
		before := m.View().Content
		m.key("z")
		lines := strings.Split(ansi.Strip(m.View().Content), "\n")
		require.Len(t, lines, 24)
		for _, line := range lines {
			require.Equal(t, 80, ansi.StringWidth(line), line)
		}
		require.Contains(t, strings.Join(lines[1:22], "\n"), shows, pane)
		m.key("z")
		require.Equal(t, before, m.View().Content)
		m.key("z", "esc")
		require.Equal(t, before, m.View().Content, "esc is back, one step")
	}
}

func TestAnotherPaneIsZoomedWhenItGetsTheFocus(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("press a to approve", "4 Plugins")
	s.types("2z")
	s.losesText("4 Plugins")
	s.seesText("2 Deployment")
	s.types("4")
	s.seesText("last output")
	s.losesText("2 Deployment")
	s.types("z")
	s.seesText("1 Applications", "4 Plugins")
}
