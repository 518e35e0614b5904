// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helper_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/helper/server"
	"github.com/pipedeck/pipedeck/devenv/image/archive"
)

// wait is long enough for any machine.
const wait = 30 * time.Second

// TestMain makes this program the helper, or a process that has one, when a test starts it as such.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == helper.Command:
		if err := server.ServeParent(context.Background(), slog.New(slog.DiscardHandler)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(os.Args) == 3 && os.Args[1] == "parent":
		h := helper.New(helper.Config{Path: os.Args[0], LogFile: os.Args[2]})
		_ = h.Kind(helper.KindConfig{Dir: "none"}).LoadImage(context.Background(), cluster.Image{Archive: "none"})
		fmt.Println(h.PID())
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		os.Exit(m.Run())
	}
}

func newHelper(t *testing.T) *helper.Helper {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	h := helper.New(helper.Config{Path: program, LogFile: filepath.Join(t.TempDir(), "helper.log")})
	t.Cleanup(h.Close)
	return h
}

// kindAt is a kind cluster that no engine makes.
func kindAt(t *testing.T, h *helper.Helper) (helper.KindConfig, cluster.Provider) {
	t.Helper()
	dir := t.TempDir()
	c := helper.KindConfig{Environment: "demo", Cluster: "local", Dir: filepath.Join(dir, "cluster"),
		Kubeconfig: filepath.Join(dir, "kubeconfig"), LogFile: filepath.Join(dir, "log")}
	return c, h.Kind(c)
}

func gone(pid int) func() bool {
	return func() bool { return syscall.Kill(pid, 0) != nil }
}

func TestArchivesAreThoseOfTheWriter(t *testing.T) {
	t.Parallel()
	h := newHelper(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700))
	at := func(name string) string { return filepath.Join(dir, name) }
	size, err := h.Write(t.Context(), program, "linux", "arm64", []string{"web:v1"}, at("theirs"))
	require.NoError(t, err)
	_, err = archive.Writer{}.Write(t.Context(), program, "linux", "arm64", []string{"web:v1"}, at("ours"))
	require.NoError(t, err)
	require.Equal(t, read(t, at("ours")), read(t, at("theirs")))
	require.Len(t, read(t, at("theirs")), int(size))

	_, err = h.Rename(t.Context(), at("theirs"), []string{"web:v2"}, at("renamed"))
	require.NoError(t, err)
	require.Contains(t, read(t, at("renamed")), "web:v2")
	_, err = h.Rename(t.Context(), at("theirs"), []string{"web:v2"}, at("renamed"))
	require.ErrorContains(t, err, "file exists")
	_, err = h.Write(t.Context(), at("none"), "linux", "arm64", []string{"web:v1"}, at("other"))
	require.ErrorContains(t, err, at("none")+": no such file or directory")
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

// It changes the environment of the process, so no other test runs next to it.
func TestErrorsAreThoseOfTheProvider(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no container engine
	h := newHelper(t)
	c, provider := kindAt(t, h)
	require.Equal(t, cluster.Description{Kind: cluster.InDocker, Kubeconfig: c.Kubeconfig}, provider.Describe())
	require.ErrorIs(t, provider.LoadImage(t.Context(), cluster.Image{}), cluster.ErrNeedsArchive)
	require.EqualError(t, provider.LoadImage(t.Context(), cluster.Image{Archive: "a"}),
		"there is no kind cluster to load an image into")
	context := helper.Context{File: kubeconfigOf(t, "kind-mine", "https://127.0.0.1:1")}
	require.ErrorIs(t, h.Existing(context, "copy").LoadImage(t.Context(), cluster.Image{Archive: "a"}),
		cluster.ErrNoImages)

	var said []string
	progress := func(detail string, _, _ int64) { said = append(said, detail) }
	var hinted *cluster.HintError
	require.ErrorAs(t, provider.Run(t.Context(), progress, nil), &hinted)
	require.Equal(t, []string{"looking for a container engine"}, said)
	require.Equal(t, "install Docker, Podman or nerdctl, or use --cluster embedded", hinted.Hint)
	require.False(t, hinted.Usage)

	c.File = filepath.Join(t.TempDir(), "kind.yaml")
	require.NoError(t, os.WriteFile(c.File, []byte("kind: Other\n"), 0o600))
	require.ErrorAs(t, h.Kind(c).Run(t.Context(), progress, nil), &hinted)
	require.True(t, hinted.Usage)
	require.ErrorContains(t, hinted, c.File+":1: apiVersion must be kind.x-k8s.io/v1alpha4 and kind Cluster")
}

// hangingEngine puts a container engine in the path that never answers, and returns the file that it creates.
func hangingEngine(t *testing.T) (called string) {
	t.Helper()
	dir := t.TempDir()
	called = filepath.Join(dir, "called")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docker"),
		[]byte("#!/bin/sh\necho >"+called+"\nexec sleep 600\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "docker")
	return called
}

func exists(path string) func() bool {
	return func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
}

func TestRunEndsWithItsContextWhenTheProviderHasEnded(t *testing.T) {
	called := hangingEngine(t)
	h := newHelper(t)
	_, provider := kindAt(t, h)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- provider.Run(ctx, func(string, int64, int64) {}, nil) }()
	require.Eventually(t, exists(called), wait, time.Millisecond)
	pid := h.PID()
	stop()
	require.NoError(t, <-ended)
	require.False(t, gone(pid)(), "only the call has ended")
	h.Close()
	require.Eventually(t, gone(pid), wait, time.Millisecond)
	require.ErrorContains(t, provider.LoadImage(t.Context(), cluster.Image{Archive: "a"}), "the environment is ending")
}

func TestAProgramThatEndsIsStartedAgainAFewTimes(t *testing.T) {
	called := hangingEngine(t)
	h := newHelper(t)
	_, provider := kindAt(t, h)
	var said []string
	ended := make(chan error, 1)
	go func() {
		ended <- provider.Run(t.Context(), func(detail string, _, _ int64) { said = append(said, detail) }, nil)
	}()
	for range 4 {
		require.Eventually(t, exists(called), wait, time.Millisecond)
		require.NoError(t, os.Remove(called))
		require.NoError(t, syscall.Kill(h.PID(), syscall.SIGKILL))
	}
	err := <-ended
	require.EqualError(t, err, "the helper program has ended unexpectedly: pipedeck-more signal: killed")
	require.Len(t, said, 4+3, "each looks for an engine")
	require.Contains(t, said, "pipedeck-more has ended unexpectedly and is started again; the cluster is kept")
	var hinted *cluster.HintError
	require.ErrorAs(t, err, &hinted)
	require.Contains(t, hinted.Hint, "helper.log")
}

func TestAnUnusedProgramEnds(t *testing.T) {
	t.Parallel()
	h := newHelper(t)
	h.SetIdleTime(time.Millisecond)
	_, provider := kindAt(t, h)
	for range 3 {
		require.ErrorContains(t, provider.LoadImage(t.Context(), cluster.Image{Archive: "a"}), "no kind cluster")
		require.Eventually(t, func() bool { return h.PID() == 0 }, wait, time.Millisecond)
	}
}

func TestAProgramThatIsNotThereSaysWhatToDo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), helper.Program)
	compiled := make(chan struct{})
	h := helper.New(helper.Config{Path: path, LogFile: os.DevNull, Compiled: func(ctx context.Context) error {
		select {
		case <-compiled:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}})
	defer h.Close()
	c, provider := kindAt(t, h)
	require.NoError(t, os.WriteFile(c.Kubeconfig, nil, 0o600))
	require.NoError(t, provider.Delete(t.Context()), "without a record there is nothing to delete")
	require.NoFileExists(t, c.Kubeconfig)

	ctx, stop := context.WithCancel(t.Context())
	require.NoError(t, provider.Run(ctx, func(detail string, _, _ int64) {
		require.Equal(t, "waiting until pipedeck-more is compiled", detail)
		stop()
	}, nil))
	close(compiled)
	err := provider.Run(t.Context(), func(string, int64, int64) {}, nil)
	var hinted *cluster.HintError
	require.ErrorAs(t, err, &hinted)
	require.EqualError(t, err, "the program "+path+" does not exist")
	require.Equal(t, "build it with: make build", hinted.Hint)
}

func TestAProgramEndsWithTheProcessThatHasStartedIt(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	parent := exec.Command(program, "parent", filepath.Join(t.TempDir(), "helper.log"))
	stdin, err := parent.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	require.NotZero(t, pid)
	require.False(t, gone(pid)())
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	require.Eventually(t, gone(pid), wait, time.Millisecond)
}
