// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance/mutants/fault"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestEachCaseSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	cases := conformance.Cases()
	require.GreaterOrEqual(t, len(cases), 80)
	seen := map[string]bool{}
	for i, c := range cases {
		require.Regexp(t, `^[a-z-]+(\.[a-z-]+)+$`, c.ID)
		require.False(t, seen[c.ID], "%s is there twice", c.ID)
		seen[c.ID] = true
		for _, text := range []string{c.Title, c.Why, c.Next, string(c.Capability)} {
			require.NotEmpty(t, text, c.ID)
			require.False(t, strings.HasSuffix(text, "."), "%s: %s", c.ID, text)
		}
		if i > 0 && c.Capability != cases[i-1].Capability {
			before := slices.IndexFunc(cases, func(other conformance.Case) bool {
				return other.Capability == c.Capability
			})
			require.Equal(t, i, before, "cases of %s are not next to each other", c.Capability)
		}
	}
}

func TestMistakesHaveCases(t *testing.T) {
	t.Parallel()
	faults := fault.All()
	require.GreaterOrEqual(t, len(faults), 25)
	for _, f := range faults {
		_, err := conformance.Select(conformance.Cases(), []string{f.Case})
		require.NoError(t, err, f.Name)
	}
}

func TestCasesAreChosenByPatterns(t *testing.T) {
	t.Parallel()
	ids := func(patterns ...string) []string {
		selected, err := conformance.Select(conformance.Cases(), patterns)
		require.NoError(t, err)
		var ids []string
		for _, c := range selected {
			ids = append(ids, c.ID)
		}
		return ids
	}
	require.Len(t, ids(), len(conformance.Cases()))
	require.Equal(t, []string{"process.children", "process.children.stage"}, ids("process.children*"))
	require.Equal(t, []string{"cancel.ends", "log.completed"}, ids("log.completed", "cancel.ends", "cancel.e?ds"),
		"each once, in the order of the registry")
	_, err := conformance.Select(conformance.Cases(), []string{"cancel.*", "cancl.ends"})
	require.EqualError(t, err, `no case has the id "cancl.ends"`)
	_, err = conformance.Select(conformance.Cases(), []string{"["})
	require.ErrorContains(t, err, "cannot be read")
}

func TestAStageThatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	o := options(t, fault.Healthy, false, "stages.named")
	o.Stage = "WROK"
	_, err := conformance.Run(t.Context(), o)
	require.EqualError(t, err, "the plugin has no stage WROK, only WORK, WORK_ROLLBACK, WORK_CHECK")
}

func TestOptionsThatAreNotAcceptedAreNotExecuted(t *testing.T) {
	t.Parallel()
	refused := errors.New("unknown key")
	o := options(t, fault.Healthy, false)
	var asked string
	o.Accept = func(stage string) error {
		asked = stage
		return refused
	}
	o.Done = func(conformance.Result) { t.Error("a case was run") }
	_, err := conformance.Run(t.Context(), o)
	require.ErrorIs(t, err, refused)
	require.Equal(t, "WORK", asked)
}

func TestAStageWithoutOptionsMayFail(t *testing.T) {
	t.Parallel()
	o := options(t, "works-once", false, "execution.ends", "again.same-process")
	results, err := conformance.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, []conformance.State{conformance.Passed, conformance.Failed}, statesOf(results))

	o = options(t, "refuses-with-options", false, "execution.ends", "planning.answers")
	o.With = ""
	results, err = conformance.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, []conformance.State{conformance.Passed, conformance.Noted}, statesOf(results))
	require.Regexp(t, `^it refuses: I do not like .*; give it options with --with$`, results[1].Detail)
}

func TestAStageThatRunsLongerThanTheLimitIsAFailureWithOptionsAlone(t *testing.T) {
	t.Parallel()
	o := options(t, "never-ends", false, "execution.ends")
	o.RunLimit = time.Second
	results, err := conformance.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, []conformance.State{conformance.Failed}, statesOf(results))
	require.Contains(t, results[0].Detail, "give it more time, for example with --run-limit 4s")

	o.With = ""
	results, err = conformance.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, []conformance.State{conformance.NotApplicable}, statesOf(results))
}

func TestAPluginThatDoesNotStartFailsOneCase(t *testing.T) {
	t.Parallel()
	results, err := conformance.Run(t.Context(), options(t, "exits-at-start", false))
	require.NoError(t, err)
	for _, r := range results {
		if failed := r.State == conformance.Failed; failed != (r.ID == "start.serves") {
			t.Errorf("%s has %s: %s", r.ID, r.State, r.Detail)
		}
	}
	for _, name := range []string{"exits-at-start", "module-missing"} {
		results, err = conformance.Run(t.Context(), options(t, name, false, "start.*", "config.*"))
		require.NoError(t, err)
		for _, r := range results[1:] {
			if r.State != conformance.NotApplicable ||
				!strings.HasPrefix(r.Detail, "not run, because the plugin does not start: it ended") {
				t.Errorf("%s: %s has %s: %s", name, r.ID, r.State, r.Detail)
			}
		}
	}
	require.Contains(t, results[0].Next, "apt-get install python3-grpcio python3-protobuf;")
	// One that was not asked for is there nevertheless: the others say nothing.
	results, err = conformance.Run(t.Context(), options(t, "exits-at-start", false, "cancel.ends"))
	require.NoError(t, err)
	require.Equal(t, []conformance.State{conformance.Failed, conformance.NotApplicable}, statesOf(results))
}

func TestThePluginRunsInItsOwnDirectory(t *testing.T) {
	t.Parallel()
	results, err := conformance.Run(t.Context(), options(t, "writes-here", false, "execution.ends", "process.files"))
	require.NoError(t, err)
	require.Equal(t, []conformance.State{conformance.Passed, conformance.Failed}, statesOf(results))
	require.NoFileExists(t, "state.json", "the directory of whoever tests it stays as it is")
}

func TestResultsShowNoConfiguredSecret(t *testing.T) {
	t.Parallel()
	o := options(t, "refuses-with-options", false)
	o.With = `{"steps": 2, "word": "configured-password"}`
	var mu sync.Mutex
	o.Mask = func(text string) string { return strings.ReplaceAll(text, "configured-password", "******") }
	o.Done = func(r conformance.Result) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(r.Detail, "configured-password") {
			t.Errorf("%s shows the password: %s", r.ID, r.Detail)
		}
	}
	results, err := conformance.Run(t.Context(), o)
	require.NoError(t, err)
	masked := slices.ContainsFunc(results, func(r conformance.Result) bool {
		return strings.Contains(r.Detail, "******")
	})
	require.True(t, masked, "the plugin shows it in its errors")
}

func TestThePageListsAllCases(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/conformance.md")
	require.NoError(t, err)
	require.Equal(t, conformance.Page(), string(page), "run: make generate")
}

func statesOf(results []conformance.Result) []conformance.State {
	var states []conformance.State
	for _, r := range results {
		states = append(states, r.State)
	}
	return states
}
