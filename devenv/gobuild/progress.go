// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gobuild

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// maxComplaint bounds what is kept of a compiler's words in bytes; the first errors explain the others.
const maxComplaint = 4 << 10

// Progress reports how many packages of how many are compiled; total is 0 while that is not known.
type Progress func(detail string, done, total int64)

// Build is one run of `go build` that says how far it is.
type Build struct {
	// Dir is where the go command runs: a directory of the main module.
	Dir string
	// Environ is added to the environment of this process.
	Environ []string
	// Flags are those of `go build`, without -o.
	Flags []string
	// Output is a file, or a directory for several programs, with a slash at its end.
	Output string
	// Packages are the programs, relative to Dir.
	Packages []string
}

// Run compiles what is not compiled already. The error of a package that does not compile has the compiler's first
// words; the cause of ctx when that has ended.
func (b Build) Run(ctx context.Context, progress Progress) error {
	if _, err := exec.LookPath("go"); err != nil {
		return ErrNoGo
	}
	progress("looking what has to be compiled", 0, 0)
	total, err := b.stale(ctx, progress)
	if err != nil {
		return err
	}
	args := append(append([]string{"build", "-v"}, b.Flags...), "-o", b.Output)
	cmd := Command(ctx, b.Dir, b.Environ, append(args, b.Packages...)...)
	return (&said{progress: progress, total: total, detail: "compiling, on first use only"}).run(ctx, cmd)
}

// stale counts the packages that the go command would compile. It downloads modules that are not there.
func (b Build) stale(ctx context.Context, progress Progress) (int64, error) {
	args := append(append([]string{"list", "-deps"}, b.Flags...), "-f", "{{if .Stale}}x{{end}}")
	cmd := Command(ctx, b.Dir, b.Environ, append(args, b.Packages...)...)
	var listed bytes.Buffer
	cmd.Stdout = &listed
	if err := (&said{progress: progress}).run(ctx, cmd); err != nil {
		return 0, err
	}
	return int64(bytes.Count(listed.Bytes(), []byte("x"))), nil
}

// downloading begins the go command's lines about modules.
const downloading = "go: downloading "

// said is what a go command writes to its standard error.
type said struct {
	progress   Progress
	detail     string
	total      int64
	done       int64
	downloads  int64
	complaints strings.Builder
}

// run runs the command, whose standard error it is.
func (s *said) run(ctx context.Context, cmd *exec.Cmd) error {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return s.failure(ctx, err)
	}
	Nice(cmd)
	s.read(stderr)
	return s.failure(ctx, cmd.Wait())
}

// read reads to the end. With -v the go command prints the import path of each package that it compiles; a line with a
// blank is something else: a download, a complaint or a note.
func (s *said) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, downloading):
			s.downloads++
			s.progress("downloading modules, on first use only: "+strings.TrimPrefix(line, downloading), s.downloads, 0)
		case strings.HasPrefix(line, "# "): // a package, which the places after it repeat
		case strings.ContainsAny(line, " \t"):
			if s.complaints.Len() < maxComplaint {
				fmt.Fprintln(&s.complaints, line)
			}
		default:
			s.done++
			s.progress(s.detail, min(s.done, s.total), s.total)
		}
	}
	// A line that is too long ends the scan; the rest must still be read, or the go command blocks.
	_, _ = io.Copy(io.Discard, from)
}

// failure is the error of a go command that has ended.
func (s *said) failure(ctx context.Context, err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit) && s.complaints.Len() > 0:
		return errors.New(strings.TrimSpace(s.complaints.String()))
	}
	return fmt.Errorf("run the go command: %w", err)
}
