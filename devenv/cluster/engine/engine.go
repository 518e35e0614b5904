// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// Variable chooses kind's engine by name, as the kind command does.
	Variable = "KIND_EXPERIMENTAL_PROVIDER"
	// patience is how long an engine may take to answer; a healthy one needs a fraction of it.
	patience = 5 * time.Second
)

// ErrNone says that no container engine is installed.
var ErrNone = errors.New("no container engine is installed (docker, podman or nerdctl)")

// NotAnsweringError is an engine that is installed and of no use now.
type NotAnsweringError struct {
	// Engine is the command's name.
	Engine string
	Err    error
}

func (e *NotAnsweringError) Error() string {
	return fmt.Sprintf("%s is installed and does not answer: %v", e.Engine, e.Err)
}

// Unwrap returns what was wrong with the answer.
func (e *NotAnsweringError) Unwrap() error { return e.Err }

// Engine is a container engine that answers.
type Engine struct {
	// Name is the command: docker, podman, nerdctl or finch.
	Name string
	// Version is the server's.
	Version string
	// CgroupVersion is 1 or 2, or 0 when the engine does not report it.
	CgroupVersion int
	// Root is the directory with its images, on the engine's own machine.
	Root string
	// Memory is what its machine has, in bytes.
	Memory uint64
	// Rootless is true when the engine runs without root's rights.
	Rootless bool
}

// String is the engine as users know it.
func (e *Engine) String() string { return e.Name + " " + e.Version }

// Command runs a program and returns its standard output. The error of a program that failed
// holds what it wrote to standard error.
type Command func(ctx context.Context, name string, args ...string) ([]byte, error)

// Find returns the engine that kind would use: the chosen one, or else the first that answers. It
// returns within patience: ErrNone, *NotAnsweringError, or the context's error when that ended
// first. chosen is the value of Variable.
func Find(ctx context.Context, run Command, chosen string) (*Engine, error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	names := detected
	if chosen != "" {
		if !slices.Contains(known, chosen) {
			return nil, &NotAnsweringError{chosen, fmt.Errorf("kind knows no such engine (%s)", Variable)}
		}
		names = []string{chosen}
	}
	// One that hangs must not take the time of the others.
	answers := make([]answer, len(names))
	var asking sync.WaitGroup
	for i, name := range names {
		asking.Go(func() { answers[i] = probe(bounded, run, name, chosen == "") })
	}
	asking.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err := ErrNone
	for _, a := range answers {
		switch {
		case a.engine != nil:
			return a.engine, nil
		case a.err != nil && errors.Is(err, ErrNone):
			err = a.err
		}
	}
	return nil, err
}

var (
	// known are the commands that Variable may name.
	known = []string{"docker", "podman", "nerdctl", "finch", "nerdctl.lima"}
	// detected are those that are tried without it, in kind's order.
	detected = []string{"docker", "nerdctl", "podman"}
)

// answer has neither when the engine is not installed.
type answer struct {
	engine *Engine
	err    error
}

// probe asks one engine. An engine that was not chosen counts only under its own name: podman also comes as a command
// named docker. A command that is there and does not report its name is asked nevertheless, because a failure that
// passes, such as too many processes, must not read as "not installed".
func probe(ctx context.Context, run Command, name string, checkName bool) answer {
	if checkName {
		line, err := run(ctx, name, "-v")
		switch {
		case errors.Is(err, exec.ErrNotFound):
			return answer{}
		case err == nil && !strings.HasPrefix(strings.ToLower(string(line)), name+" version"):
			return answer{}
		}
	}
	e, err := ask(ctx, run, name)
	switch {
	case err == nil:
		return answer{engine: e}
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer within %s", patience)
	case errors.Is(err, exec.ErrNotFound) && checkName:
		return answer{}
	}
	return answer{err: &NotAnsweringError{name, err}}
}

func ask(ctx context.Context, run Command, name string) (*Engine, error) {
	if name == "podman" {
		return askPodman(ctx, run)
	}
	// Docker ends with an error when its server does not answer, but prints the reason in its output.
	out, runErr := run(ctx, name, "info", "--format", "{{json .}}")
	var info struct {
		ServerVersion   string
		ServerErrors    []string
		CgroupVersion   string
		DockerRootDir   string
		MemTotal        uint64
		SecurityOptions []string
	}
	err := json.Unmarshal(out, &info)
	switch {
	case err != nil && runErr != nil:
		return nil, runErr
	case err != nil:
		return nil, fmt.Errorf("read its answer: %w", err)
	case len(info.ServerErrors) > 0:
		return nil, errors.New(strings.Join(info.ServerErrors, "; "))
	case runErr != nil:
		return nil, runErr
	case info.ServerVersion == "":
		return nil, errors.New("its server reports no version")
	}
	return &Engine{
		Name: name, Version: info.ServerVersion, CgroupVersion: cgroupVersion(info.CgroupVersion),
		Root: info.DockerRootDir, Memory: info.MemTotal,
		Rootless: strings.Contains(strings.Join(info.SecurityOptions, " "), "name=rootless"),
	}, nil
}

func askPodman(ctx context.Context, run Command) (*Engine, error) {
	out, err := run(ctx, "podman", "info", "--format", "json")
	if err != nil {
		return nil, err
	}
	var info struct {
		Host struct {
			CgroupVersion string `json:"cgroupVersion"`
			MemTotal      uint64 `json:"memTotal"`
			Security      struct {
				Rootless bool `json:"rootless"`
			} `json:"security"`
		} `json:"host"`
		Store struct {
			GraphRoot string `json:"graphRoot"`
		} `json:"store"`
		Version struct{ Version string }
	}
	if err := json.Unmarshal(out, &info); err != nil {
		return nil, fmt.Errorf("read its answer: %w", err)
	}
	return &Engine{
		Name: "podman", Version: info.Version.Version, CgroupVersion: cgroupVersion(info.Host.CgroupVersion),
		Root: info.Store.GraphRoot, Memory: info.Host.MemTotal, Rootless: info.Host.Security.Rootless,
	}, nil
}

func cgroupVersion(reported string) int {
	switch strings.TrimPrefix(reported, "v") {
	case "1":
		return 1
	case "2":
		return 2
	default:
		return 0
	}
}
