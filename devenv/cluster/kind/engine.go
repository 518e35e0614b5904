// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	kindcluster "sigs.k8s.io/kind/pkg/cluster"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
	"github.com/pipedeck/pipedeck/system/processtree"
)

const (
	// maxAnswer and maxComplaint bound what is kept of the output of an engine in bytes.
	maxAnswer    = 16 << 20
	maxComplaint = 256 << 10
	// answerDeadline bounds each question to an engine, which may hang rather than refuse.
	answerDeadline = 20 * time.Second
	clusterLabel   = "io.x-k8s.kind.cluster"
)

// engineCommand is the command of a container engine.
type engineCommand struct{ name string }

// findEngine returns the engine that kind would use.
func findEngine(ctx context.Context) (*engineCommand, error) {
	found, err := engine.Find(ctx, engine.Run, os.Getenv(engine.Variable))
	var silent *engine.NotAnsweringError
	switch {
	case err == nil:
		return &engineCommand{found.Name}, nil
	case errors.Is(err, engine.ErrNone):
		return nil, &cluster.HintError{Err: err, Hint: "install Docker, Podman or nerdctl, or use --cluster embedded"}
	case errors.As(err, &silent):
		return nil, &cluster.HintError{Err: err, Hint: "start the container engine (see " + silent.Engine +
			" info), or use --cluster embedded"}
	default:
		return nil, err
	}
}

// answers reports whether the engine can be used now.
func (e *engineCommand) answers(ctx context.Context) error {
	if _, err := e.run(ctx, "ps", "-q"); err != nil {
		return &cluster.HintError{
			Err:  fmt.Errorf("the container engine %s does not answer: %w", e.name, err),
			Hint: "start the container engine (see " + e.name + " info)",
		}
	}
	return nil
}

// option makes kind's library use the same engine.
func (e *engineCommand) option() kindcluster.ProviderOption {
	switch e.name {
	case "docker":
		return kindcluster.ProviderWithDocker()
	case "podman":
		return kindcluster.ProviderWithPodman()
	default:
		return kindcluster.ProviderWithNerdctl(e.name)
	}
}

// nodes returns the names of the containers of a cluster, stopped ones too.
func (e *engineCommand) nodes(ctx context.Context, name string) ([]string, error) {
	out, err := e.run(ctx, "ps", "-a", "--filter", "label="+clusterLabel+"="+name, "--format", "{{.Names}}")
	if err != nil {
		return nil, fmt.Errorf("list the nodes of the cluster %s: %w", name, err)
	}
	return strings.Fields(out), nil
}

// removeNodes removes containers with their volumes, also those with frozen processes; containers that are gone already
// do not matter.
func (e *engineCommand) removeNodes(ctx context.Context, name string) error {
	left, err := e.tryRemoveNodes(ctx, name)
	if err == nil || len(left) == 0 || ctx.Err() != nil {
		return err
	}
	return e.removeFrozen(ctx, left, err)
}

// tryRemoveNodes is removeNodes without a second try. With an error it returns the containers that are left, if it
// knows them.
func (e *engineCommand) tryRemoveNodes(ctx context.Context, name string) ([]string, error) {
	nodes, err := e.nodes(ctx, name)
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	if _, err := e.run(ctx, append([]string{"rm", "-f", "-v"}, nodes...)...); err != nil {
		left, listErr := e.nodes(ctx, name)
		if listErr == nil && len(left) == 0 {
			return nil, nil
		}
		return left, fmt.Errorf("remove the nodes %s: %w", strings.Join(nodes, ", "), err)
	}
	return nil, nil
}

// run returns the output of a command that answers soon.
func (e *engineCommand) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerDeadline, errors.New("no answer in time"))
	defer cancel()
	return e.runLong(ctx, args...)
}

// runLong is run without a separate deadline.
func (e *engineCommand) runLong(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.name, args...)
	separate(cmd)
	stdout, stderr := processtree.NewOutput(maxAnswer), processtree.NewOutput(maxComplaint)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", &commandError{append([]string{e.name}, args...), lastLines([]byte(stderr.String())), err}
	}
	return strings.TrimSpace(stdout.String()), nil
}

// separate keeps a Ctrl-C on the terminal from a command, which its context ends.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A child in its own process group may hold the pipes.
	cmd.WaitDelay = time.Second
}

// commandError holds what was run and its last words.
type commandError struct {
	command []string
	output  string
	err     error
}

func (e *commandError) Error() string {
	if e.output != "" {
		return e.output
	}
	return fmt.Sprintf("%s: %v", strings.Join(e.command, " "), e.err)
}

func (e *commandError) Unwrap() error { return e.err }
