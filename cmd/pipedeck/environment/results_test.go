// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestGitHubActionsGetAnnotationsGroupsAndASummary(t *testing.T) {
	t.Parallel()
	summary := filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t, os.WriteFile(summary, []byte("of an earlier step\n"), 0o600))
	environ := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary, "GITHUB_WORKSPACE": "/w"}
	run := report.Run{Repository: "/w/r", ExitCode: 1, Applications: []report.Application{{Name: "web", File: "web/a",
		Result: report.Failure, Stages: []report.Stage{{Name: "S", Log: []string{"why"}}}}}}
	var out, errOut bytes.Buffer
	a := actionsOf(func(name string) string { return environ[name] }, outputPlain, &out, &errOut)
	a.begin("Deploy")
	_, err := a.stream(&out).Write([]byte("12:00:00.000  log  ##[error]x\n"))
	require.NoError(t, err)
	a.end()
	a.end()
	require.NoError(t, a.logs(run))
	require.NoError(t, a.conclude(run))
	require.Equal(t, "::group::Deploy\n12:00:00.000  log  ## [error]x\n::endgroup::\n"+
		"::group::web FAILURE\nS | why\n::endgroup::\n::error file=r/web/a,title=web%3A FAILURE::\n", out.String())
	require.Empty(t, errOut.String())
	content, err := os.ReadFile(summary)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(content), "of an earlier step\n### "), string(content))

	out.Reset()
	a = actionsOf(func(name string) string { return environ[name] }, outputJSON, &out, &errOut)
	a.begin("Deploy")
	require.NoError(t, a.logs(run))
	require.NoError(t, a.conclude(run))
	require.Empty(t, out.String(), "standard output has JSON lines only")
	require.Contains(t, errOut.String(), "::error file=r/web/a")

	off := actionsOf(func(string) string { return "" }, outputPlain, &out, &errOut)
	off.begin("Deploy")
	require.NoError(t, off.conclude(run))
	require.Empty(t, out.String())
}

func TestNoWordOfOthersIsAWorkflowCommand(t *testing.T) {
	t.Parallel()
	for mode, want := range map[OutputMode]string{outputPlain: "## [error]x", outputReader: "## [error]x",
		outputJSON: `#\u0023[error]x`} {
		var out, errOut bytes.Buffer
		r := &results{mode: mode, out: &out}
		r.actions = actionsOf(func(name string) string {
			return map[string]string{"GITHUB_ACTIONS": "true"}[name]
		}, mode, &out, &errOut)
		require.NoError(t, r.show(report.Run{Applications: []report.Application{{Name: "web", Result: report.Failure,
			Reason: strings.Repeat("long ", 40) + "##[error]x"}}}))
		require.Contains(t, out.String(), want)
		require.NotContains(t, out.String(), "##[")
		err := r.actions.quoteError(exit.With(exit.Failed, errors.New("web: ##[error]x"), "see ##[x"))
		require.EqualError(t, err, "web: ## [error]x")
		failure := (*exit.Error)(nil)
		require.ErrorAs(t, err, &failure)
		require.Equal(t, []any{exit.Failed, "see ## [x"}, []any{failure.Code, failure.Hint})
		require.Equal(t, "## [a", (&Setup{results: r}).quote("##[a"))
	}
	elsewhere := (&Setup{}).quote("##[a")
	require.Equal(t, "##[a", elsewhere)
}

func TestResultsAreWrittenHoweverTheRunEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		code   int
		reason string
	}{
		"a row that is not well": {nil, exit.Failed, "web: UNFINISHED: the run ended before it was deployed"},
		"interrupted":            {exit.Silent(exit.Interrupted), exit.Interrupted, "interrupted"},
		"timed out":              {exit.With(exit.TimedOut, errors.New("late: web"), ""), exit.TimedOut, "late: web"},
		"an unknown mode":        {errors.New("broken"), exit.NotStarted, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "report.json")
			r := &results{files: report.Files{Reports: []string{file}}}
			var out bytes.Buffer
			require.NoError(t, r.begin(outputJSON, &out, &out))
			r.facts.Checked = []*workspace.Checked{{File: "web/app.pipecd.yaml", Name: "web"}}
			code, reason := codeAndReason(r.conclude(c.err))
			require.Equal(t, c.code, code)
			require.Equal(t, c.reason, reason)
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			var run report.Run
			require.NoError(t, json.Unmarshal(data, &run))
			require.Equal(t, c.code, run.ExitCode)
			require.Equal(t, c.reason, run.Reason)
			require.Contains(t, out.String(), `"type":"outcome","name":"web"`)
		})
	}
}

func TestAReportIsNotLostWhenNothingIsStarted(t *testing.T) {
	t.Parallel()
	repo := clitest.Repository(t, "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  timeout: soon\n")
	file := filepath.Join(t.TempDir(), "junit.xml")
	code, _, stderr := command(t.Context(), t.TempDir(), ciArguments(t, repo, "--junit", file)...)
	require.Equal(t, exit.WrongUsage, code, stderr)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(data), `<error message="app.pipecd.yaml:4:`)

	run := func(exclude string) (code int, stdout, stderr string) {
		return command(t.Context(), t.TempDir(), ciArguments(t, repo, "--exclude", exclude, "--junit", file)...)
	}
	code, _, stderr = run("path:../x")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, `--exclude "path:../x" is not a path in the repository`)

	code, _, stderr = run("app.pipecd.yaml")
	require.Equal(t, exit.Failed, code, stderr)
	require.Contains(t, stderr, "no application was deployed: 1 application: 1 EXCLUDED")
	data, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(data), `message="no application was deployed`)
	require.Contains(t, string(data), `<skipped message="EXCLUDED: --exclude names it">`)
}

func TestTheVerdictNamesEveryFailureAndItsReason(t *testing.T) {
	t.Parallel()
	run := func(applications ...report.Application) report.Run { return report.Run{Applications: applications} }
	good := report.Application{Name: "good", Result: report.Success}
	web := report.Application{Name: "web", Result: report.Failure, Reason: "no image"}
	missing := report.Application{Name: "cert", Result: report.Missing, Cause: report.NoCRD, Reason: "no such kind"}
	for name, c := range map[string]struct {
		run  report.Run
		code int
		want string
	}{
		"all well": {run(good), exit.OK, ""},
		"two failures": {run(web, report.Application{Name: "db", Result: report.Cancelled, Reason: "by ann"}, good),
			exit.Failed, "2 of 3 applications failed: web: FAILURE: no image; db: CANCELLED: by ann"},
		"a broken configuration": {run(web, report.Application{Name: "db", Result: report.Invalid,
			Reason: "app.pipecd.yaml:3:1: bad"}), exit.WrongUsage, "db: app.pipecd.yaml:3:1: bad"},
		"something lacking": {run(missing, good), exit.Failed, "cert: MISSING: NO_CRD: no such kind"},
		"something lacking that is allowed": {report.Run{AllowMissing: true,
			Applications: []report.Application{missing, good}}, exit.OK, ""},
		"only what is lacking and allowed": {report.Run{AllowMissing: true,
			Applications: []report.Application{missing}}, exit.Failed,
			"no application was deployed: 1 application: 1 MISSING"},
		"nothing but manual and excluded ones": {run(report.Application{Result: report.Manual},
			report.Application{Result: report.Excluded}), exit.Failed,
			"no application was deployed: 2 applications: 1 MANUAL, 1 EXCLUDED"},
		"nothing has changed since the base deployed it": {run(report.Application{Result: report.Unchanged,
			Deployment: "d"}), exit.OK, ""},
		"nothing has changed, and nothing was deployed": {run(report.Application{Result: report.Unchanged}),
			exit.Failed, "no application was deployed: 1 application: 1 UNCHANGED"},
		"only what is not touched": {run(report.Application{Result: report.Unchanged, Deployment: "d"},
			report.Application{Result: report.Excluded, Touched: true}), exit.Failed,
			"no application was deployed that the commits touch: 2 applications: 1 UNCHANGED, 1 EXCLUDED"},
		"some of what is touched": {run(report.Application{Result: report.Success, Touched: true},
			report.Application{Result: report.Excluded, Touched: true}), exit.OK, ""},
		"what is touched is lacking and allowed": {report.Run{AllowMissing: true, Applications: []report.Application{
			{Result: report.Missing, Touched: true}, {Result: report.Unchanged, Deployment: "d"}}}, exit.Failed,
			"no application was deployed that the commits touch: 2 applications: 1 MISSING, 1 UNCHANGED"},
		"what nothing deploys": {run(good, report.Application{Name: "b", Result: report.Undeployed, Touched: true,
			Reason: "only users"}), exit.Failed, "b: UNDEPLOYED: only users"},
		"no application": {run(), exit.Failed, "no application was deployed: 0 applications"},
		"more than an error names": {run(web, web, web, web, web, web, web), exit.Failed,
			"; and 2 more, which the table above has"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, reason := codeAndReason(verdict(c.run))
			require.Equal(t, c.code, code)
			require.Contains(t, reason, c.want)
		})
	}
}
