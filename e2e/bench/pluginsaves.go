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
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
)

var (
	ratioLimit = limit{"median", 1.15} // of a bare build
	rerunLimit = limit{"max", 200}     // ms
)

// barely and alone number the edits that only the bare builds compile: what the environment has compiled is in Go's
// cache.
const (
	barely = 1000
	alone  = 2000
)

// bareBuild is what an author types.
var bareBuild = []string{"go", "build", "."}

// saves measures the time from a saved file to its code serving, all of it: the notice, the build, the start; next to
// builds of the same edit with another number: the bare one, and the command of piped-plugin.yaml by itself.
// pipedeck plugin dev runs the stage again after each.
func (o *onePlugin) saves(ctx context.Context, n int) (err error) {
	if n == 0 {
		return nil
	}
	bare := filepath.Join(filepath.Dir(o.source), "bare")
	recipe, err := o.copySource(bare)
	if err != nil {
		return err
	}
	dev, err := follow(ctx, o.bin, o.state, "plugin", "dev", "bench="+o.source, "-o", "json")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.stop()) }()
	var saved, built, commanded, again []time.Duration
	var ratios []float64
	for round := range n + 1 { // the first one is not measured: its author may come after it
		took, err := buildBarely(ctx, bare, barely+round, bareBuild)
		if err != nil {
			return err
		}
		command, err := buildBarely(ctx, bare, alone+round, recipe)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := savePlugin(o.source, round+1); err != nil {
			return err
		}
		serving, err := o.session.await("the plugin serves with new code", o.serves)
		if err != nil {
			return err
		}
		var done time.Time
		ended, err := dev.await("the stage has run again", func(e event) bool {
			if e.Is("build", "state", "DONE") {
				done = e.At
			}
			return e.Is("rerun", "status", "SUCCESS")
		})
		if err != nil {
			return err
		}
		if round == 0 {
			continue
		}
		if done.IsZero() {
			return fmt.Errorf("round %d: the stage ran again without a build", round)
		}
		saved, built = append(saved, serving.At.Sub(began)), append(built, took)
		commanded = append(commanded, command)
		again = append(again, ended.At.Sub(done))
		ratios = append(ratios, float64(serving.At.Sub(began))/float64(took))
	}
	figures("a plugin's file saved -> new code serving", saved, savedLimit)
	figures("the same edit: "+strings.Join(bareBuild, " "), built)
	figures("the same edit: build of "+config.KindPluginFile, commanded)
	numbers("saved -> serving, in bare builds", "x", slices.Clone(ratios), ratioLimit)
	figures("plugin dev: built -> its stage has run again", again, rerunLimit)
	return nil
}

// copySource copies the plugin to dir, and returns the command with which its author has it built.
func (o *onePlugin) copySource(dir string) (build []string, err error) {
	if err := os.CopyFS(dir, os.DirFS(o.source)); err != nil {
		return nil, err
	}
	name := filepath.Join(o.source, config.KindPluginFile)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := config.ParsePluginFile(data, name)
	if err != nil {
		return nil, err
	}
	return file.Build, nil
}

// buildBarely edits the plugin and compiles it with a command, as its author would.
func buildBarely(ctx context.Context, dir string, round int, command []string) (time.Duration, error) {
	if err := savePlugin(dir, round); err != nil {
		return 0, err
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out)
	}
	return time.Since(began), nil
}

// asAuthor gives the go command the settings of an author's shell until restore is called: those of make share compiled
// packages with the programs of this repository.
func asAuthor() (restore func() error, err error) {
	restore = func() error { return nil }
	for _, name := range []string{"GOFLAGS", "CGO_ENABLED"} {
		value, set := os.LookupEnv(name)
		if !set {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
		before := restore
		restore = func() error { return errors.Join(before(), os.Setenv(name, value)) }
	}
	return restore, nil
}
