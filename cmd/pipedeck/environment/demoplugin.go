// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/demo"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// storyPlugin is a plugin that is created for a story.
type storyPlugin struct {
	// name is empty for a story without one.
	name string
	// language is that of pipedeck plugin new, work the file there with the stage.
	language, work string
}

const (
	// trialTime bounds the question whether Python has what plugins need.
	trialTime = 10 * time.Second
	// scaffoldTime bounds the creation of a plugin, which writes some thousand files.
	scaffoldTime = time.Minute
)

// checkStoryBuild finds what keeps the programs of a sample from being built. Releases have them next to pipedeck.
func checkStoryBuild() error {
	if _, err := exec.LookPath("go"); err == nil {
		return nil
	}
	bin, err := pluginflag.ProgramDir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(bin, installedImages)); err != nil {
		return exit.With(exit.NotStarted, errors.New("a story deploys programs in Go, and there is no go command to "+
			"build them with"), "install Go from https://go.dev/dl, or a release of pipedeck, which has them built")
	}
	return nil
}

// findStoryPlugin chooses the language of the plugin of a story, by what this machine can build: Go, else Python. It
// starts nothing of the environment, so that a user who lacks both has to clean up nothing.
func findStoryPlugin(ctx context.Context, name string) (storyPlugin, error) {
	if name == "" {
		return storyPlugin{}, nil
	}
	if _, err := exec.LookPath("go"); err == nil {
		return storyPlugin{name, "go", "stage.go"}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	if exec.CommandContext(ctx, "python3", "-c", "import grpc, google.protobuf").Run() == nil {
		return storyPlugin{name, "python", "main.py"}, nil
	}
	return storyPlugin{}, exit.With(exit.NotStarted, fmt.Errorf("the story creates the plugin %s, and this machine "+
		"cannot build it: there is neither a go command nor a python3 with grpcio", name),
		"install Go from https://go.dev/dl, or play another story: pipedeck demo tour")
}

// create writes the sources of the plugin into the directory of the environment, as pipedeck plugin new does for any
// author, and returns the value of --plugin.
func (p storyPlugin) create(ctx context.Context, w *workspace.Workspace) (flag string, err error) {
	if p.name == "" {
		return "", nil
	}
	if err := w.Create(); err != nil {
		return "", err
	}
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find my own program: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, scaffoldTime)
	defer cancel()
	dir := workspace.PluginSources(w, p.name)
	out, err := exec.CommandContext(ctx, program, "plugin", "new", p.name, dir, "--lang", p.language).CombinedOutput()
	switch ended := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &ended):
		said, hint, _ := strings.Cut(strings.TrimSpace(string(out)), "\nnext step: ")
		return "", exit.With(exit.NotStarted, fmt.Errorf("create the plugin of the story: %s",
			strings.TrimPrefix(said, "pipedeck: ")), hint)
	case err != nil:
		return "", fmt.Errorf("create the plugin of the story: %w", err)
	}
	return p.name + "=" + dir, nil
}

// source is where a story finds the sources.
func (p storyPlugin) source(w *workspace.Workspace) demo.Plugin {
	if p.name == "" {
		return demo.Plugin{}
	}
	return demo.Plugin{Dir: workspace.PluginSources(w, p.name), Work: p.work}
}
