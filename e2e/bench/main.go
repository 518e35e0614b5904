// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what a user waits for, with the built programs, and prints one figure a line, with the
// limit that it should keep next to it. It fails when something does not happen, never because it is slow.
//
//	PIPEDECK_BIN=bin go run ./e2e/bench
//	PIPEDECK_BIN=bin go run ./e2e/bench -only applications    neither a cluster nor a container engine is needed
//	go run ./e2e/bench -only cold                             compiles the programs itself, with empty caches
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// settings say what is measured, and how often.
type settings struct {
	only                      string
	commits, starts, clusters int
	nodeImage                 string
	applications              scale
	plugins                   pluginScale
	calls                     callScale
	kubernetes                kubernetesScale
	live                      liveScale
	pods                      podScale
	reports                   reportScale
	ui                        uiScale
	sessions                  sessionScale
	web                       webScale
}

func main() {
	var s settings
	flag.StringVar(&s.only, "only", "", "measure only these, separated by commas: "+strings.Join(names(parts(s)), ", "))
	flag.IntVar(&s.commits, "commits", 100, "commits to measure")
	flag.IntVar(&s.starts, "starts", 5, "starts to measure")
	flag.IntVar(&s.clusters, "clusters", 3, "kind clusters to measure; 0 leaves kind out")
	flag.StringVar(&s.nodeImage, "node-image", "", "node image for kind (default: kind's own)")
	s.applications.register(flag.CommandLine)
	s.plugins.register(flag.CommandLine)
	s.calls.register(flag.CommandLine)
	s.kubernetes.register(flag.CommandLine)
	s.live.register(flag.CommandLine)
	s.pods.register(flag.CommandLine)
	s.reports.register(flag.CommandLine)
	s.ui.register(flag.CommandLine)
	s.sessions.register(flag.CommandLine)
	s.web.register(flag.CommandLine)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if s.ui.client != "" {
		if err := showUI(ctx, s.ui.client); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part is something that can be measured by itself, in its own directory.
type part struct {
	name string
	run  func(ctx context.Context, bin, dir string) error
}

// cold is the part that takes minutes and brings its own programs. It runs only when it is named.
const cold = "cold"

func parts(s settings) []part {
	return []part{
		{"start", func(ctx context.Context, bin, dir string) error { return benchStart(ctx, bin, dir, s.starts) }},
		{"screen", func(ctx context.Context, bin, dir string) error { return benchScreen(ctx, bin, dir, s.starts) }},
		{"commits", func(ctx context.Context, bin, dir string) error { return benchCommits(ctx, bin, dir, s.commits) }},
		{"applications", func(ctx context.Context, bin, dir string) error {
			return benchApplications(ctx, bin, dir, s.applications)
		}},
		{"pipeds", benchPipeds},
		{"plugins", func(ctx context.Context, bin, dir string) error { return benchPlugins(ctx, bin, dir, s.plugins) }},
		{"author", benchAuthor},
		{"calls", func(ctx context.Context, bin, dir string) error { return benchCalls(ctx, bin, dir, s.calls) }},
		{"kubernetes", func(ctx context.Context, bin,
			dir string) error {
			return benchKubernetes(ctx, bin, dir, s.kubernetes)
		}},
		{"live", func(ctx context.Context, bin, dir string) error { return benchLive(ctx, bin, dir, s.live) }},
		{"pods", func(ctx context.Context, bin, dir string) error { return benchPods(ctx, bin, dir, s.pods) }},
		{"reports", func(ctx context.Context, bin, dir string) error { return benchReports(ctx, bin, dir, s.reports) }},
		{"ui", func(ctx context.Context, bin, dir string) error { return benchUI(ctx, bin, dir, s.ui) }},
		{"sessions", func(ctx context.Context, bin, dir string) error {
			return benchSessions(ctx, bin, dir, s.sessions)
		}},
		{"web", func(ctx context.Context, bin, dir string) error { return benchWeb(ctx, bin, dir, s.web) }},
		{"kind", func(ctx context.Context, bin, dir string) error {
			if s.clusters <= 0 {
				return nil
			}
			return benchKind(ctx, bin, dir, s.nodeImage, s.clusters)
		}},
		{cold, benchCold},
	}
}

func names(parts []part) []string {
	var list []string
	for _, p := range parts {
		list = append(list, p.name)
	}
	return list
}

func run(ctx context.Context, s settings) error {
	chosen, err := choose(parts(s), s.only)
	if err != nil {
		return err
	}
	if err := errors.Join(s.applications.validate(), s.plugins.validate(), s.calls.validate(),
		s.kubernetes.validate(), s.live.validate(), s.pods.validate(), s.reports.validate(),
		s.ui.validate(), s.sessions.validate(), s.web.validate()); err != nil {
		return err
	}
	bin, err := filepath.Abs(os.Getenv("PIPEDECK_BIN"))
	if err != nil || os.Getenv("PIPEDECK_BIN") == "" && s.only != cold {
		return fmt.Errorf("PIPEDECK_BIN must name the directory with the built programs; use make bench")
	}
	dir, err := os.MkdirTemp("", "pipedeck-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%d cores, %s/%s, %s\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, p := range chosen {
		own := filepath.Join(dir, p.name)
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		if err := p.run(ctx, bin, own); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// choose keeps the parts that are named; all of them but cold when none is.
func choose(all []part, only string) ([]part, error) {
	if only == "" {
		return slices.DeleteFunc(all, func(p part) bool { return p.name == cold }), nil
	}
	var chosen []part
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(all, func(p part) bool { return p.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("-only %s: there is no part %q; there are %s", only, name,
				strings.Join(names(all), ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
