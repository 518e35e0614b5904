// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

const wait = 30 * time.Second

// buildServer compiles the stand-in once for all tests.
var buildServer = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "embedded-test-")
	if err != nil {
		return "", err
	}
	return dir, exec.Command("go", "build", "-o", filepath.Join(dir, programName), "./internal/server").Run()
})

func TestMain(m *testing.M) {
	dir, err := buildServer()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

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
	server, err := buildServer()
	require.NoError(t, err)
	data := filepath.Join(dir, "data")
	write(t, filepath.Join(data, "etcd", "plan"), plan)
	r := &run{ended: make(chan error, 1), ready: make(chan string, 16), pids: make(chan int, 16)}
	r.provider = New(Config{
		Program: &Program{Installed: server}, Dir: data, Kubeconfig: filepath.Join(dir, "kubeconfig"),
		LogFile: filepath.Join(dir, "log"), Logger: slog.New(slog.DiscardHandler),
		Started: func(pid int) { r.pids <- pid },
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

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(wait):
		require.FailNow(t, "nothing came in time")
		panic("unreachable")
	}
}

func TestTheServerIsReadyAndEndsWithTheContext(t *testing.T) {
	r := start(t, "run")
	require.Equal(t, "API at https://127.0.0.1:1", receive(t, r.ready))
	r.stop()
	require.NoError(t, receive(t, r.ended))
	require.ErrorIs(t, syscall.Kill(receive(t, r.pids), 0), syscall.ESRCH)
	require.Equal(t, cluster.Embedded, r.provider.Describe().Kind)
	require.True(t, r.provider.Describe().Simulated)
	require.NoError(t, r.provider.Delete(context.Background()))
	require.NoDirExists(t, r.provider.dir)
	require.NoError(t, r.provider.Delete(context.Background()), "there may be nothing to delete")
}

func TestAServerThatFindsItsDataInUseIsTriedAgain(t *testing.T) {
	r := start(t, "locked locked locked locked locked run")
	receive(t, r.ready)
	for range 6 { // which is more than there may be crashes
		receive(t, r.pids)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	require.True(t, slices.Contains(r.said, "waiting for the server of an earlier pipedeck to end"))
}

func TestAServerThatDiesIsStartedAgain(t *testing.T) {
	r := start(t, "run crash run")
	receive(t, r.ready)
	require.NoError(t, syscall.Kill(receive(t, r.pids), syscall.SIGKILL))
	receive(t, r.ready)
	receive(t, r.pids)
	require.NotZero(t, receive(t, r.pids), "the third start")
}

func TestAServerThatWasReadyIsStartedAgainHoweverOftenItDies(t *testing.T) {
	r := start(t, "run crash crash crash crash run")
	receive(t, r.ready)
	require.NoError(t, syscall.Kill(receive(t, r.pids), syscall.SIGKILL))
	receive(t, r.ready)
	require.Empty(t, r.ended)
}

func TestAServerThatKeepsDyingIsGivenUpWithItsLastWords(t *testing.T) {
	r := start(t, "crash")
	err := receive(t, r.ended)
	require.ErrorContains(t, err, "exited with code 1")
	require.ErrorContains(t, err, "the etcd is on fire")
	require.ErrorContains(t, err, r.provider.logFile)
	require.Len(t, r.pids, crashLimit+1)
}
