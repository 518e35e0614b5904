// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command withkubernetes runs a command while an embedded Kubernetes answers, and exits with the
// command's code. PIPEDECK_TEST_KUBECONFIG tells the command how to reach it.
//
//	withkubernetes COMMAND ARGUMENT...
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withkubernetes:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, command []string) (code int, err error) {
	if len(command) == 0 {
		return 2, errors.New("give a command to run")
	}
	dir, err := os.MkdirTemp("", "withkubernetes-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	program, err := embedded.NewProgram()
	if err != nil {
		return 1, err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	provider := embedded.New(embedded.Config{
		Program: program, Dir: filepath.Join(dir, "data"), Kubeconfig: kubeconfig, LogFile: filepath.Join(dir, "log"),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})

	ctx, stop := context.WithCancel(ctx)
	ready, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- provider.Run(ctx, func(string, int64, int64) {}, func(string) {
			select {
			case ready <- struct{}{}:
			default: // it was started again
			}
		})
	}()
	select {
	case err := <-ended:
		stop()
		return 1, fmt.Errorf("the embedded Kubernetes did not start: %w", err)
	case <-ready:
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PIPEDECK_TEST_KUBECONFIG="+kubeconfig)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	runErr := cmd.Run()
	stop()
	if err := <-ended; err != nil {
		return 1, err
	}
	var exit *exec.ExitError
	if errors.As(runErr, &exit) {
		return exit.ExitCode(), nil
	}
	if runErr != nil {
		return 1, runErr
	}
	return 0, nil
}
