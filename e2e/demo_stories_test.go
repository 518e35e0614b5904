// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && demos

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The other stories than those of every run; make e2e-demo plays them.
func TestStoriesArePlayed(t *testing.T) {
	t.Parallel()
	for name, screens := range map[string][]string{
		"drift": {`step 1 of 6`, `replicas(?s:.*)step 3 of 6`, `✓ hello-world(?s:.*)step 6 of 6`},
		"plugin": {`greeter +running(?s:.*)step 1 of 13`, `All 2 steps are done(?s:.*)step 5 of 13`,
			`waitapproval(?s:.*)step 7 of 13`, `attempt 2(?s:.*)step 8 of 13`, `✓ SUCCESS(?s:.*)step 9 of 13`,
			`1 reload(?s:.*)step 11 of 13`, `waits for you(?s:.*)done, says the new build(?s:.*)step 13 of 13`},
		"dag": {`load-test(?s:.*)step 3 of 9`, `✓ SUCCESS(?s:.*)step 5 of 9`,
			`missing.yaml(?s:.*)step 8 of 9`, `FAILURE(?s:.*)step 9 of 9`},
		"analysis": analysisScreens,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			played(t, name, screens...)
		})
	}
}

// analysisScreens are those of the story analysis: the chart of a good version, and of a bad one.
var analysisScreens = []string{`0 +\| [?o]oo(?s:.*)step 5 of 10`, `✓ SUCCESS(?s:.*)step 6 of 10`,
	`X(?s:.*)✗ failed(?s:.*)too high(?s:.*)step 9 of 10`, `✗ FAILURE(?s:.*)step 10 of 10`}

// make e2e-analysis-sample runs it with a real Prometheus in PATH.
func TestTheSampleAnalysisIsPlayedWithAPrometheus(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("there is no prometheus in PATH")
	}
	e := newEnvironment(t)
	recorded := filepath.Join(t.TempDir(), "analysis.pipedeck")
	requireInOrder(t, e.demo("analysis", "--record", recorded), analysisScreens...)
	r := e.pipedeck("replay", recorded, "--output", "plain")
	require.Zero(t, r.Code, r.Stderr)
	_, bad, found := strings.Cut(r.Stdout, "Break half of the answers")
	require.True(t, found, r.Stdout)
	require.Contains(t, bad, "metrics[0]: bad: ")
	require.NotContains(t, bad, "is not Prometheus", "the program of the sample answers only until Prometheus does")
}

func TestTheEnvironmentOfAKilledStoryIsRemoved(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ui := openTerminal(t, e.command("demo", "--cluster", "embedded"), demoColumns, demoRows)
	ui.sees(`step 1 of 6(?s:.*)press \. to go on`)
	require.DirExists(t, e.Dir())
	require.NoError(t, ui.cmd.Process.Kill())
	ui.wait()
	waitUntil(t, "nothing is left", func() bool {
		_, err := os.Stat(e.Dir())
		return errors.Is(err, fs.ErrNotExist)
	})
}
