// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestFaultsAreCheckedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"up", "ci"} {
		code, stdout, stderr := command(t.Context(), t.TempDir(), name, "--sample", "hello-world", "--cluster", "none",
			"--fault", "WAIT: delay 5s; kil")
		require.Equal(t, exit.WrongUsage, code, stderr)
		require.Contains(t, stdout+stderr,
			`--fault: fault "WAIT: delay 5s; kil": column 17: "kil" is not an action of WAIT`)
		require.Contains(t, stdout+stderr, "next step: write it like: --fault 'WAIT: kill@log 3; delay 5s'")
	}
	require.ErrorContains(t, checkFaults([]string{"A: hang\nB: hang"}, ""), "has several lines")
	require.ErrorContains(t, checkFaults([]string{"A: hang"}, "/usr/bin/piped"), "needs the included piped")
	require.NoError(t, checkFaults([]string{"A: hang"}, ""))
	require.NoError(t, checkFaults(nil, "/usr/bin/piped"))
	require.Contains(t, (&Flags{faults: []string{"A: hang"}}).arguments(), "--fault=A: hang",
		"for the process behind up")
}

func TestAFaultForAStageThatNoApplicationHasIsRefusedByCi(t *testing.T) {
	t.Parallel()
	dir := clitest.Repository(t, "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: shop\n"+
		"  pipeline:\n    stages: [{id: soak, name: WAIT, with: {duration: 1s}}]\n")
	repository, err := workspace.OpenRepository(dir)
	require.NoError(t, err)
	known, err := pluginflag.Known()
	require.NoError(t, err)
	checker := &options.Checker{Plugins: known}
	for rule, near := range map[string]string{"WAIT: hang": "", "soak: hang": "", "cluster: hang": "",
		"control-plane: delay 1s": "", "K8S_ROLLBACK: hang": "", "WAIS: hang": "WAIT", "soack: hang": "soak"} {
		err := checkFaultTargets([]string{rule}, repository, checker)
		if near == "" {
			require.NoError(t, err, rule)
			continue
		}
		require.ErrorContains(t, err, "no application and no plugin has a stage", rule)
		var failure *exit.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, "did you mean "+near+"?", failure.Hint)
	}
	checker.Plugins = append(checker.Plugins, options.Plugin{Name: "other"})
	require.NoError(t, checkFaultTargets([]string{"WAIS: hang"}, repository, checker),
		"a plugin without a schema may have any stage")
}

func TestFaultsAndBreakpointsForOtherStagesAreWarnedOfOnceStagesAreKnown(t *testing.T) {
	t.Parallel()
	f := &Flags{faults: []string{"nosuch: delay 1s", "WAIT: hang", "control-plane: delay 1s", "cluster: hang"},
		breaks: []string{"before WAIS", "after shop/soak", "failure"}}
	var warned strings.Builder
	sees := (&Setup{Flags: f, Err: &warned, Mode: outputJSON}).warnUnmatched()
	d := state.New()
	for _, e := range []*deckv1.Event{
		{Kind: &deckv1.Event_Plugin{Plugin: &deckv1.Plugin{Name: "wait", Stages: []string{"WAIT"}}}},
		{Kind: &deckv1.Event_Application{Application: &deckv1.Application{Id: "a"}}},
	} {
		d.Apply(e)
		sees(d)
	}
	require.Empty(t, warned.String(), "what the application deploys is not known")
	d.Apply(&deckv1.Event{Kind: &deckv1.Event_Deployment{Deployment: &deckv1.Deployment{Id: "d", ApplicationId: "a",
		Stages: []*deckv1.Stage{{Id: "s", Name: "WAIT", ConfigId: "soak"}}}}})
	for range 2 {
		sees(d)
		require.Equal(t, "warning: nothing matches now: no plugin and no deployment has a stage nosuch\n"+
			"warning: nothing matches now: no plugin and no deployment has a stage WAIS; did you mean WAIT?\n",
			warned.String())
	}
}

func TestAnEnvironmentWithoutFaultsAndBreakpointsWarnsOfNone(t *testing.T) {
	t.Parallel()
	var warned strings.Builder
	(&Setup{Flags: &Flags{}, Err: &warned, Mode: outputJSON}).warnUnmatched()(state.New())
	require.Empty(t, warned.String())
}
