// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// It changes the working directory, so no other test runs next to it.
func TestNoSampleTakesThePlaceOfARepository(t *testing.T) {
	empty := t.TempDir()
	without := clitest.Repository(t, clitest.GoodApplication)
	require.NoError(t, os.Remove(filepath.Join(without, "app.pipecd.yaml")))
	clitest.CommitAll(t, without)
	broken := clitest.Repository(t, clitest.GoodApplication)
	require.NoError(t, os.WriteFile(filepath.Join(broken, ".git", "config"), []byte("[core\n"), 0o600))
	unborn := t.TempDir()
	gittest.Run(t, unborn, "init", "-q")
	for dir, says := range map[string]string{
		empty: "is not a Git repository", without: "has no application at HEAD", unborn: "has no commits on branch",
		broken: "has a broken configuration",
	} {
		t.Chdir(dir)
		state := filepath.Join(t.TempDir(), "state")
		for _, verb := range []string{"up", "ci"} {
			code, stdout, stderr := command(t.Context(), state, verb, "--output", "plain", "--cluster", "none")
			require.Equal(t, exit.WrongUsage, code, "%s: %s", says, stderr)
			require.Contains(t, stderr, says)
			require.Contains(t, stderr, "next step: ")
			require.Contains(t, stderr, "add --sample hello-world")
			require.Equal(t, dir == without, strings.Contains(stderr, "pipedeck init"), stderr)
			require.Empty(t, stdout)
			require.NoDirExists(t, state)
		}
	}

	detached := clitest.Repository(t, clitest.GoodApplication)
	gittest.Run(t, detached, "checkout", "-q", "--detach")
	t.Chdir(detached)
	for _, args := range [][]string{nil, {"."}} {
		from, err := (&Flags{}).chooseSource(args)
		require.NoError(t, err)
		require.Empty(t, from.samples)
		require.NotEmpty(t, from.dir)
	}
}

func TestASampleForSeveralClustersSaysWhichItNeeds(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	for _, clusters := range [][]string{{"embedded"}, {"tokyo=embedded"}, {"tokyo=embedded", "paris=embedded"}} {
		args := []string{"up", "--output", "plain", "--sample", "hello-world", "--sample", "multicluster"}
		for _, c := range clusters {
			args = append(args, "--cluster", c)
		}
		code, _, stderr := command(t.Context(), state, args...)
		require.Equal(t, exit.WrongUsage, code, stderr)
		require.Contains(t, stderr, "multicluster deploys to the clusters tokyo and london")
		require.Contains(t, stderr, "--sample hello-world --sample multicluster --cluster tokyo=embedded "+
			"--cluster london=embedded")
	}
	require.NoDirExists(t, state)
}

func TestHelpListsEachSampleOnALine(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"up", "ci"} {
		_, stdout, _ := command(t.Context(), t.TempDir(), verb, "--help")
		for _, sample := range sampleapps.All() {
			require.Regexp(t, `(?m)^  `+sample.Name+` +`+sample.Summary+`$`, stdout)
		}
	}
}

func TestPluginsThatDeployToKubernetesGetTheClusters(t *testing.T) {
	t.Parallel()
	given := []string{"kubernetes_multicluster=/p/multi", "kubernetes=/p/other", "mine=/p/mine"}
	for name, tc := range map[string]struct {
		clusters, plugins, want []string
	}{
		"the bundled one": {[]string{"embedded"}, nil, []string{"kubernetes"}},
		"one in its place, and PipeCD's": {[]string{"embedded"}, given,
			[]string{"kubernetes", "kubernetes_multicluster"}},
		"both for several clusters": {[]string{"a=embedded", "b=embedded"}, nil,
			[]string{"kubernetes", "kubernetes_multicluster"}},
		"none without a cluster": {[]string{"none"}, given, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &Flags{clusterFlags: clusterFlags{clusters: tc.clusters}, plugins: tc.plugins}
			plugins, err := f.pluginList("/bin")
			require.NoError(t, err)
			var got []string
			for _, p := range plugins {
				if p.Kubernetes {
					got = append(got, p.Name)
				}
			}
			require.Equal(t, tc.want, got)
		})
	}
}
