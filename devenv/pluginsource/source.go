// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginsource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/gobuild"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// maxComplaint bounds what is kept of a compiler's words in bytes; the first errors explain the others.
const maxComplaint = 8 << 10

// Source is the directory of a plugin: a Go package, or what its recipe says. Its methods are called one after the
// other.
type Source struct {
	// Dir is the directory of the plugin. Without a recipe it is that of a package main.
	Dir string
	// Program is the file that builds replace.
	Program string
	Logger  *slog.Logger
	// Debug is for a program that a debugger can follow line by line.
	Debug bool
	// built is set once the program was built.
	built bool
	// usesC is true when a package of the program has C in it, once directories has listed them.
	usesC, listed bool
	// goFlags is the GOFLAGS of the go command, which may come from a file of the user, once compile has asked for it.
	goFlags *string
}

// CompileError is a plugin that cannot be built as it is.
type CompileError struct {
	Dir string
	// Output is what the go command or that of the recipe said; the places are relative to Dir.
	Output string
}

func (e *CompileError) Error() string { return fmt.Sprintf("%s does not compile: %s", e.Dir, e.Output) }

// Line is the error in one line, with a semicolon between the lines of the compiler.
func (e *CompileError) Line() string {
	var lines []string
	for line := range strings.Lines(e.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// Build makes the program once. The error is a *CompileError when the sources are at fault.
func (s *Source) Build(ctx context.Context) error {
	if _, err := os.Stat(s.Dir); err != nil { // the go command would be blamed
		return fmt.Errorf("read the sources of the plugin: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(s.Program), 0o700); err != nil {
		return fmt.Errorf("make a directory for the program: %w", err)
	}
	r, err := s.recipe()
	switch {
	case err != nil:
		return err
	case r != nil:
		r.again = s.built
		err := r.prepare(ctx, s.Dir, s.Program)
		s.built = s.built || err == nil
		return err
	}
	return s.compile(ctx)
}

// recipe is what the directory says of its build; nil for a Go package. A program for a debugger is one of Go, and
// compiled without the recipe.
func (s *Source) recipe() (*recipe, error) {
	if s.Debug {
		return nil, nil
	}
	return readRecipe(s.Dir)
}

// compile builds the Go package in the directory.
func (s *Source) compile(ctx context.Context) error {
	next := s.Program + ".new"
	_ = os.Remove(next) // one that could not take its place cannot be written to
	said := processtree.NewOutput(2 * maxComplaint)
	// -buildmode=exe refuses packages that are no programs.
	if !s.listed {
		_, _ = s.directories(ctx) // sources that cannot be listed do not compile either
	}
	if err := s.readFlags(ctx); err != nil {
		return err
	}
	flags, environ := gobuild.Shared(s.usesC, *s.goFlags)
	if s.built {
		environ = gobuild.Alone(environ) // what has changed since is little
	}
	if s.Debug {
		flags, environ = gobuild.Debug(s.module(ctx), *s.goFlags)
	}
	cmd := gobuild.Command(ctx, s.Dir, environ,
		append(append([]string{"build", "-buildvcs=false", "-buildmode=exe"}, flags...), "-o", next, ".")...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := s.failure(ctx, cmd.Run(), said.String()); err != nil {
		return err
	}
	// No one writes to it any more, so that piped need not copy it: the next build is another file.
	if err := os.Chmod(next, 0o500); err != nil { //nolint:gosec // it is run
		return fmt.Errorf("write the program of %s: %w", s.Dir, err)
	}
	if err := os.Rename(next, s.Program); err != nil {
		return fmt.Errorf("replace the program of %s: %w", s.Dir, err)
	}
	s.built = true
	return nil
}

// readFlags asks the go command for its GOFLAGS once. A build that is cancelled meanwhile leaves the question to the
// next one.
func (s *Source) readFlags(ctx context.Context) error {
	if s.goFlags != nil {
		return nil
	}
	said := processtree.NewOutput(2 * maxComplaint)
	cmd := gobuild.Command(ctx, s.Dir, nil, "env", "GOFLAGS")
	cmd.Stderr = said
	out, err := cmd.Output()
	if err := s.failure(ctx, err, said.String()); err != nil {
		return err
	}
	text := strings.TrimSpace(string(out))
	s.goFlags = &text
	return nil
}

// failure is what the end of a go command says about a build, with what the command said; nil for success.
func (s *Source) failure(ctx context.Context, err error, said string) error {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("there is no go command to build %s with: install Go from https://go.dev/dl", s.Dir)
	case errors.As(err, &exit):
		return &CompileError{Dir: s.Dir, Output: complaint(said)}
	case err != nil:
		return fmt.Errorf("run the go command: %w", err)
	}
	return nil
}

// directories are those that hold files of the program: of its module, of the others of a workspace, and
// of modules that are replaced by a directory. Modules of the cache do not change. It also looks for C in all packages.
func (s *Source) directories(ctx context.Context) ([]string, error) {
	const c = "C" // paths are absolute
	const format = `{{if not .Standard}}{{if .CgoFiles}}` + c + `
{{end}}{{$dir := .Dir}}{{with .Module}}` +
		`{{if or .Main (and .Replace (not .Replace.Version))}}{{$dir}}
{{with .GoMod}}{{.}}
{{end}}{{range $.EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}{{end}}{{end}}`
	cmd := gobuild.Command(ctx, s.Dir, nil, "list", "-e", "-deps", "-f", format, ".")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of %s: %w", s.Dir, err)
	}
	known := map[string]bool{s.Dir: true}
	dirs := []string{s.Dir}
	s.usesC, s.listed = false, true
	for line := range strings.Lines(string(out)) {
		dir := strings.TrimSpace(line)
		if dir == c {
			s.usesC = true
			continue
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			dir = filepath.Dir(dir) // go.mod and embedded files
		}
		if dir != "" && dir != "." && !known[dir] {
			known[dir] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// module is the path of the package's module; that of the directory when there is none.
func (s *Source) module(ctx context.Context) string {
	out, err := gobuild.Command(ctx, s.Dir, nil, "list", "-m").Output()
	if path := strings.TrimSpace(string(out)); err == nil && path != "" && !strings.Contains(path, "\n") {
		return path
	}
	return "."
}

// complaint leaves the notes about packages out, which repeat what the places say.
func complaint(said string) string {
	var lines []string
	size := 0
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "# ") {
			continue
		}
		if size += len(line) + 1; size > maxComplaint {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, strings.TrimPrefix(line, "./"))
	}
	return strings.Join(lines, "\n")
}
