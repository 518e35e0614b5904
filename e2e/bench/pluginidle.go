// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// benchIdlePlugins compares the agent with many idle plugins with one that has only the bundled ones.
func benchIdlePlugins(ctx context.Context, bin, dir, source string, size pluginScale) error {
	var flags []string
	program, err := os.ReadFile(filepath.Join(source, "bench"))
	if err != nil {
		return err
	}
	if !bytes.Contains(program, idlePlugin) {
		return fmt.Errorf("the program of the bench's plugin does not hold %s", idlePlugin)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i := range size.idlePlugins {
		// Each owns a separate stage, as plugins do: the name is exchanged in the program.
		name := fmt.Sprintf("bench-%02d", i+1)
		own := bytes.ReplaceAll(program, idlePlugin, fmt.Appendf(nil, "BENCH_STAGE_%02d", i+1))
		if err := os.WriteFile(filepath.Join(dir, name), own, 0o700); err != nil {
			return err
		}
		flags = append(flags, "--plugin", name+"="+filepath.Join(dir, name))
	}
	without, err := idleAgent(ctx, bin, filepath.Join(dir, "without"), 0, size.idle, nil)
	if err != nil {
		return err
	}
	with, err := idleAgent(ctx, bin, filepath.Join(dir, "with"), size.idlePlugins, size.idle, flags)
	if err != nil {
		return err
	}
	number(fmt.Sprintf("%d idle plugins: memory added to the agent", size.idlePlugins), "MiB",
		with.memory-without.memory, idleMemory)
	if without.known && with.known {
		number(fmt.Sprintf("the same: CPU added, %.0f s", size.idle.Seconds()), "% of a core", with.cpu-without.cpu,
			idleCPU)
		number("the same: CPU of the agent in all", "% of a core", with.cpu)
		number("the same: CPU of the plugins", "% of a core", with.plugins)
	}
	return nil
}

// cost is what an agent took while it was idle.
type cost struct {
	memory       float64 // MiB
	cpu, plugins float64 // % of a core: of the agent alone, and of its plugins
	known        bool    // whether this system reports CPU
}

func idleAgent(ctx context.Context, bin, dir string, plugins int, during time.Duration, flags []string) (cost, error) {
	repository := filepath.Join(dir, "repository")
	if err := makeApplications(repository, scriptOnly, 1); err != nil {
		return cost{}, err
	}
	state := filepath.Join(dir, "state")
	s, err := start(ctx, bin, state, append([]string{repository, "--cluster", "none", "--keep=false"}, flags...)...)
	if err != nil {
		return cost{}, err
	}
	c, err := func() (cost, error) {
		a, err := awaitAgent(s, state)
		if err != nil {
			return cost{}, err
		}
		deployed := false
		running := map[string]bool{}
		if _, err := s.await("all plugins run, and the first deployment is over", func(e event) bool {
			if e.Text("type") == "plugin" && e.Text("state") == "RUNNING" {
				running[e.Text("name")] = true
			}
			deployed = deployed || deployment(application(0), "SUCCESS")(e)
			return deployed && len(running) > plugins
		}); err != nil {
			return cost{}, err
		}
		if err := s.pass(quiet); err != nil { // what has been begun is done
			return cost{}, err
		}
		return measureIdle(s, a, during)
	}()
	return c, errors.Join(err, s.stop())
}

func measureIdle(s *session, a *agent, during time.Duration) (cost, error) {
	own, err := cpuAlone(a.pid)
	known := !errors.Is(err, errors.ErrUnsupported)
	if err != nil && known {
		return cost{}, err
	}
	all, _ := cpuOf(a.pid)
	began := time.Now()
	if err := s.pass(during); err != nil {
		return cost{}, err
	}
	elapsed := time.Since(began)
	resident, err := residentOf(a.pid)
	if err != nil {
		return cost{}, err
	}
	c := cost{memory: resident / (1 << 20), known: known}
	if known {
		ownAfter, err := cpuAlone(a.pid)
		if err != nil {
			return cost{}, err
		}
		allAfter, err := cpuOf(a.pid)
		if err != nil {
			return cost{}, err
		}
		c.cpu = 100 * (ownAfter - own).Seconds() / elapsed.Seconds()
		c.plugins = 100*(allAfter-all).Seconds()/elapsed.Seconds() - c.cpu
	}
	return c, nil
}
