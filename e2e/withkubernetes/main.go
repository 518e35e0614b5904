// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command withkubernetes runs a command while a separate Kubernetes answers, and exits with the
// command's code. PIPEDECK_TEST_KUBECONFIG shows the command how to reach it.
//
//	withkubernetes [--kind [--node-image IMAGE] [--image FOLDER]] COMMAND ARGUMENT...
//
// It is the embedded one, or, with --kind, one that runs containers. It then has an image of the Go
// program in FOLDER, under the name in PIPEDECK_TEST_IMAGE.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/e2e/drive"
)

type options struct {
	kind             bool
	nodeImage, image string
	command          []string
}

func main() {
	var o options
	flag.BoolVar(&o.kind, "kind", false, "a kind cluster in place of the embedded one")
	flag.StringVar(&o.nodeImage, "node-image", "", "the image of its node (default: kind's own)")
	flag.StringVar(&o.image, "image", "", "the folder of a Go program to load as an image")
	flag.Parse()
	o.command = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withkubernetes:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, o options) (code int, err error) {
	if len(o.command) == 0 {
		return 2, errors.New("give a command to run")
	}
	dir, err := os.MkdirTemp("", "withkubernetes-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	provider, err := o.provider(dir)
	if err != nil {
		return 1, err
	}
	if o.kind {
		// The command may have been interrupted; the cluster goes all the same.
		defer func() { err = errors.Join(err, provider.Delete(context.WithoutCancel(ctx))) }()
	}

	stop, err := drive.StartCluster(ctx, provider)
	if err != nil {
		return 1, err
	}
	code, err = o.runCommand(ctx, dir, provider)
	return code, errors.Join(err, stop())
}

func (o options) runCommand(ctx context.Context, dir string, provider cluster.Provider) (code int, err error) {
	cmd := exec.CommandContext(ctx, o.command[0], o.command[1:]...)
	cmd.Env = append(os.Environ(), "PIPEDECK_TEST_KUBECONFIG="+kubeconfig(dir))
	if o.image != "" {
		name, err := load(ctx, filepath.Join(dir, "images"), o.image, provider)
		if err != nil {
			return 1, err
		}
		cmd.Env = append(cmd.Env, "PIPEDECK_TEST_IMAGE="+name)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

func kubeconfig(dir string) string { return filepath.Join(dir, "kubeconfig") }

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }
