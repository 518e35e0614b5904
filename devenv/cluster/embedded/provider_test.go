// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/system/buildtest"
	"github.com/pipedeck/pipedeck/system/chantest"
)

// serverProgram stands in for the embedded Kubernetes.
var serverProgram string

func TestMain(m *testing.M) { buildtest.Main(m, &serverProgram, "./internal/embeddedk8s") }

// run is a provider at work.
type run struct {
	provider *Provider
	stop     context.CancelFunc
	ended    chan error
	ready    chan string

	pids chan int

	mu   sync.Mutex
	said []string
}

// start runs the stand-in by a plan.
func start(t *testing.T, plan string) *run {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	write(t, filepath.Join(data, "etcd", "plan"), plan)
	r := &run{ended: make(chan error, 1), ready: make(chan string, 16), pids: make(chan int, 16)}
	r.provider = New(Config{
		Program: &Program{Installed: filepath.Dir(serverProgram)}, Dir: data,
		Kubeconfig: filepath.Join(dir, "kubeconfig"),
		LogFile:    filepath.Join(dir, "log"), Logger: slog.New(slog.DiscardHandler),
		Started: func(pid int) { r.pids <- pid }, LocalPods: true,
	})
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	progress := func(detail string, _, _ int64) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.said = append(r.said, detail)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- r.provider.Run(ctx, progress, func(detail string) { r.ready <- detail })
	}()
	t.Cleanup(func() { stop(); <-done })
	return r
}

func TestTheServerIsReadyAndEndsWithTheContext(t *testing.T) {
	r := start(t, "run")
	require.Equal(t, "API at https://127.0.0.1:1", chantest.Receive(t, r.ready))
	r.stop()
	require.NoError(t, chantest.Receive(t, r.ended))
	require.ErrorIs(t, syscall.Kill(chantest.Receive(t, r.pids), 0), syscall.ESRCH)
	require.Equal(t, cluster.Embedded, r.provider.Describe().Kind)
	require.True(t, r.provider.Describe().Local)
	group := filepath.Join(t.TempDir(), "pipedeck-pods-0123") // as a killed server leaves it
	require.NoError(t, os.MkdirAll(filepath.Join(group, "uid-main-0"), 0o700))
	write(t, filepath.Join(r.provider.dir, "pods", "cgroup"), group)
	require.NoError(t, r.provider.Delete(context.Background()))
	require.NoDirExists(t, r.provider.dir)
	require.NoDirExists(t, group)
	require.NoError(t, r.provider.Delete(context.Background()), "there may be nothing to delete")
}

func TestAServerThatFindsItsDataInUseIsTriedAgain(t *testing.T) {
	r := start(t, "locked locked locked locked locked run")
	chantest.Receive(t, r.ready)
	for range 6 { // which is more than there may be crashes
		chantest.Receive(t, r.pids)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	require.True(t, slices.Contains(r.said, "waiting for the server of an earlier pipedeck to end"))
}

func TestAServerThatDiesIsStartedAgain(t *testing.T) {
	r := start(t, "run crash run")
	chantest.Receive(t, r.ready)
	require.NoError(t, syscall.Kill(chantest.Receive(t, r.pids), syscall.SIGKILL))
	chantest.Receive(t, r.ready)
	chantest.Receive(t, r.pids)
	require.NotZero(t, chantest.Receive(t, r.pids), "the third start")
}

func TestPodsOfAServerThatDiedAreEndedBeforeTheNextOneStarts(t *testing.T) {
	r := start(t, "leave run")
	chantest.Receive(t, r.ready)
	content, err := os.ReadFile(filepath.Join(r.provider.dir, "etcd", "left"))
	require.NoError(t, err)
	left, err := strconv.Atoi(string(content))
	require.NoError(t, err)
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", left))
	require.True(t, err != nil || len(line) == 0, "process %d is there: %s", left, line)
}

func TestAServerThatWasReadyIsStartedAgainHoweverOftenItDies(t *testing.T) {
	r := start(t, "run crash crash crash crash run")
	chantest.Receive(t, r.ready)
	require.NoError(t, syscall.Kill(chantest.Receive(t, r.pids), syscall.SIGKILL))
	chantest.Receive(t, r.ready)
	require.Empty(t, r.ended)
}

func TestAServerThatKeepsDyingIsGivenUpWithItsLastWords(t *testing.T) {
	r := start(t, "crash")
	err := chantest.Receive(t, r.ended)
	require.ErrorContains(t, err, "exited with code 1")
	require.ErrorContains(t, err, "the etcd is on fire")
	require.ErrorContains(t, err, r.provider.logFile)
	require.Len(t, r.pids, crashLimit+1)
}
