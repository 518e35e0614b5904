// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// pluginScale is how much is done for the figures of plugin processes.
type pluginScale struct {
	starts, saves, logs, idlePlugins int
	idle                             time.Duration
}

func (s *pluginScale) register(flags *flag.FlagSet) {
	flags.IntVar(&s.starts, "plugin-starts", 100, "starts and kills of a plugin to measure; 0 leaves them out")
	flags.IntVar(&s.saves, "plugin-saves", 10, "changes to the source of a plugin to measure; 0 leaves them out")
	flags.IntVar(&s.logs, "plugin-logs", 5, "stages with 100,000 log lines to measure; 0 leaves long logs out")
	flags.IntVar(&s.idlePlugins, "idle-plugins", 50, "plugins that do nothing, for their cost; 0 leaves them out")
	flags.DurationVar(&s.idle, "idle-plugins-for", time.Minute, "how long they are looked at")
}

func (s *pluginScale) validate() error {
	if min(s.starts, s.saves, s.logs, s.idlePlugins) < 0 || s.idlePlugins > 99 || s.idle < time.Second {
		return errors.New("-plugin-starts, -plugin-saves and -plugin-logs must not be negative, -idle-plugins " +
			"must be 0 to 99, and -idle-plugins-for at least 1s")
	}
	return nil
}

var (
	spawnLimit  = limit{"median", 40} // ms
	noticeLimit = limit{"p99", 50}    // ms
	savedLimit  = limit{"max", 3500}  // ms
	linesLimit  = limit{"max", 3}     // s
	bulkLimit   = limit{"max", 3}     // s
	idleCPU     = limit{"max", 1}     // % of a core
	idleMemory  = limit{"max", 30}    // MiB
	idlePlugin  = []byte("BENCH_STAGE_00")
	figureIn    = regexp.MustCompile(`(\d+(?:\.\d+)?) ms-(median|p99)`)
	measuredFor = map[string]string{"BenchmarkStart": "spawn -> serving, bare plugin",
		"BenchmarkExitNotice": "killed -> known to piped"}
)

// benchPlugins measures plugin processes: their start and end, new code, long logs, and what idle ones cost.
func benchPlugins(ctx context.Context, bin, dir string, size pluginScale) (err error) {
	if size.starts > 0 {
		if err := benchProcesses(ctx, size.starts); err != nil {
			return err
		}
	}
	restore, err := asAuthor()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	source := filepath.Join(dir, "bench")
	if err := makePlugin(ctx, bin, source); err != nil {
		return err
	}
	if err := benchOnePlugin(ctx, bin, filepath.Join(dir, "one"), source, size); err != nil {
		return err
	}
	if size.idlePlugins == 0 {
		return nil
	}
	return benchIdlePlugins(ctx, bin, filepath.Join(dir, "idle"), source, size)
}

// benchProcesses runs the benchmarks of the plugin host, which see the process itself.
func benchProcesses(ctx context.Context, n int) error {
	out, err := goCommand(ctx, ".", "test", "-run", "^$", "-bench", "^Benchmark(Start|ExitNotice)$", "-benchtime",
		fmt.Sprint(n, "x"), "./piped/pluginhost")
	if err != nil {
		return err
	}
	found := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		benchmark, _, _ := strings.Cut(fields[0], "-") // the number of cores follows
		name := measuredFor[benchmark]
		for _, figure := range figureIn.FindAllStringSubmatch(line, -1) {
			value, err := strconv.ParseFloat(figure[1], 64)
			if name == "" || err != nil {
				continue
			}
			found++
			limits := []limit{spawnLimit}
			if benchmark == "BenchmarkExitNotice" {
				limits = []limit{noticeLimit}
			}
			if limits[0].of != figure[2] || (figure[2] == "p99" && n < enoughForP99) {
				limits = nil
			}
			number(fmt.Sprintf("%s: %s of %d", name, figure[2], n), "ms", value, limits...)
		}
	}
	if found != 2*len(measuredFor) {
		return fmt.Errorf("the benchmarks of the plugin host gave %d figures, and not %d:\n%s", found,
			2*len(measuredFor), out)
	}
	return nil
}

//go:embed plugin/main.go.tmpl
var pluginMain string

// makePlugin writes a plugin of the SDK of this clone, as an author has it, and compiles it once.
func makePlugin(ctx context.Context, bin, dir string) error {
	clone, err := os.Getwd()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, filepath.Join(bin, "pipedeck"), "plugin", "new", "bench", dir, "--sdk", clone)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("pipedeck plugin new: %w: %s", err, out)
	}
	for _, name := range []string{"stage.go", "stage_test.go"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := savePlugin(dir, 0); err != nil {
		return err
	}
	// What it needs, this module needs, too: nothing is downloaded, and the sums are those of the cache.
	if _, err := goCommand(ctx, dir, "mod", "tidy"); err != nil {
		return err
	}
	_, err = goCommand(ctx, dir, "build", "-o", filepath.Join(dir, "bench"), ".")
	return err
}

// savePlugin writes the plugin's code as it is in a round.
func savePlugin(dir string, round int) error {
	text := strings.Replace(pluginMain, "const round = 0", fmt.Sprint("const round = ", round), 1)
	return os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o600)
}

// goCommand runs go in dir. Only the clone itself, ".", is built with its workspace; the modules of the plugins and
// of kubectl are not part of it.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = dir, append(os.Environ(), "GOSUMDB=off")
	if dir != "." {
		command.Env = append(command.Env, "GOWORK=off")
	}
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w: %s%s", args[0], err, out, said.Bytes())
	}
	return out, err
}
