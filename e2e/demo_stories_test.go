// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && demos

package e2e

import (
	"errors"
	"io/fs"
	"os"
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
		"analysis": {`0 +\| [?o]oo(?s:.*)step 5 of 10`, `✓ SUCCESS(?s:.*)step 6 of 10`,
			`X(?s:.*)✗ failed(?s:.*)too high(?s:.*)step 9 of 10`, `✗ FAILURE(?s:.*)step 10 of 10`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			played(t, name, screens...)
		})
	}
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
