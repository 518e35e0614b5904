// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
)

const demoColumns, demoRows = 120, 36

// demo plays a story in a terminal to its end, and returns every screen that it drew.
func (e *environment) demo(args ...string) (screens []string) {
	e.t.Helper()
	args = append([]string{"demo", "--auto", "--fast"}, args...)
	if !slices.Contains(args, "--cluster") {
		args = append(args, "--cluster", "embedded")
	}
	ui := openTerminal(e.t, e.command(args...), demoColumns, demoRows)
	require.Zero(e.t, ui.wait(), ui.output())
	require.True(e.t, ui.restored())
	require.NoDirExists(e.t, e.Dir(), "nothing is left")

	// What the program has drawn is read again in small pieces: a busy machine may have shown several screens at once.
	screen := vt10x.New(vt10x.WithSize(demoColumns, demoRows))
	for piece := range slices.Chunk([]rune(ui.output()), 8) {
		_, err := screen.Write([]byte(string(piece)))
		require.NoError(e.t, err)
		if now := screen.String(); len(screens) == 0 || screens[len(screens)-1] != now {
			screens = append(screens, now)
		}
	}
	return screens
}

// requireInOrder requires screens that match the patterns, in their order.
func requireInOrder(t *testing.T, screens []string, patterns ...string) {
	t.Helper()
	at := 0
	for _, pattern := range patterns {
		wanted := regexp.MustCompile(pattern)
		for at < len(screens) && !wanted.MatchString(screens[at]) {
			at++
		}
		require.Less(t, at, len(screens), "never on screen in this order: %s", pattern)
		requireWords(t, "the screen", screens[at])
	}
}

func TestTheTourIsPlayedAndItsRecordingEndsWithTheSameScreen(t *testing.T) {
	t.Parallel()
	played(t, "tour", tourScreens...)
}

var tourScreens = []string{
	`> A Git repository is all that pipedeck watches.*step 1 of 6(?s:.*)waits for hello-world SUCCESS`,
	`✓ SUCCESS(?s:.*)step 1 of 6`,
	`> The pods change, so the pipeline runs.*step 3 of 6`,
	`> The stage approve waits for a user.*step 4 of 6`,
	`WAIT_APPROVAL(?s:.*)step 4 of 6`,
	`> Approved: a check, the new version everywhere.*step 5 of 6`,
	`✓ SUCCESS(?s:.*)step 5 of 6`,
	`hello-world(?s:.*)Deployment(?s:.*)> The resources of the application.*step 6 of 6`,
}

func TestAFailureIsPlayedAndItsRecordingEndsWithTheSameScreen(t *testing.T) {
	t.Parallel()
	played(t, "failure",
		`the image pipedeck.dev/hello-wrold:v1(?s:.*)step 3 of 6`,
		`FAILURE(?s:.*)step 4 of 6`,
		`✓ SUCCESS(?s:.*)step 6 of 6`,
	)
}

// played plays a story, requires its screens in their order, and then that the recording of it ends with the last of
// them.
func played(t *testing.T, story string, patterns ...string) {
	t.Helper()
	e := newEnvironment(t)
	recorded := filepath.Join(t.TempDir(), story+".pipedeck")
	screens := e.demo(story, "--record", recorded)
	requireInOrder(t, screens, patterns...)

	// The line of a recorded session comes on top.
	replay := openTerminal(t, e.command("replay", recorded, "--paused"), demoColumns, demoRows+1)
	replay.sees(`paused 1x`)
	for range 200 { // more than there are steps to the end
		replay.presses("]")
	}
	replay.sees(`ended 1x`)
	replay.presses("\x0c") // and draw all again
	// The UI of the demo may draw half of what it shows when the environment ends: its very last screen does not count.
	finals := map[string]bool{}
	for _, screen := range screens {
		if regexp.MustCompile(patterns[len(patterns)-1]).MatchString(screen) {
			finals[body(screen, 1)] = true
		}
	}
	final := body(last(t, screens, patterns[len(patterns)-1]), 1)
	replay.until("the last screen of the demo:\n"+final, func(screen string) bool {
		return finals[body(position.ReplaceAllString(screen, ""), 1)]
	})
	replay.presses("q")
	require.Zero(t, replay.wait())
}

// last is the last screen that matches a pattern.
func last(t *testing.T, screens []string, pattern string) string {
	t.Helper()
	for i := len(screens) - 1; i >= 0; i-- {
		if regexp.MustCompile(pattern).MatchString(screens[i]) {
			return screens[i]
		}
	}
	t.Fatalf("never on screen: %s", pattern)
	return ""
}

var (
	growing = regexp.MustCompile(`\d+(\.\d+)?(ms|s|m|h)?( ago)?|just now`)
	// chosen is what the title of a pane says of a selection that a story has made earlier than the viewer of a replay.
	chosen   = regexp.MustCompile(` · (stage pinned|following)( · \d+ stages? on)?`)
	position = regexp.MustCompile(`.* ended 1x .*\n`)
	filling  = regexp.MustCompile(`[ ─━]+`)
)

// body is a screen without its first line and the last ones, and without what grows with time and what fills the lines.
func body(screen string, below int) string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	text := chosen.ReplaceAllString(strings.Join(lines[1:max(1, len(lines)-below)], "\n"), "")
	return filling.ReplaceAllString(growing.ReplaceAllString(text, "0"), " ")
}

func TestAStoryThatFailsNamesItsStepAndLeavesNothing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := filepath.Join(t.TempDir(), "my-story.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`apiVersion: pipedeck.dev/v1
kind: Story
title: A story that expects too much
sample: hello-world
steps:
  - say: It fails, the story says.
    await: {deployment: hello-world, status: FAILURE, within: 2m}
`), 0o644))
	r := e.pipedeck("validate", file)
	require.Zero(t, r.Code, r.Stdout)
	r = e.pipedeck("demo", file, "--fast", "--cluster", "embedded")
	require.Equal(t, 1, r.Code)
	require.Contains(t, r.Stdout, "step 1 of 1: It fails, the story says.")
	require.Contains(t, r.Stderr, file+":7: step 1 of 1 failed: awaited hello-world FAILURE: the deployment is SUCCESS")
	require.Contains(t, r.Stderr, "\nnext step: ")
	require.NoDirExists(t, e.Dir(), "nothing is left")
}

func TestAStoryOnScreenSaysWhyItsEnvironmentDidNotStart(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ui := openTerminal(t, e.command("demo", "--cluster", "embedded"), demoColumns, demoRows,
		"PIPEDECK_EMBEDDEDK8S="+filepath.Join(t.TempDir(), "nothing"))
	require.Equal(t, 3, ui.wait(), ui.output())
	require.True(t, ui.restored())
	require.Contains(t, ui.output(), "PIPEDECK_EMBEDDEDK8S")
	require.Contains(t, ui.output(), "next step: ")
	require.NotContains(t, ui.output(), "files of yours")
	require.NoDirExists(t, e.Dir(), "nothing is left")
}
