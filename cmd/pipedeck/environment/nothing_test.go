// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// oneApplication is the configuration of an application with further lines of its spec.
func oneApplication(name string, lines ...string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: " + name +
		"\n  plugins: {kubernetes: {}}\n" + strings.Join(lines, "")
}

const (
	chainOfWeb   = "  postSync: {chain: {applications: [{name: web}]}}\n"
	inChainsOnly = "  trigger: {onCommit: {disabled: true}, onChain: {disabled: false}}\n"
)

const byUsersOnly = "  trigger: {onCommit: {disabled: true}, onOutOfSync: {disabled: true}, " +
	"onChain: {disabled: true}}\n"

func TestARunThatDeploysNothingIsWellOnlyWhenTheRangeTouchesNoApplication(t *testing.T) {
	t.Parallel()
	selector := "  appSelector: {team: web}\n"
	for name, c := range map[string]struct {
		base, change map[string]string
		remove       string
		selector     string
		args         []string
		code         int
		reason       string
	}{
		"only words": {change: map[string]string{"README.md": "words"},
			reason: "nothing to deploy: HEAD~1..HEAD touches no application"},
		"only words, and one is left out": {change: map[string]string{"README.md": "words"},
			args: []string{"--exclude", "web"}, reason: "nothing to deploy: HEAD~1..HEAD touches no application"},
		"only what users deploy": {
			base:   map[string]string{"web/app.pipecd.yaml": oneApplication("web", byUsersOnly)},
			change: map[string]string{"web/deployment.yaml": "x"}, code: exit.Failed,
			reason: "web: UNDEPLOYED: web/deployment.yaml was changed, but neither a commit, drift nor a chain " +
				"deploys it",
		},
		"only a member of a chain": {
			base: map[string]string{"db/app.pipecd.yaml": oneApplication("db", chainOfWeb),
				"web/app.pipecd.yaml": oneApplication("web", inChainsOnly)},
			change: map[string]string{"web/run.sh": "exit 1"}, code: exit.Failed,
			reason: "web: UNDEPLOYED: web/run.sh was changed, but only the deployment chain of db deploys it, " +
				"which nothing in this run starts",
		},
		"only what a commit takes out of deployments": {
			change: map[string]string{"web/app.pipecd.yaml": oneApplication("web", byUsersOnly)}, code: exit.Failed,
			reason: "web: UNDEPLOYED: web/app.pipecd.yaml was changed, but neither",
		},
		"only what users deploy, and that is left out": {
			base:   map[string]string{"web/app.pipecd.yaml": oneApplication("web", byUsersOnly)},
			change: map[string]string{"web/deployment.yaml": "x"}, args: []string{"--exclude", "web"},
			code: exit.Failed, reason: "no application was deployed that the commits touch: 2 applications: " +
				"1 UNCHANGED, " +
				"1 EXCLUDED",
		},
		"an application goes": {remove: "web",
			reason: "nothing to deploy: HEAD~1..HEAD touches no application; it removes web"},
		"only what appSelector leaves out": {selector: selector,
			base: map[string]string{"selected/app.pipecd.yaml": oneApplication("selected",
				"  labels: {team: web}\n")},
			change: map[string]string{"web/deployment.yaml": "x"},
			reason: "nothing to deploy: HEAD~1..HEAD touches no application"},
		"nothing is selected": {selector: selector, change: map[string]string{"README.md": "words"},
			code: exit.Failed, reason: "no application was deployed: 2 applications: 2 EXCLUDED"},
		"all that is touched is left out": {change: map[string]string{"web/deployment.yaml": "x"},
			args: []string{"--exclude", "web"}, code: exit.Failed,
			reason: "no application was deployed that the commits touch: 2 applications: 1 UNCHANGED, 1 EXCLUDED"},
		"what is touched lacks a plugin": {
			change: map[string]string{"web/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\n" +
				"spec:\n  name: web\n  plugins: {nowhere: {}}\n"},
			args: []string{"--allow-missing"}, code: exit.Failed,
			reason: "no application was deployed that the commits touch: 2 applications: 1 MISSING, 1 UNCHANGED",
		},
		"what is touched is not valid": {
			change: map[string]string{"web/app.pipecd.yaml": oneApplication("web", "  timeout: soon\n")},
			code:   exit.WrongUsage, reason: "web/app.pipecd.yaml:6:",
		},
		"the base is not there": {change: map[string]string{"README.md": "words"}, args: []string{"--from", "gone"},
			code: exit.WrongUsage, reason: "--from"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := gittest.Init(t)
			gittest.Write(t, repo, "web/app.pipecd.yaml", oneApplication("web"))
			gittest.Write(t, repo, "db/app.pipecd.yaml", oneApplication("db"))
			for file, content := range c.base {
				gittest.Write(t, repo, file, content)
			}
			gittest.Commit(t, repo, "base")
			for file, content := range c.change {
				gittest.Write(t, repo, file, content)
			}
			if c.remove != "" {
				gittest.Run(t, repo, "rm", "-q", "-r", c.remove)
			}
			gittest.Commit(t, repo, "change")

			dir := t.TempDir()
			junit, markdown := filepath.Join(dir, "j.xml"), filepath.Join(dir, "r.md")
			machine := filepath.Join(dir, "r.json")
			args := ciArguments(t, repo, "--from", "HEAD~1", "--changed", "--junit", junit, "--report", markdown,
				"--report", machine)
			if c.selector != "" {
				file := filepath.Join(dir, "piped.yaml")
				require.NoError(t, os.WriteFile(file, []byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n"+
					c.selector), 0o600))
				args = append(args, "--piped-config", file)
			}
			code, _, stderr := command(t.Context(), filepath.Join(dir, "state"), append(args, c.args...)...)
			require.Equal(t, c.code, code, stderr)

			well := c.code == exit.OK
			data, err := os.ReadFile(machine)
			require.NoError(t, err)
			var run report.Run
			require.NoError(t, json.Unmarshal(data, &run))
			require.Contains(t, run.Reason, c.reason)
			require.Equal(t, c.code, run.ExitCode)
			require.Equal(t, well, run.NothingToDeploy)
			require.True(t, len(run.Failed()) == 0 || !well, "no row may contradict the exit code")
			require.GreaterOrEqual(t, len(run.Applications), 2, "each application has a row")
			for _, file := range []string{junit, markdown} {
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				require.Equal(t, well, strings.Contains(string(data), "nothing to deploy"), string(data))
			}
		})
	}
}

func TestAnApplicationForSeveralClustersNamesTheFlagsThatMakeThem(t *testing.T) {
	t.Parallel()
	repo := gittest.Init(t)
	gittest.Write(t, repo, "web/app.pipecd.yaml", "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"+
		"  name: web\n  plugins: {kubernetes_multicluster: {}}\n")
	gittest.Commit(t, repo, "base")
	code, _, stderr := command(t.Context(), filepath.Join(t.TempDir(), "state"), ciArguments(t, repo)...)
	require.Equal(t, exit.WrongUsage, code, stderr)
	require.Contains(t, stderr, "next step: the plugin kubernetes_multicluster comes with several clusters: "+
		"--cluster one=embedded --cluster two=embedded\n")
}

// TestARunWithOtherRepositoriesEndsAtOnceWhenNoneOfTheirApplicationsIsSelected would run until its time is up if it
// waited for a deployment: piped registers no application.
func TestARunWithOtherRepositoriesEndsAtOnceWhenNoneOfTheirApplicationsIsSelected(t *testing.T) {
	t.Parallel()
	repo, other := gittest.Init(t), gittest.Init(t)
	for _, one := range []string{repo, other} {
		gittest.Write(t, one, "web/app.pipecd.yaml", oneApplication("web"))
		gittest.Commit(t, one, "base")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "piped.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n"+
		"  appSelector: {team: web}\n  repositories:\n    - {repoId: other, remote: "+other+", branch: "+
		strings.TrimSpace(gittest.Run(t, other, "branch", "--show-current"))+"}\n"), 0o600))
	code, stdout, stderr := command(t.Context(), filepath.Join(dir, "state"),
		ciArguments(t, repo, "--piped-config", file, "--timeout", "20s")...)
	require.Equal(t, exit.Failed, code, stderr)
	require.Contains(t, stderr, "no application was deployed: 1 application: 1 EXCLUDED")
	require.NotContains(t, stdout, "component", "nothing is started")
}
