// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func TestReleasesAreInOrderAndChangesByKind(t *testing.T) {
	t.Parallel()
	got, err := write(fstest.MapFS{
		"README.md":                file("# How"),
		"unreleased/b.yaml":        file("kind: fixed\ntitle: Fix b\n"),
		"unreleased/a.yaml":        file("kind: added\ntitle: Add a\ntext: |\n  More about a,\n  on two lines.\n"),
		"0.9.0_2026-01-02/x.yaml":  file("kind: added\ntitle: Add x\n"),
		"0.10.0_2026-02-03/y.yaml": file("kind: removed\ntitle: Remove y\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(got, "\n## ")
	const want = "Unreleased\n\n### Added\n\n- Add a\n  More about a,\n  on two lines.\n\n### Fixed\n\n- Fix b\n" +
		"\n## 0.10.0 (2026-02-03)\n\n### Removed\n\n- Remove y\n\n## 0.9.0 (2026-01-02)\n\n### Added\n\n- Add x\n"
	if list != want {
		t.Errorf("got %s\nwant %s", list, want)
	}
}

func TestWrongEntriesAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, text, want string }{
		"an unknown kind":   {"unreleased/a.yaml", "kind: new\ntitle: a\n", `kind is "new"`},
		"no title":          {"unreleased/a.yaml", "kind: added\n", "title must be one line"},
		"a title of lines":  {"unreleased/a.yaml", "kind: added\ntitle: \"a\\nb\"\n", "title must be one line"},
		"an unknown key":    {"unreleased/a.yaml", "kind: added\ntitle: a\nissue: 1\n", "field issue not found"},
		"an unknown folder": {"next/a.yaml", "", "neither"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := write(fstest.MapFS{c.path: file(c.text)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAStaleChangelogIsReported(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "changelog", unreleased), 0o755); err != nil {
		t.Fatal(err)
	}
	entry := filepath.Join(root, "changelog", unreleased, "a.yaml")
	if err := os.WriteFile(entry, []byte("kind: added\ntitle: Add a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(root, false); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err != nil {
		t.Errorf("a current file is refused: %v", err)
	}
	if err := os.WriteFile(entry, []byte("kind: added\ntitle: Add b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err == nil || !strings.Contains(err.Error(), "stale") {
		t.Errorf("got %v", err)
	}
}
