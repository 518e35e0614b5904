// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
)

// defaulted returns the flags of a command line of a user with variables.
func defaulted(t *testing.T, environ []string, args ...string) *Flags {
	t.Helper()
	f, root := &Flags{}, &cobra.Command{Use: "pipedeck"}
	up := &cobra.Command{Use: "up", Run: func(*cobra.Command, []string) {}}
	f.Register(up)
	f.registerLive(up)
	root.AddCommand(up)
	args = append([]string{"up"}, args...)
	require.NoError(t, defaults.Apply(root, args, defaults.Source{Environ: environ}))
	root.SetArgs(args)
	require.NoError(t, root.Execute())
	return f
}

func TestDefaultsOfOtherClustersGiveWayToTheClusterThatIsNamed(t *testing.T) {
	t.Parallel()
	environ := []string{"PIPEDECK_CLUSTER=existing", "PIPEDECK_UP_CONTEXT=staging"}
	f := defaulted(t, environ)
	_, err := f.parse()
	require.NoError(t, err)
	require.Equal(t, "staging", f.context)
	f = defaulted(t, environ, "--cluster", "embedded")
	_, err = f.parse()
	require.NoError(t, err)
	require.NotContains(t, f.arguments(), "--context=staging", "the process of the environment would refuse it")
	f = defaulted(t, environ, "--cluster", "embedded", "--context", "staging")
	_, err = f.parse()
	require.ErrorContains(t, err, "--context and --kubeconfig name an existing cluster", "it was given")
}

func TestADefaultSampleGivesWayToTheDirectoryThatIsNamed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	f := defaulted(t, []string{"PIPEDECK_SAMPLE=hello-world"})
	from, err := f.chooseSource(nil)
	require.NoError(t, err)
	require.Len(t, from.samples, 1)
	_, err = f.chooseSource([]string{dir})
	require.ErrorContains(t, err, dir, "not that there is a sample besides")
	require.NotContains(t, f.arguments(), "--sample=hello-world")
}

func TestTheProcessOfAnEnvironmentGetsDefaultsOnceAsArguments(t *testing.T) {
	t.Parallel()
	f := defaulted(t, []string{"PIPEDECK_UP_LOCAL_PODS=false", "PIPEDECK_CLUSTER=embedded", "PIPEDECK_UP_LIVE=true"})
	require.Subset(t, f.arguments(), []string{"--cluster=embedded", "--local-pods=false", "--live"})
	require.Len(t, f.clusters, 1)
}
