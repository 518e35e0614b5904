// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// benchKind compares the creation of a cluster with kind's own command, in turn, and measures what
// comes after it. It needs a container engine; image may be empty for kind's own.
func benchKind(ctx context.Context, bin, dir, image string, n int) error {
	if !engineAnswers() {
		fmt.Println("kind: not measured, no container engine answers")
		return nil
	}
	program := filepath.Join(dir, "kind")
	if out, err := exec.Command("go", "build", "-o", program, "sigs.k8s.io/kind").CombinedOutput(); err != nil {
		return fmt.Errorf("build kind: %w\n%s", err, out)
	}
	var plain, ours, after []time.Duration
	for i := range n {
		took, err := plainKind(ctx, program, dir, image)
		if err != nil {
			return err
		}
		plain = append(plain, took)
		created, deployed, err := ourKind(ctx, bin, filepath.Join(dir, fmt.Sprintf("kind-%d", i)), image)
		if err != nil {
			return err
		}
		ours, after = append(ours, created), append(after, deployed)
	}
	figures("kind create cluster --wait", plain)
	figures("pipedeck up --cluster kind -> node Ready", ours)
	figures("node Ready -> hello-world deployed", after)
	return nil
}

func engineAnswers() bool {
	for _, engine := range []string{"docker", "podman", "nerdctl"} {
		if exec.Command(engine, "info").Run() == nil {
			return true
		}
	}
	return false
}

// plainKind creates a cluster with kind's own command and removes it.
func plainKind(ctx context.Context, program, dir, image string) (time.Duration, error) {
	const name = "pipedeck-bench-plain"
	kubeconfig := filepath.Join(dir, "plain.kubeconfig")
	args := []string{"create", "cluster", "--name", name, "--kubeconfig", kubeconfig, "--wait", "3m"}
	if image != "" {
		args = append(args, "--image", image)
	}
	began := time.Now()
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	took := time.Since(began)
	if err != nil {
		err = fmt.Errorf("kind create cluster: %w\n%s", err, out)
	}
	if out, deleteErr := exec.Command(program, "delete", "cluster", "--name", name, "--kubeconfig",
		kubeconfig).CombinedOutput(); deleteErr != nil {
		err = errors.Join(err, fmt.Errorf("kind delete cluster: %w\n%s", deleteErr, out))
	}
	return took, err
}

// ourKind measures from the start of pipedeck to its node's readiness, and from there to hello-world.
func ourKind(ctx context.Context, bin, state, image string) (created, deployed time.Duration, err error) {
	args := []string{"--sample", "hello-world", "--cluster", "kind", "--keep=false"}
	if image != "" {
		args = append(args, "--node-image", image)
	}
	s, err := start(ctx, bin, state, args...)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.stop(), os.RemoveAll(state)) }()
	ready, err := s.await("the cluster is ready", component("kubernetes", "READY"))
	if err != nil {
		return 0, 0, err
	}
	done, err := s.await("hello-world is deployed", deployment("hello-world", "SUCCESS"))
	if err != nil {
		return 0, 0, err
	}
	return ready.At.Sub(s.began), done.At.Sub(ready.At), nil
}
