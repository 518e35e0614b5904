// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Bounds of what is read.
const (
	maxEntries   = 200_000
	maxFile      = 8 << 20
	maxTotal     = 256 << 20
	maxDepth     = 64
	maxFound     = 500
	maxIgnore    = 64 << 10
	maxDocuments = 2000
)

// LimitError is a repository that is larger than what is read of one.
type LimitError struct{ What string }

func (e *LimitError) Error() string { return "the repository has more than " + e.What }

// tree is the work tree of a repository.
type tree struct {
	root    *os.Root
	folders map[string]*folder
	entries int
	read    int64
	// skipped are folders that are left out with all that is in them.
	skipped []Skipped
}

// folder is one directory that is looked at.
type folder struct {
	path string
	// files are the base names of its regular files, sorted.
	files []string
	// test is the folder of tests that it is in; empty for none.
	test string
	// chart is whether it holds a Helm chart. What is below it belongs to the chart.
	chart bool
}

func (f *folder) has(name string) bool { return slices.Contains(f.files, name) }

// testFolders are names of folders whose manifests are there for tests.
var testFolders = []string{"test", "tests", "testdata", "e2e", "fixtures", "__tests__"}

// foreignFolders hold what others wrote or programs made.
var foreignFolders = []string{"node_modules", "vendor"}

// readTree reads the names of all files below root.
func readTree(ctx context.Context, root *os.Root) (*tree, error) {
	t := &tree{root: root, folders: map[string]*folder{}}
	return t, t.walk(ctx, ".", nil, "", 0)
}

func (t *tree) walk(ctx context.Context, dir string, ignored []gitignore.Pattern, test string, depth int) error {
	entries, err := fs.ReadDir(t.root.FS(), dir)
	if errors.Is(err, fs.ErrPermission) {
		t.skipped = append(t.skipped, Skipped{Path: dir, Reason: "this user may not read it"})
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the folder %s: %w", dir, err)
	}
	if t.entries += len(entries); t.entries > maxEntries {
		return &LimitError{fmt.Sprintf("%d files and folders", maxEntries)}
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	ignored, err = t.ignores(dir, entries, ignored)
	if err != nil {
		return err
	}
	matcher := gitignore.NewMatcher(ignored)
	f := &folder{path: dir, test: test}
	var below []string
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if !config.IsReportablePath(name) || matcher.Match(strings.Split(name, "/"), entry.IsDir()) {
			continue
		}
		switch {
		case entry.IsDir():
			below = append(below, entry.Name())
		case entry.Type().IsRegular() || t.linked(entry, name):
			f.files = append(f.files, entry.Name())
		}
	}
	t.folders[dir] = f
	if f.chart = f.has("Chart.yaml"); f.chart {
		return nil
	}
	for _, name := range below {
		if err := t.descend(ctx, path.Join(dir, name), ignored, test, depth); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) descend(ctx context.Context, dir string, ignored []gitignore.Pattern, test string, depth int) error {
	name := path.Base(dir)
	switch {
	case strings.HasPrefix(name, ".") || slices.Contains(foreignFolders, name):
		return nil
	case depth >= maxDepth:
		t.skipped = append(t.skipped, Skipped{Path: dir, Reason: "it is too deep"})
		return nil
	}
	if _, err := t.root.Lstat(path.Join(dir, ".git")); err == nil {
		t.skipped = append(t.skipped, Skipped{Path: dir, Reason: "it is a separate repository"})
		return nil
	}
	if test == "" && slices.Contains(testFolders, name) {
		test = dir
	}
	return t.walk(ctx, dir, ignored, test, depth+1)
}

// ignores adds the patterns of a folder's .gitignore.
func (t *tree) ignores(dir string, entries []fs.DirEntry, above []gitignore.Pattern) ([]gitignore.Pattern, error) {
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == ".gitignore" && e.Type().IsRegular()
	}) {
		return above, nil
	}
	data, err := t.readUpTo(path.Join(dir, ".gitignore"), maxIgnore)
	if err != nil {
		return nil, err
	}
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	patterns := slices.Clone(above)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, gitignore.ParsePattern(line, domain))
		}
	}
	return patterns, nil
}

// linked reports whether a symbolic link leads to a regular file inside of the repository.
func (t *tree) linked(entry fs.DirEntry, name string) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := t.root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Kind implements Tree: it is what a path leads to; nothing for what is outside of the repository.
func (t *tree) Kind(name string) (isFile, isFolder bool) {
	info, err := t.root.Stat(name)
	if err != nil {
		return false, false
	}
	return info.Mode().IsRegular(), info.IsDir()
}

// Files implements Tree.
func (t *tree) Files(folder string) (names []string) {
	entries, err := fs.ReadDir(t.root.FS(), folder)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		if name := path.Join(folder, entry.Name()); entry.Type().IsRegular() || t.linked(entry, name) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// WorkTree returns the files of a repository as they are on disk. The caller closes root.
func WorkTree(root *os.Root) Tree { return &tree{root: root} }

// errTooLarge is a file that is larger than maxFile.
var errTooLarge = fmt.Errorf("it is larger than %d MiB", maxFile>>20)

// Content implements Tree.
func (t *tree) Content(name string) ([]byte, error) {
	data, err := t.readUpTo(name, maxFile+1)
	if err == nil && len(data) > maxFile {
		return nil, errTooLarge
	}
	return data, err
}

func (t *tree) readUpTo(name string, limit int64) ([]byte, error) {
	file, err := t.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit))
	if t.read += int64(len(data)); t.read > maxTotal {
		return nil, &LimitError{fmt.Sprintf("%d MiB of files that may be manifests", maxTotal>>20)}
	}
	return data, err
}
