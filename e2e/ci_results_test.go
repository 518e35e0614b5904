// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// ciReport is a part of the JSON report.
type ciReport struct {
	ExitCode     int    `json:"exit_code"`
	Reason       string `json:"reason"`
	Applications []struct {
		Name, File, Result, Cause, Strategy, Reason, Sync, Health string
		Place                                                     struct {
			File         string
			Line, Column int
		}
		Stages []struct {
			Status string
			Log    []string
		}
	}
}

func (r *ciReport) results() map[string]string {
	all := map[string]string{}
	for _, a := range r.Applications {
		all[a.Name] = strings.TrimSuffix(a.Result+" "+a.Cause, " ")
	}
	return all
}

func readReport(t *testing.T, file string) *ciReport {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	report := &ciReport{}
	require.NoError(t, json.Unmarshal(data, report))
	return report
}

// junitFile is a part of a JUnit file.
type junitFile struct {
	Failures int `xml:"failures,attr"`
	Cases    []struct {
		Name    string    `xml:"name,attr"`
		Failure *struct{} `xml:"failure"`
		Out     string    `xml:"system-out"`
	} `xml:"testsuite>testcase"`
}

func readJUnit(t *testing.T, file string) *junitFile {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	read := &junitFile{}
	require.NoError(t, xml.Unmarshal(data, read))
	return read
}

// script is an application whose only stage runs a script.
func script(name, run, more string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: " + name + "\n" + more +
		pipeline("SCRIPT_RUN", "run: "+run)
}

func TestOf25ApplicationsOfWhich16FailAllAreInEveryReport(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	files := map[string]string{}
	for i := range 25 {
		run := "echo well"
		if i >= 9 {
			run = fmt.Sprintf("echo reason %d; exit 1", i)
		}
		files[fmt.Sprintf("app-%d/app.pipecd.yaml", i)] = script(fmt.Sprintf("app-%d", i), run, "")
	}
	out := t.TempDir()
	in := func(name string) string { return filepath.Join(out, name) }
	cmd := e.command("ci", repository(t, files), "--cluster", "none", "--output", "plain", "--timeout", "4m", "--junit",
		in("junit.xml"), "--report", in("report.md"), "--report", in("report.json"))
	cmd.Env = append(cmd.Environ(), "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY="+in("summary.md"), "COLUMNS=100")
	r, err := drive.Run(cmd)
	require.NoError(t, err)
	require.Equal(t, 1, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "16 of 25 applications failed:")

	_, table, found := strings.Cut(r.Stdout, "APPLICATION  RESULT")
	require.True(t, found, r.Stdout)
	report := readReport(t, in("report.json"))
	require.Equal(t, 1, report.ExitCode)
	require.Len(t, report.Applications, 25)
	page, err := os.ReadFile(in("report.md"))
	require.NoError(t, err)
	summary, err := os.ReadFile(in("summary.md"))
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(page)), strings.TrimSpace(string(summary)))
	junit := readJUnit(t, in("junit.xml"))
	require.Equal(t, 16, junit.Failures)
	require.Len(t, junit.Cases, 25)
	for i, a := range report.Applications {
		want := "SUCCESS"
		if i < 16 {
			want = "FAILURE"
		}
		require.Equal(t, want, a.Result, a.Name)
		require.Equal(t, "PIPELINE", a.Strategy)
		require.Contains(t, table, "\n"+a.Name+" ")
		require.Contains(t, string(page), "| "+a.Name+" | "+want+" |")
		require.Equal(t, a.Name, junit.Cases[i].Name)
		require.Equal(t, want == "FAILURE", junit.Cases[i].Failure != nil)
		if want == "FAILURE" {
			reason := "reason " + strings.TrimPrefix(a.Name, "app-")
			require.Contains(t, junit.Cases[i].Out, reason)
			require.Contains(t, r.Stdout, "::error file="+a.File+",title="+a.Name)
			require.Contains(t, r.Stdout, "SCRIPT_RUN | "+reason)
		}
	}
	require.Equal(t, 1+16, strings.Count(r.Stdout, "::group::"))
	require.Equal(t, 1+16, strings.Count(r.Stdout, "::endgroup::"))
	e.leavesNothing()
}

func TestWhatTheEnvironmentLacksHasACauseAndCanBeAllowed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"good/app.pipecd.yaml": script("good", "echo well", ""),
		"ecs/app.pipecd.yaml":  script("ecs", "echo well", "") + "      - name: ECS_SYNC\n",
		"web/app.pipecd.yaml":  application("web", ""),
		"team/app.pipecd.yaml": script("team", "exit 1", "  labels: {team: other}\n"),
		"old/app.pipecd.yaml":  script("old", "exit 1", ""),
	})
	out := filepath.Join(t.TempDir(), "report.json")
	flags := []string{"ci", repo, "--cluster", "none", "--report", out, "--exclude", "label:team=other",
		"--exclude", "old"}
	r := e.pipedeck(flags...)
	require.Equal(t, 2, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "ecs/app.pipecd.yaml:")
	want := map[string]string{"good": "UNFINISHED", "ecs": "MISSING NO_PLUGIN", "web": "MISSING NO_PLUGIN",
		"team": "EXCLUDED", "old": "EXCLUDED"}
	require.Equal(t, want, readReport(t, out).results(), "before anything was started")

	flags = append(flags, "--allow-missing", "--timeout", "4m")
	r = e.pipedeck(flags...)
	require.Zero(t, r.Code, r.Stderr)
	want["good"] = "SUCCESS"
	report := readReport(t, out)
	require.Equal(t, want, report.results())
	for _, a := range report.Applications {
		if a.Name == "ecs" {
			require.Equal(t, "ecs/app.pipecd.yaml", a.Place.File)
		}
	}
	require.Regexp(t, `ecs +MISSING .*NO_PLUGIN: `, r.Stdout)
	require.Regexp(t, `team +EXCLUDED `, r.Stdout)

	r = e.pipedeck("ci", repo, "--cluster", "none", "--report", out, "--exclude", "path:*d", "--exclude",
		"team/app.pipecd.yaml", "--allow-missing")
	require.Equal(t, 1, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "no application was deployed: 5 applications: 2 MISSING, 3 EXCLUDED")
	e.leavesNothing()
}

func TestARunThatRunsOutOfTimeHasItsReports(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"slow/app.pipecd.yaml": application("slow", pipeline("WAIT", "duration: 1h")),
		"fast/app.pipecd.yaml": script("fast", "echo well", ""),
	})
	out := filepath.Join(t.TempDir(), "report.json")
	r := e.pipedeck("ci", repo, "--cluster", "none", "--timeout", "20s", "--report", out)
	require.Equal(t, 4, r.Code, r.Stderr)
	report := readReport(t, out)
	require.Equal(t, 4, report.ExitCode)
	require.Equal(t, map[string]string{"slow": "UNFINISHED", "fast": "SUCCESS"}, report.results())
	require.Contains(t, report.Applications[0].Reason, "stage WAIT is running")
	e.leavesNothing()
}

func TestAReportThatCannotBeWrittenIsRefusedBeforeTheRun(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"a/app.pipecd.yaml": script("a", "echo well", "")})
	for _, flags := range [][]string{{"--report", "report.txt"}, {"--junit", "/no/such/directory/junit.xml"}} {
		r := e.pipedeck(append([]string{"ci", repo, "--cluster", "none"}, flags...)...)
		require.Equal(t, 2, r.Code, r.Stderr)
		require.Contains(t, r.Stderr, "cannot write a report to "+flags[1])
		require.Contains(t, r.Stderr, "next step:")
		require.Empty(t, r.Stdout)
	}
	e.leavesNothing()
}

func TestWhatTheClusterOrTheNetworkLacksHasACauseAndItsPlace(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	chart := "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: chart\n  plugins:\n    kubernetes:\n" +
		"      input:\n        helmChart: {repository: https://charts.invalid, name: web, version: 1.0.0}\n"
	object := func(apiVersion, kind string) string {
		return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: a}\n"
	}
	repo := repository(t, map[string]string{
		"good/app.pipecd.yaml":        application("good", ""),
		"good/config.yaml":            object("v1", "ConfigMap"),
		"certs/app.pipecd.yaml":       application("certs", ""),
		"certs/certificate.yaml":      object("cert-manager.io/v1", "Certificate"),
		"chart/app.pipecd.yaml":       chart,
		"remote/app.pipecd.yaml":      application("remote", ""),
		"remote/kustomization.yaml":   "resources:\n  - https://github.com/example/base?ref=v1\n",
		"misspelt/app.pipecd.yaml":    application("misspelt", ""),
		"misspelt/deployment.yaml":    object("apps/v1", "Deploymnt"),
		"both/app.pipecd.yaml":        application("both", ""),
		"both/certificate.yaml":       object("cert-manager.io/v1", "Certificate"),
		"both/misspelt.yaml":          object("apps/v1", "Deploymnt"),
		"certs2/app.pipecd.yaml":      application("certs2", "  planner: {autoRollback: false}\n"),
		"certs2/dir/certificate.yaml": "# a line before\n" + object("cert-manager.io/v1", "Certificate"),
		"certs2/kustomization.yaml":   "resources: [dir/certificate.yaml]\n",
	})
	out := filepath.Join(t.TempDir(), "report.json")
	r := e.pipedeck("ci", repo, "--cluster", "embedded", "--report", out, "--allow-missing")
	require.Equal(t, 1, r.Code, r.Stderr)
	report := readReport(t, out)
	require.Equal(t, map[string]string{"good": "SUCCESS", "certs": "MISSING NO_CRD", "certs2": "MISSING NO_CRD",
		"chart": "MISSING UNREACHABLE", "remote": "MISSING UNREACHABLE", "misspelt": "FAILURE", "both": "FAILURE"},
		report.results())
	for _, a := range report.Applications {
		switch a.Name {
		case "certs":
			require.Equal(t, "certs/certificate.yaml", a.Place.File)
			require.Equal(t, 2, a.Place.Line)
		case "remote":
			require.Equal(t, "remote/kustomization.yaml", a.Place.File)
			require.Equal(t, 2, a.Place.Line)
		case "misspelt":
			require.Equal(t, "misspelt/deployment.yaml", a.Place.File)
		}
	}
	e.leavesNothing()
}

// TestWhatIsDeployedAndNotAsItShouldBeIsNoSilentSuccess has a volume that no class can give, and two applications that
// each undo what the other applies.
func TestWhatIsDeployedAndNotAsItShouldBeIsNoSilentSuccess(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	shared := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {of: "
	repo := repository(t, map[string]string{
		"good/app.pipecd.yaml":   application("good", ""),
		"good/config.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n",
		"volume/app.pipecd.yaml": application("volume", ""),
		"volume/claim.yaml": "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: " +
			"{accessModes: [ReadWriteOnce], storageClassName: missing, resources: {requests: {storage: 1Gi}}}\n",
		"one/app.pipecd.yaml": application("one", ""), "one/shared.yaml": shared + "one}\n",
		"two/app.pipecd.yaml": application("two", ""), "two/shared.yaml": shared + "two}\n",
	})
	out := filepath.Join(t.TempDir(), "report.json")
	r := e.pipedeck("ci", repo, "--cluster", "embedded", "--report", out, "--allow-unhealthy")
	require.Zero(t, r.Code, r.Stderr)
	report := readReport(t, out)
	require.Equal(t, map[string]string{"good": "SUCCESS", "volume": "UNHEALTHY", "one": "SUCCESS", "two": "SUCCESS"},
		report.results())
	outOfSync := 0
	for _, a := range report.Applications {
		switch a.Name {
		case "volume":
			require.Equal(t, "UNHEALTHY", a.Health)
			require.Regexp(t, "^deployed, but UNHEALTHY: PersistentVolumeClaim default/data is pending", a.Reason)
		case "good":
			require.Equal(t, "SYNCED HEALTHY", a.Sync+" "+a.Health)
		case "one", "two":
			if a.Sync == "OUT_OF_SYNC" {
				outOfSync++
				require.Regexp(t, "^deployed, but OUT_OF_SYNC: ConfigMap default/shared belongs to the application "+
					"(one|two), which applied it last", a.Reason)
			}
		}
	}
	// The one that was applied first; on a busy machine ci may end before piped has looked at it again.
	require.LessOrEqual(t, outOfSync, 1)
	e.leavesNothing()
}

func TestARangeReportsWhatItDoesNotTouchAndWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"web/app.pipecd.yaml":   script("web", "echo one", ""),
		"still/app.pipecd.yaml": script("still", "echo well", ""),
		"off/app.pipecd.yaml":   script("off", "exit 1", ""),
		"old/app.pipecd.yaml":   script("old", "echo well", ""),
		"ecs/app.pipecd.yaml":   script("ecs", "echo well", "") + "      - name: ECS_SYNC\n",
	})
	replaceIn(t, filepath.Join(repo, "web", "app.pipecd.yaml"), "echo one", "echo two")
	replaceIn(t, filepath.Join(repo, "off", "app.pipecd.yaml"), "exit 1", "exit 2")
	require.NoError(t, os.RemoveAll(filepath.Join(repo, "old")))
	gittest.Commit(t, repo, "second")
	out := filepath.Join(t.TempDir(), "report.json")
	flags := []string{"ci", repo, "--cluster", "none", "--report", out, "--allow-missing", "--exclude", "off",
		"--timeout", "4m", "--from"}
	r := e.pipedeck(append(flags, "HEAD~1")...)
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	require.Equal(t, map[string]string{"web": "SUCCESS", "still": "UNCHANGED", "off": "EXCLUDED", "old": "REMOVED",
		"ecs": "MISSING NO_PLUGIN"}, readReport(t, out).results())
	r = e.pipedeck(append(flags, "HEAD~1", "--changed")...)
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	require.Equal(t, map[string]string{"web": "SUCCESS", "still": "UNCHANGED", "off": "EXCLUDED", "old": "REMOVED",
		"ecs": "UNCHANGED"}, readReport(t, out).results())
	r = e.pipedeck(append(flags, "HEAD~1", "--changed", "--exclude", "web")...)
	require.Equal(t, 1, r.Code, r.Stdout+r.Stderr)
	require.Contains(t, r.Stderr, "no application was deployed that the commits touch: 5 applications: 2 UNCHANGED, "+
		"1 REMOVED, 2 EXCLUDED")
	r = e.pipedeck(append(flags, "HEAD", "--changed")...)
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	require.Equal(t, map[string]string{"web": "UNCHANGED", "still": "UNCHANGED", "off": "EXCLUDED", "ecs": "UNCHANGED"},
		readReport(t, out).results())
	e.leavesNothing()
}
