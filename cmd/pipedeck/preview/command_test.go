// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/system/gittest"
)

var previewed = &deckv1.PlanPreview{
	BaseBranch: "main", HeadBranch: "feature", HeadCommit: "c0ffee1234567",
	Applications: []*deckv1.ApplicationPlanPreview{
		{Name: "api", Path: "apps/api", Strategy: "QUICK_SYNC", StrategyReason: "Quick sync: no pipeline is configured",
			NoChange: true,
			Targets:  []*deckv1.TargetPlanPreview{{Plugin: "kubernetes", Target: "local", Summary: "0 changed"}}},
		{Name: "bad", Path: "apps/bad", Error: "line one\nline two"},
		{Name: "web", Path: "apps/web", Strategy: "PIPELINE", StrategyReason: "Pipeline: alwaysUsePipeline is set",
			Targets: []*deckv1.TargetPlanPreview{{Plugin: "kubernetes", Target: "local", Summary: "1 changed",
				Details: "# 1. web\n\n@@ -1 +1 @@\n-a\n+b\n", Language: "diff"}}},
	},
}

func TestAPlanPreviewIsReadByPeople(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, printPreview(&out, previewed, nil))
	require.Equal(t, `Merging feature (c0ffee1) into main concerns 3 applications

api  apps/api  no change
  QUICK_SYNC  Quick sync: no pipeline is configured
  kubernetes(local)  0 changed

bad  apps/bad
  error: line one
    line two

web  apps/web
  PIPELINE  Pipeline: alwaysUsePipeline is set
  kubernetes(local)  1 changed

    # 1. web

    @@ -1 +1 @@
    -a
    +b
`, out.String())
	require.True(t, previewFailed(previewed))

	out.Reset()
	require.NoError(t, printPreview(&out, &deckv1.PlanPreview{Applications: []*deckv1.ApplicationPlanPreview{{
		Name: "web", Path: "web", Strategy: "QUICK_SYNC", StrategyReason: "No pipeline\nwarning: a\nwarning: b",
	}}}, nil))
	require.Contains(t, out.String(), "\n  QUICK_SYNC  No pipeline\n  warning: a\n  warning: b\n")

	out.Reset()
	require.NoError(t, printPreview(&out, previewed, format.Painter{'+': "32"}))
	require.Contains(t, out.String(), "    \x1b[32m+b\x1b[0m\n")
	require.Contains(t, out.String(), "    -a\n")

	out.Reset()
	require.NoError(t, printPreview(&out, &deckv1.PlanPreview{BaseBranch: "main", HeadBranch: "main",
		HeadCommit: "c0ffee1234567"}, nil))
	require.Equal(t, "Merging main (c0ffee1) into main deploys nothing\n", out.String())
	out.Reset()
	conflict := &deckv1.PlanPreview{BaseBranch: "main", HeadBranch: "f", HeadCommit: "c0ffee1234567",
		Errors: []string{"piped p: detected conflicts:\na: both"}}
	require.NoError(t, printPreview(&out, conflict, nil))
	require.Equal(t, "Merging f (c0ffee1) into main cannot be previewed\n\n"+
		"  error: piped p: detected conflicts:\n    a: both\n", out.String())
	require.True(t, previewFailed(conflict))
	require.Nil(t, format.Colours(&out))
}

func TestWhatIsPreviewedIsFoundInTheRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		return gittest.Run(t, dir, args...)
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	first := git("rev-parse", "HEAD")
	git("checkout", "-q", "-b", "team/feature")
	git("commit", "-q", "--allow-empty", "-m", "second")
	second := git("rev-parse", "HEAD")
	git("update-ref", "refs/remotes/origin/other", first)
	for name, c := range map[string]struct {
		options    previewOptions
		head, hash string
	}{
		"what is checked out":  {previewOptions{}, "team/feature", second},
		"a branch":             {previewOptions{branch: "main"}, "main", first},
		"a branch of a remote": {previewOptions{branch: "origin/other"}, "origin/other", first},
		"a commit":             {previewOptions{commit: second}, second[:7], second},
		"the start of one":     {previewOptions{commit: first[:8]}, first[:7], first},
		"one before another":   {previewOptions{commit: "main~0"}, first[:7], first},
	} {
		head, hash, err := findHead(t.Context(), dir, c.options)
		require.NoError(t, err, name)
		require.Equal(t, []string{c.head, c.hash}, []string{head, hash}, name)
	}
	var failure *exit.Error
	for _, options := range []previewOptions{{branch: "gone"}, {commit: "123456789"},
		{commit: strings.Repeat("1", 40)}, {commit: "--all"}} {
		_, _, err := findHead(t.Context(), dir, options)
		require.ErrorAs(t, err, &failure)
		require.Equal(t, exit.WrongUsage, failure.Code)
		require.Contains(t, failure.Hint, "git -C "+dir)
	}
	_, _, err := findHead(t.Context(), "", previewOptions{})
	require.ErrorAs(t, err, &failure)
	require.Equal(t, exit.NotStarted, failure.Code)
}

func commands(t *session.Target) []*cobra.Command { return []*cobra.Command{NewCommand(t)} }

func TestPlanPreviewChecksItsFlagsFirst(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"plan-preview", "--branch", "a", "--commit", "b"}, exit.WrongUsage, "not both"},
		{[]string{"plan-preview", "--timeout", "1ms"}, exit.WrongUsage, "too short"},
		{[]string{"plan-preview", "-o", "yaml"}, exit.WrongUsage, "unknown"},
		{[]string{"plan-preview"}, exit.NotStarted, "no environment"},
	} {
		code, _, stderr := clitest.Run(t.Context(), commands, state, c.args...)
		require.Equal(t, c.code, code, c.args)
		require.Contains(t, stderr, c.says)
	}
}
