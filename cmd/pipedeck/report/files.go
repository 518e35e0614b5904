// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files are where a run is written to.
type Files struct {
	// JUnit are files of JUnit XML; Reports are Markdown or JSON by their extension.
	JUnit, Reports []string
}

// FileError is a file that a report cannot be written to. Hint is the next step.
type FileError struct{ Path, Problem, Hint string }

func (e *FileError) Error() string {
	return fmt.Sprintf("cannot write a report to %s: %s", e.Path, e.Problem)
}

// Check finds a file that cannot be written, before a run starts.
func (f Files) Check() error {
	seen := map[string]string{}
	for _, name := range f.all() {
		if err := check(name); err != nil {
			return err
		}
		absolute, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		if first, twice := seen[absolute]; twice {
			return &FileError{name, "it is also named as " + first, "give each report its own file"}
		}
		seen[absolute] = name
	}
	for _, name := range f.Reports {
		if writer(name) == nil {
			return &FileError{name, "its extension is neither .md nor .json", "name a file such as report.md or " +
				"report.json; JUnit XML is --junit"}
		}
	}
	return nil
}

func (f Files) all() []string { return append(append([]string(nil), f.JUnit...), f.Reports...) }

func check(name string) error {
	if name == "" || strings.HasSuffix(name, string(filepath.Separator)) {
		return &FileError{fmt.Sprintf("%q", name), "it names no file", "name a file such as report.xml"}
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return &FileError{name, "it is a directory", "name a file in it"}
	case err == nil && !info.Mode().IsRegular():
		return &FileError{name, "it is not a regular file", "name another file"}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return &FileError{name, reason(err), "name another file"}
	}
	dir := filepath.Dir(name)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return &FileError{name, "there is no directory " + dir, "create it: mkdir -p " + dir}
	}
	trial, err := os.CreateTemp(dir, ".pipedeck-report-*")
	if err != nil {
		return &FileError{name, reason(err), "name a file in a directory in which you may create files"}
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// writer is the form of a report by its extension; nil for others.
func writer(name string) func(Run) ([]byte, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md":
		return func(run Run) ([]byte, error) { return Markdown(run), nil }
	case ".json":
		return JSON
	}
	return nil
}

// Write writes every file. Each is replaced as a whole: whoever reads it meanwhile sees the old content or the new one.
func (f Files) Write(run Run) error {
	var failed []error
	put := func(name string, form func(Run) ([]byte, error)) {
		data, err := form(run)
		if err == nil {
			err = replace(name, data)
		}
		if err != nil {
			failed = append(failed, &FileError{name, reason(err), "name another file"})
		}
	}
	for _, name := range f.JUnit {
		put(name, JUnit)
	}
	for _, name := range f.Reports {
		put(name, writer(name))
	}
	return errors.Join(failed...)
}

func replace(name string, data []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), ".pipedeck-report-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	// Other users of a build machine, such as the one that gathers results, may read it.
	if err := errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
