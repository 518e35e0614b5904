// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginsource

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/devenv/gobuild"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/processtree"
)

const (
	// maxWatched bounds the files that a plugin is made of: all of them are read after each change.
	maxWatched = 10_000
	// maxWatchedSize bounds their content, in bytes.
	maxWatchedSize = 256 << 20
	// buildGrace is how long an interrupted build may clean up.
	buildGrace = 5 * time.Second
)

// skipped are directories that hold no sources of a plugin, but what package managers put there. Those whose names
// begin with a dot are skipped, too.
var skipped = map[string]bool{"node_modules": true, "vendor": true, "venv": true, "__pycache__": true}

// recipe says how the plugin of a directory is built and run, in any language.
type recipe struct {
	build, run, watch []string
	// again is true when this process has built the plugin before: what has changed since is little.
	again bool
}

// readRecipe reads the file in the directory of a plugin. It returns nil when the file does not say how the plugin is
// run: then the directory is that of a Go package.
func readRecipe(dir string) (*recipe, error) {
	name := filepath.Join(dir, config.KindPluginFile)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how the plugin is built: %w", err)
	}
	file, err := config.ParsePluginFile(data, name)
	if err != nil {
		return nil, &CompileError{Dir: dir, Output: err.Error()}
	}
	if len(file.Run) == 0 {
		return nil, nil
	}
	r := &recipe{build: file.Build, run: file.Run, watch: file.Watch}
	if len(r.watch) == 0 {
		r.watch = []string{"**"}
	}
	return r, nil
}

// prepare builds the plugin in its directory, and makes program a script that runs it there. The script changes with
// the files of the plugin, so that piped sees a new program.
func (r *recipe) prepare(ctx context.Context, dir, program string) error {
	// Before the build: a file that is saved while it runs is one of the next build.
	digest, err := r.digest(dir)
	if err != nil {
		return fmt.Errorf("read the sources of the plugin: %w", err)
	}
	if err := r.compile(ctx, dir); err != nil {
		return err
	}
	next := program + ".new"
	if err := os.WriteFile(next, r.script(dir, digest), 0o700); err != nil { //nolint:gosec // it is run
		return fmt.Errorf("write the program of the plugin: %w", err)
	}
	if err := os.Chmod(next, 0o700); err != nil { //nolint:gosec // the file may have been there
		return fmt.Errorf("write the program of the plugin: %w", err)
	}
	if err := os.Rename(next, program); err != nil {
		return fmt.Errorf("replace the program of %s: %w", dir, err)
	}
	return nil
}

// compile runs the command that builds the plugin.
func (r *recipe) compile(ctx context.Context, dir string) error {
	if len(r.build) == 0 {
		return nil
	}
	said := processtree.NewOutput(2 * maxComplaint)
	cmd := exec.CommandContext(ctx, r.build[0], r.build[1:]...) //nolint:gosec // the author of the plugin gives it
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, said, said
	environ := gobuild.Compilers()
	if r.again {
		environ = gobuild.Alone(environ)
	}
	cmd.Env = append(append(os.Environ(), "PWD="+dir), environ...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = buildGrace
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		return &CompileError{Dir: dir, Output: strings.TrimPrefix(complaint(said.String())+"\n", "\n") +
			strings.Join(r.build, " ") + ": " + exit.Error()}
	case err != nil:
		return &CompileError{Dir: dir, Output: fmt.Sprintf("run the build of the plugin: %s", err)}
	}
	return nil
}

// script runs the plugin in its directory, where it finds its modules. The shell gives its place to the plugin, so that
// signals and open files reach that.
func (r *recipe) script(dir string, digest []byte) []byte {
	quoted := make([]string, len(r.run))
	for i, word := range r.run {
		quoted[i] = quote(word)
	}
	script := fmt.Sprintf("#!/bin/sh\n# pipedeck wrote this from %s. Sources: %x\n", config.KindPluginFile, digest)
	if usesLink(dir, r.run[0]) {
		script += "# " + config.PluginLinkVariable + "\n" // piped looks for it
	}
	return []byte(script + "cd " + quote(dir) + " || exit 1\nexec " + strings.Join(quoted, " ") + ` "$@"` + "\n")
}

// quote makes a word of a shell from any text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// usesLink reports whether the program that runs is of our SDK, by the text by which piped knows those.
func usesLink(dir, program string) bool {
	if !strings.Contains(program, "/") {
		return false // it is an interpreter in the PATH
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	file, err := os.Open(program)
	if err != nil {
		return false
	}
	defer file.Close()
	return contains(io.LimitReader(file, maxWatchedSize), []byte(config.PluginLinkVariable))
}

// searched is how much of a program is read at once, in bytes: it is read after each build.
const searched = 256 << 10

// contains reports whether a stream has a text in it, and reads no further.
func contains(stream io.Reader, text []byte) bool {
	buffer, kept := make([]byte, searched), 0
	for {
		read, err := stream.Read(buffer[kept:])
		found := buffer[:kept+read]
		if bytes.Contains(found, text) {
			return true
		}
		if err != nil {
			return false
		}
		// The text may have begun at the end.
		kept = copy(buffer, found[max(0, len(found)-len(text)+1):])
	}
}

// digest is that of the files that the plugin is made of.
func (r *recipe) digest(dir string) ([]byte, error) {
	sum, files, left := sha256.New(), 0, int64(maxWatchedSize)
	err := r.walk(dir, func(name string, entry fs.DirEntry) error {
		if entry.IsDir() || !entry.Type().IsRegular() || !r.watches(name) {
			return nil
		}
		if files++; files > maxWatched {
			return fmt.Errorf("more than %d files are watched; name fewer with watch in %s", maxWatched,
				config.KindPluginFile)
		}
		file, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an editor has replaced it: that is an event
		}
		if err != nil {
			return err
		}
		defer file.Close()
		fmt.Fprintf(sum, "%q\n", name)
		copied, err := io.Copy(sum, io.LimitReader(file, left+1))
		if left -= copied; err == nil && left < 0 {
			err = fmt.Errorf("the watched files have more than %d MiB; name fewer with watch in %s", maxWatchedSize>>20,
				config.KindPluginFile)
		}
		return err
	})
	return sum.Sum(nil), err
}

// directories are those that may hold files of the plugin.
func (r *recipe) directories(dir string) (dirs []string, err error) {
	err = r.walk(dir, func(name string, entry fs.DirEntry) error {
		if entry.IsDir() {
			dirs = append(dirs, filepath.Join(dir, filepath.FromSlash(name)))
		}
		return nil
	})
	return dirs, err
}

// walk visits the files and directories below dir that can be sources, by their slash-separated names; dir is ".".
func (r *recipe) walk(dir string, visit func(name string, entry fs.DirEntry) error) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name != ".":
			return nil // it was removed since, or is closed to this user
		case err != nil:
			return err
		case entry.IsDir() && name != "." && r.skips(entry.Name()):
			return fs.SkipDir
		}
		return visit(name, entry)
	})
}

// skips reports whether a directory of this name holds no sources.
func (*recipe) skips(name string) bool { return strings.HasPrefix(name, ".") || skipped[name] }

// watches reports whether a file, by its slash-separated name in the directory, is one that the plugin is made of.
func (r *recipe) watches(name string) bool {
	if name == config.KindPluginFile {
		return true
	}
	for _, pattern := range r.watch {
		if matches(strings.Split(pattern, "/"), strings.Split(name, "/")) {
			return true
		}
	}
	return false
}

// matches compares the segments of a pattern with those of a name. A segment ** stands for any number of segments.
func matches(pattern, name []string) bool {
	for len(pattern) > 0 && pattern[0] != "**" {
		if len(name) == 0 {
			return false
		}
		if matched, err := path.Match(pattern[0], name[0]); err != nil || !matched {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	if len(pattern) == 0 {
		return len(name) == 0
	}
	for i := range len(name) + 1 {
		if matches(pattern[1:], name[i:]) {
			return true
		}
	}
	return false
}
