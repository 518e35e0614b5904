// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/gobuild"
	"github.com/pipedeck/pipedeck/system/processtree"
)

const (
	// maxSaid bounds what is kept of the output of a build in bytes.
	maxSaid = 256 << 10
	// maxComplaint bounds what is kept of a compiler's words; the first errors explain the others.
	maxComplaint = 8 << 10
	// notMain is what the go command says of a package that is no program.
	notMain = "requires exactly one main package"
)

// ErrNoGo says that there is no go command on this machine.
var ErrNoGo = errors.New("there is no go command to build it with; install Go from https://go.dev/dl")

// CompileError is a program that cannot be built as it is.
type CompileError struct {
	// Folder is the program's, relative to the repository.
	Folder string
	// Output is what the go command said, with paths relative to the repository.
	Output string
	// Library is set when the folder holds a package that is no program.
	Library bool
}

func (e *CompileError) Error() string {
	// The first line may be all that is shown.
	if e.Library {
		return e.Folder + " is a Go library, not a program: an image is built from a package main; name the folder " +
			"of such a package"
	}
	return fmt.Sprintf("%s does not compile: %s", e.Folder, e.Output)
}

// Platform is what a program is built for, in Go's words.
type Platform struct{ OS, Architecture string }

func (p Platform) String() string { return p.OS + "/" + p.Architecture }

// compile builds the program into output. A string variable main.build, if there is one, gets the
// tag of the image, so that a program knows which one it is. The bytes depend on the sources, the platform and the
// Go version only.
func compile(ctx context.Context, s *Sources, p Platform, output string) error {
	if len(s.outside) > 0 {
		return &CompileError{Folder: s.Folder,
			Output: fmt.Sprintf("go.mod replaces a module by %s, which is not in the repository: put it there, or "+
				"publish it", s.outside[0])}
	}
	module := path.Join(".", s.module)
	target, err := filepath.Rel(filepath.FromSlash(module), filepath.FromSlash(s.Folder))
	if err != nil {
		return fmt.Errorf("find the package in its module: %w", err)
	}
	// With -buildmode=exe the go command refuses packages that are no programs.
	flags := append(gobuild.Flags(), "-buildvcs=false", "-buildmode=exe", "-ldflags=-s -w -X main.build="+s.tag())
	cmd := goCommand(ctx, filepath.Join(s.Directory, filepath.FromSlash(module)), p,
		append(append([]string{"build"}, flags...), "-o", output, "./"+filepath.ToSlash(target))...)
	said := processtree.NewOutput(maxSaid)
	cmd.Stdout, cmd.Stderr = said, said
	if err := runNicely(cmd); err != nil {
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &exit) && strings.Contains(said.String(), notMain):
			return &CompileError{Folder: s.Folder, Output: said.String(), Library: true}
		case errors.As(err, &exit):
			return &CompileError{Folder: s.Folder, Output: relativePaths(said.String(), s.Directory, module)}
		}
		return fmt.Errorf("run the go command: %w", err)
	}
	return nil
}

// runNicely runs a command so that what else is starting goes first: a cluster, a user interface.
func runNicely(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	gobuild.Nice(cmd)
	return cmd.Wait()
}

// place is a file and a line at the start of what a compiler says.
var place = regexp.MustCompile(`^(\.{1,2}/)?[^\s:]+\.[a-z]+:\d+`)

// relativePaths makes the places in a compiler's words relative to the repository; they are
// relative to the module. Notes about packages, which repeat what the places say, go.
func relativePaths(said, directory, module string) string {
	said = strings.ReplaceAll(said, directory+string(filepath.Separator), "")
	var lines []string
	size := 0
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "# ") {
			continue
		}
		if place.MatchString(line) {
			file, rest, _ := strings.Cut(line, ":")
			line = path.Join(module, file) + ":" + rest
		}
		if size += len(line) + 1; size > maxComplaint {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// goVersion is that of the go command outside of any module.
func goVersion(ctx context.Context, dir string) (string, error) {
	out, err := goCommand(ctx, dir, Platform{}, "env", "GOVERSION").Output()
	if err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("ask the go command for its version: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func goCommand(ctx context.Context, dir string, p Platform, args ...string) *exec.Cmd {
	// Nothing of the user's own projects may change what is built.
	environ := append(gobuild.Environ(), "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0")
	if p.OS != "" {
		environ = append(environ, "GOOS="+p.OS, "GOARCH="+p.Architecture)
	}
	return gobuild.Command(ctx, dir, environ, args...)
}
