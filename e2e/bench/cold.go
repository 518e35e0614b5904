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
	"strings"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/gobuild"
)

// Limits of a first start in CPU seconds, which depend less on the number of cores than wall time does.
var (
	firstFrameLimit = limit{"max", 95}
	embeddedLimit   = limit{"max", 300}
	everythingLimit = limit{"max", 520}
	// No package is compiled again: what is left is listing and linking.
	secondCloneLimit = limit{"max", 25}
)

// coldStart compiles what a first start compiles, in the same order and from one cache that is empty at the beginning.
type coldStart struct {
	dir, modules string
	everything   spent
}

// spent is what a step takes.
type spent struct{ cpu, wall time.Duration }

func (s spent) plus(other spent) spent { return spent{s.cpu + other.cpu, s.wall + other.wall} }

// benchCold measures a first start with empty caches, next to a build of kubectl with empty caches. Modules come from
// the cache of this user: nothing is downloaded.
func benchCold(ctx context.Context, _, dir string) error {
	out, err := goCommand(ctx, ".", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	b := &coldStart{dir: dir, modules: filepath.Join(strings.TrimSpace(string(out)), "cache", "download")}
	if _, err := os.Stat(b.modules); err != nil {
		return fmt.Errorf("find downloaded modules: %w; download them with: make build embeddedk8s", err)
	}
	restore, err := b.emptyCaches("ours")
	if err != nil {
		return err
	}
	err = errors.Join(b.ours(ctx), restore())
	if err != nil {
		return err
	}
	if restore, err = b.emptyCaches("kubectl"); err != nil {
		return err
	}
	return errors.Join(b.kubectl(ctx), restore())
}

// emptyCaches gives this process and its children empty caches for builds and modules. restore deletes them and gives
// back those of the user.
func (b *coldStart) emptyCaches(name string) (restore func() error, err error) {
	caches := filepath.Join(b.dir, name)
	variables := map[string]string{
		"GOCACHE": filepath.Join(caches, "build"), "GOMODCACHE": filepath.Join(caches, "modules"),
		"GOPROXY": "file://" + filepath.ToSlash(b.modules), "GOSUMDB": "off", "GOTOOLCHAIN": "local",
	}
	type value struct {
		text string
		set  bool
	}
	before := map[string]value{}
	for name, text := range variables {
		old, set := os.LookupEnv(name)
		before[name] = value{old, set}
		err = errors.Join(err, os.Setenv(name, text))
	}
	return func() error {
		_, err := goCommand(context.Background(), ".", "clean", "-modcache") // its directories are read-only
		for name, old := range before {
			if old.set {
				err = errors.Join(err, os.Setenv(name, old.text))
			} else {
				err = errors.Join(err, os.Unsetenv(name))
			}
		}
		return errors.Join(err, os.RemoveAll(caches))
	}, err
}

// step measures run and the commands that it waits for.
func (b *coldStart) step(run func() error) (spent, error) {
	before, err := cpuOfChildren()
	if err != nil {
		return spent{}, err
	}
	began := time.Now()
	if err := run(); err != nil {
		return spent{}, err
	}
	wall := time.Since(began)
	after, err := cpuOfChildren()
	taken := spent{after - before, wall}
	b.everything = b.everything.plus(taken)
	return taken, err
}

// ours compiles the programs in the order in which `make up` needs them.
func (b *coldStart) ours(ctx context.Context) error {
	bin := filepath.Join(b.dir, "bin")
	pipedeck, err := b.step(func() error { return b.script(ctx, ".", "--first", bin) })
	if err != nil {
		return err
	}
	printSpent("pipedeck, with empty caches", pipedeck)
	more, err := b.step(func() error { return programs(ctx, bin, "./cmd/pipedeck-more") })
	if err != nil {
		return err
	}
	printSpent("pipedeck-more, after it", more)
	piped, err := b.step(func() error { return programs(ctx, bin, "./cmd/piped") })
	if err != nil {
		return err
	}
	printSpent("piped, after it", piped)
	if err := b.plugins(ctx, bin); err != nil {
		return err
	}
	if err := b.embedded(ctx); err != nil {
		return err
	}
	frame, err := b.frame(ctx, bin)
	if err != nil {
		return err
	}
	first := pipedeck.plus(frame)
	printSpent("until the first frame", first, firstFrameLimit)
	printSpent("everything", b.everything, everythingLimit)
	return b.secondClone(ctx)
}

// plugins compiles the plugins of an environment with one cluster, and the application's program as its image has it.
func (b *coldStart) plugins(ctx context.Context, bin string) error {
	packages := []string{"./plugins/kubernetes", "./plugins/wait", "./plugins/waitapproval", "./plugins/scriptrun"}
	taken, err := b.step(func() error { return programs(ctx, filepath.Join(bin, "plugins"), packages...) })
	if err != nil {
		return err
	}
	printSpent(fmt.Sprintf("%d plugins, after them", len(packages)), taken)
	taken, err = b.step(func() error {
		cmd := gobuild.Command(ctx, ".", append(gobuild.Environ(), "GOOS=linux"), "build", "-trimpath",
			"-gcflags=all=-dwarf=false", "-o", os.DevNull, "./sample-apps/hello-world")
		return runQuietly(cmd)
	})
	printSpent("hello-world's program, after them", taken)
	return err
}

func (b *coldStart) embedded(ctx context.Context) error {
	program, err := embedded.FromCheckout(".")
	if err != nil {
		return err
	}
	program.CacheDir = filepath.Join(b.dir, "embedded")
	taken, err := b.step(func() error {
		_, err := program.Ensure(ctx, func(string, int64, int64) {})
		return err
	})
	if err != nil {
		return err
	}
	printSpent("embedded Kubernetes, after them", taken, embeddedLimit)
	return nil
}

// frame starts pipedeck on a terminal until it has drawn its first frame. Only the UI's own process counts.
func (b *coldStart) frame(ctx context.Context, bin string) (spent, error) {
	repository := filepath.Join(b.dir, "repository")
	if err := makeRepository(repository); err != nil {
		return spent{}, err
	}
	state := filepath.Join(b.dir, "state")
	cmd := environment(bin, state).Command(ctx, "up", repository, "--cluster", "none")
	took, err := firstFrame(cmd)
	err = errors.Join(err, endEnvironment(ctx, bin, state))
	if err != nil {
		return spent{}, err
	}
	return spent{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), took}, nil
}

// secondClone builds the last commit at another path with the same caches.
func (b *coldStart) secondClone(ctx context.Context) error {
	clone := filepath.Join(b.dir, "second-clone")
	if err := runQuietly(exec.CommandContext(ctx, "git", "clone", "--quiet", ".", clone)); err != nil {
		return err
	}
	taken, err := b.step(func() error { return b.script(ctx, clone, "--first", filepath.Join(clone, "bin")) })
	if err != nil {
		return err
	}
	printSpent("pipedeck of a second clone", taken, secondCloneLimit)
	return nil
}

// kubectl compiles kubectl with empty caches, for comparison.
func (b *coldStart) kubectl(ctx context.Context) error {
	b.everything = spent{}
	taken, err := b.step(func() error {
		cmd := gobuild.Command(ctx, filepath.Join("e2e", "bench", "kubectl"),
			[]string{"GOWORK=off", "GOFLAGS=-buildvcs=false"}, "build", "-o", filepath.Join(b.dir, "kubectl"), ".")
		return runQuietly(cmd)
	})
	if err != nil {
		return fmt.Errorf("compile kubectl: %w", err)
	}
	printSpent("for comparison: kubectl, cold", taken)
	return nil
}

// script runs the script that `make up` and `make build` use.
func (b *coldStart) script(ctx context.Context, checkout string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, "tools/build.sh", arguments...)
	cmd.Dir = checkout
	return runQuietly(cmd)
}

// programs compiles programs as `pipedeck up` does while it shows its UI.
func programs(ctx context.Context, output string, packages ...string) error {
	built := gobuild.NewPrograms(".", []gobuild.Folder{{Output: output, Packages: packages}})
	return built.Run(ctx, func(string, int64, int64) {})
}

func runQuietly(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// printSpent prints both figures; the limits are those of CPU seconds.
func printSpent(name string, taken spent, limits ...limit) {
	number(name+": CPU", "s", taken.cpu.Seconds(), limits...)
	number(name+": wall time", "s", taken.wall.Seconds())
}

// cpuOfChildren is the CPU of all commands that this process has waited for, and of those that they waited for.
func cpuOfChildren() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		return 0, fmt.Errorf("read the CPU time of commands: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}
