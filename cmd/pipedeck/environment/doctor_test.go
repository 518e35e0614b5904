// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"context"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
	"github.com/pipedeck/pipedeck/devenv/cluster/none"
	"github.com/pipedeck/pipedeck/devenv/doctor"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestDoctorPrintsALineForEachCheck(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	code, stdout, _ := command(t.Context(), dir, "doctor", "--cluster", "none", "-o", "json")
	var report document.Doctor
	clitest.Document(t, "doctor", stdout, &report)
	checks := report.Checks
	require.Contains(t, []int{exit.OK, exit.NotStarted}, code, "it depends on the machine")

	_, stdout, _ = command(t.Context(), dir, "doctor", "--cluster", "none")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, len(checks)+1, "a header and a line for each")
	for i, c := range checks {
		require.True(t, strings.HasPrefix(lines[i+1], c.Name), lines[i+1])
	}
	require.NoDirExists(t, dir)

	code, _, stderr := command(t.Context(), dir, "doctor", "--cluster", "moon")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "unknown")
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, _ = command(interrupted, dir, "doctor", "--cluster", "none")
	require.Equal(t, exit.Interrupted, code)
}

func TestAFailingLineCarriesItsRemedy(t *testing.T) {
	t.Parallel()
	checks := []doctor.Check{
		{Name: "git", State: doctor.OK, Found: "git version 2"},
		{Name: "ports", State: doctor.Fail, Found: "no loopback", Why: "all talk over it", Fix: "ip link set lo up"},
	}
	require.Equal(t, [][]string{
		{"git", "ok", "git version 2"},
		{"ports", "fail", "no loopback: all talk over it; next step: ip link set lo up"},
	}, rows(checks))
}

// machineWith has an engine that gives the set answers, and lacks nothing else.
func machineWith(t *testing.T, answer error) *doctor.Doctor {
	t.Helper()
	system := doctor.ThisMachine()
	system.Free = func(context.Context, string) (uint64, error) { return 1 << 40, nil }
	system.Memory = func(context.Context) (uint64, error) { return 1 << 40, nil }
	return &doctor.Doctor{
		System: system, StateDir: t.TempDir(), Clusters: []cluster.Kind{cluster.InDocker},
		Engine: func(context.Context) (*engine.Engine, error) {
			return &engine.Engine{Name: "docker", Version: "19.03.0"}, answer
		},
	}
}

func TestClustersWaitForTheChecks(t *testing.T) {
	t.Parallel()
	p := newPreflight(machineWith(t, nil))
	clusters := p.gate([]env.Cluster{{Name: "local",
		New: func(env.Hooks) (cluster.Provider, error) { return none.Provider{}, nil }}})
	provider, err := clusters[0].New(env.Hooks{})
	require.NoError(t, err)
	var warnings []string
	became := make(chan string, 1)
	err = p.guard(t.Context(), slog.New(slog.DiscardHandler), func(line string) { warnings = append(warnings, line) },
		func(ctx context.Context) error {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			return provider.Run(ctx, func(string, int64, int64) {}, func(detail string) {
				became <- detail
				stop()
			})
		})
	require.NoError(t, err)
	require.NotEmpty(t, became)
	require.Contains(t, strings.Join(warnings, "\n"),
		"warning: container engine: docker 19.03.0: kind is known to work from 20.10 on (")
}

func TestAFailingCheckEndsTheEnvironmentBeforeAClusterIsMade(t *testing.T) {
	t.Parallel()
	p := newPreflight(machineWith(t, engine.ErrNone))
	clusters := p.gate([]env.Cluster{{Name: "local",
		New: func(env.Hooks) (cluster.Provider, error) { return none.Provider{}, nil }}})
	provider, err := clusters[0].New(env.Hooks{})
	require.NoError(t, err)
	err = p.guard(t.Context(), slog.New(slog.DiscardHandler), func(string) {}, func(ctx context.Context) error {
		return provider.Run(ctx, func(string, int64, int64) {}, func(string) { t.Error("a cluster was made") })
	})
	var failure *exit.Error
	require.ErrorAs(t, exit.Explain(t.Context(), err), &failure)
	require.Equal(t, exit.NotStarted, failure.Code)
	require.ErrorContains(t, failure, "this machine: container engine: none is installed")
	require.Contains(t, failure.Hint, "--cluster embedded")
}

func TestAnEnvironmentThatEndsItselfHasItsOwnError(t *testing.T) {
	t.Parallel()
	p := newPreflight(machineWith(t, nil))
	own := errors.New("own")
	err := p.guard(t.Context(), slog.New(slog.DiscardHandler), func(string) {},
		func(context.Context) error { return own })
	require.ErrorIs(t, err, own)
}

func TestAnExistingClusterIsCheckedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	nothing, err := exec.LookPath("true")
	require.NoError(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte("current-context: prod\ncontexts: [{name: prod, context: "+
		"{cluster: c}}]\n"+
		"clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"), 0o600))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"not for development": {nil, exit.WrongUsage,
			`context "prod" does not look like a cluster for development: its name`},
		"no such context": {[]string{"--context", "dev"}, exit.WrongUsage, "--context: prod"},
		// The time is up before anything else can go wrong.
		"with --yes": {[]string{"--yes", "--timeout", "1ns"}, exit.TimedOut, "timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			args := []string{"ci", clitest.Repository(t, clitest.GoodApplication), "--cluster", "existing",
				"--kubeconfig", kubeconfig, "--name", "test", "--output", "plain", "--piped", nothing}
			for _, plugin := range bundledPlugins {
				args = append(args, "--plugin", plugin+"="+nothing)
			}
			code, _, stderr := command(t.Context(), dir, append(args, c.args...)...)
			require.Equal(t, c.code, code, stderr)
			require.Contains(t, stderr, c.says)
			require.NoDirExists(t, dir)
		})
	}
}
