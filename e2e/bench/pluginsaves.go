// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

var (
	ratioLimit = limit{"median", 1.15} // of a bare build
	rerunLimit = limit{"max", 200}     // ms
)

// barely numbers the edits that only the bare build compiles: what the environment has compiled is in Go's cache.
const barely = 1000

// saves measures the time from a saved file to its code serving, all of it: the notice, the build, the start; next to a
// bare go build of the same edit with another number. pipedeck plugin dev runs the stage again after each.
func (o *onePlugin) saves(ctx context.Context, n int) (err error) {
	bare := filepath.Join(filepath.Dir(o.source), "bare")
	if err := os.CopyFS(bare, os.DirFS(o.source)); err != nil {
		return err
	}
	dev, err := follow(ctx, o.bin, o.state, "plugin", "dev", "bench="+o.source, "-o", "json")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.stop()) }()
	var saved, built, again []time.Duration
	var ratios []float64
	for round := range n + 1 { // the first one is not measured: its author may come after it
		took, err := buildBarely(ctx, bare, barely+round)
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
		again = append(again, ended.At.Sub(done))
		ratios = append(ratios, float64(serving.At.Sub(began))/float64(took))
	}
	figures("a plugin's file saved -> new code serving", saved, savedLimit)
	figures("the same edit: a bare go build", built)
	numbers("saved -> serving, in bare builds", "x", slices.Clone(ratios), ratioLimit)
	figures("plugin dev: built -> its stage has run again", again, rerunLimit)
	return nil
}

// buildBarely edits the plugin and compiles it as its author would.
func buildBarely(ctx context.Context, dir string, round int) (time.Duration, error) {
	if err := savePlugin(dir, round); err != nil {
		return 0, err
	}
	began := time.Now()
	_, err := goCommand(ctx, dir, "build", "-o", filepath.Join(dir, "bench"), ".")
	return time.Since(began), err
}
