// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// startLimit bounds how long a program may take until it answers; stopLimit how long it may take to end.
const (
	startLimit = 30 * time.Second
	stopLimit  = 20 * time.Second
)

// StartProgram runs the program of a plugin, in whatever language it is written, as PipeCD's piped does: with
// the same command line, on a port of 127.0.0.1. It returns when the plugin answers, and ends it with the
// test. Stop sends SIGTERM; a program that has not ended after 20 seconds is killed and fails the test.
func StartProgram(t testing.TB, path string, opts Options) *Harness {
	t.Helper()
	if opts.Name == "" {
		opts.Name = "plugin"
	}
	settings := sdk.Settings{Name: opts.Name, URL: "file://" + path, Port: freePort(t), DeployTargets: opts.DeployTargets}
	if opts.Config != nil {
		data, err := json.Marshal(opts.Config)
		require.NoError(t, err)
		settings.Config = data
	}
	config, err := json.Marshal(settings)
	require.NoError(t, err)
	piped := opts.Piped
	if piped == nil {
		piped = startPiped(t, opts.OldPiped)
	}
	program := exec.Command(path, "start", "--piped-plugin-service", piped.Address, "--config", string(config))
	program.Stdout, program.Stderr = t.Output(), t.Output()
	require.NoError(t, program.Start())
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()

	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(settings.Port))
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	h := newHarness(conn, piped, opts)
	h.stop = sync.OnceValue(func() error { return endProgram(program, ended) })
	t.Cleanup(func() {
		require.NoError(t, h.Stop())
		require.NoError(t, conn.Close())
	})
	awaitAnswer(t, h, ended)
	return h
}

// awaitAnswer returns when the plugin has told its stages.
func awaitAnswer(t testing.TB, h *Harness, ended chan error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		_, err := h.Deployment.FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{}, grpc.WaitForReady(true))
		answered <- err
	}()
	select {
	case err := <-answered:
		require.NoError(t, err, "the plugin does not tell its stages")
	case err := <-ended:
		cancel()
		<-answered
		ended <- nil // it need not be ended any more
		require.FailNow(t, "the plugin ended before it answered", "%v", err)
	}
}

// endProgram gives the program's own error unless that is the signal's.
func endProgram(program *exec.Cmd, ended <-chan error) error {
	_ = program.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(stopLimit, func() { _ = program.Process.Kill() })
	err := <-ended
	if !kill.Stop() {
		return errors.New("the plugin went on after SIGTERM and was killed")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGTERM {
			return nil
		}
	}
	return err
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
