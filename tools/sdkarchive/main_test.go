// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"go/build/constraint"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheArchiveHoldsWhatIsLinkedOnceAndWithItsLicences(t *testing.T) {
	output := filepath.Join(t.TempDir(), "new", "sdk.tar.gz")
	must(t, run("../..", output))
	first, err := os.Stat(output)
	must(t, err)
	if first.Size() > 3<<20 {
		t.Errorf("the archive has %d bytes, which each download of pipedeck has", first.Size())
	}
	must(t, run("../..", output))
	if again, err := os.Stat(output); err != nil || !os.SameFile(first, again) {
		t.Errorf("an archive with the same content was written again: %v", err)
	}
	data, err := os.ReadFile(output)
	must(t, err)
	must(t, os.Remove(output))
	must(t, run("../..", output))
	if again, err := os.ReadFile(output); err != nil || !bytes.Equal(again, data) {
		t.Errorf("the same sources have given other bytes: %v", err)
	}
	names := contents(t, data)
	for _, want := range []string{
		"go.mod", "go.sum", "vendor/modules.txt",
		"third_party/pipedeck/sdk/go.mod", "third_party/pipedeck/sdk/plugin.go", "third_party/pipedeck/sdk/LICENSE",
		"third_party/pipedeck/sdk/sdktest/harness.go", "third_party/pipedeck/api/go.mod",
		"vendor/github.com/pipedeck/pipedeck/plugins/sdk/plugin.go", "vendor/google.golang.org/grpc/LICENSE",
		"vendor/google.golang.org/grpc/server.go", "vendor/golang.org/x/sys/unix/zerrors_darwin_arm64.go",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("the archive has no %s", want)
		}
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "windows") ||
			strings.HasSuffix(name, ".proto") {
			t.Errorf("no plugin needs %s", name)
		}
	}
}

// contents returns the names in an archive, which all have no time.
func contents(t *testing.T, data []byte) (names []string) {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	must(t, err)
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		must(t, err)
		if header.ModTime.Unix() != 0 || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s has the time %s and the owner %q", header.Name, header.ModTime, header.Uname)
		}
		names = append(names, header.Name)
	}
}

func TestFilesOfOtherSystemsAreLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		rule string
		want bool
	}{
		"a.go":             {"", true},
		"a_linux.go":       {"", true},
		"a_darwin_arm64.s": {"", true},
		"a_windows.go":     {"", false},
		"a_s390x.go":       {"", false},
		"a_test.go":        {"", false},
		"a.md":             {"", false},
		"race.go":          {"//go:build race", true},
		"norace.go":        {"//go:build !race", true},
		"unix.go":          {"//go:build unix && !linux", true},
		"bsd.go":           {"//go:build freebsd || openbsd", false},
		"old.go":           {"//go:build !go1.18", false},
		"future.go":        {"//go:build go1.999", true},
		"present.go":       {"//go:build !go1.999", true},
		"purego.go":        {"//go:build purego && windows", false},
		"ignored.go":       {"//go:build ignore", false},
		"c_linux.go":       {"//go:build darwin", false},
	} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte("// Text.\n\n"+c.rule+"\n\npackage a\n"), 0o600))
		if got, err := compiled(path); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	rule, err := constraint.Parse("//go:build !(linux || !race)")
	must(t, err)
	if possible(platform{"linux", "amd64"}, rule, true) || !possible(platform{"darwin", "amd64"}, rule, true) {
		t.Error("a rule was misread")
	}
}
