// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReferencesSayWhichFolderIsBuilt(t *testing.T) {
	t.Parallel()
	digest := "@sha256:" + strings.Repeat("0", 64)
	for reference, want := range map[string]string{
		"pipedeck.dev/web":                   "web",
		"pipedeck.dev/web:v1":                "web",
		"pipedeck.dev/services/web:v1":       "services/web",
		"pipedeck.dev/web" + digest:          "",
		"pipedeck.dev/web:v1" + digest:       "",
		"pipedeck.dev":                       "",
		"pipedeck.dev/":                      "",
		"pipedeck.dev/..":                    "",
		"pipedeck.dev/../web":                "",
		"pipedeck.dev/web/../../x":           "",
		"pipedeck.dev/web/./x":               "",
		"pipedeck.dev/Web":                   "",
		"pipedeck.dev//web":                  "",
		"pipedeck.dev.example.com/web":       "",
		"nginx":                              "",
		"docker.io/pipedeck.dev/web":         "",
		"pipedeck.dev/" + long(maxReference): "",
	} {
		require.Equal(t, want, folderOf(reference), reference)
	}
}

func long(n int) string { return strings.Repeat("a", n) }

func FuzzFoldersStayInTheRepository(f *testing.F) {
	for _, seed := range []string{"pipedeck.dev/web:v1", "pipedeck.dev/../x", "pipedeck.dev//etc",
		"pipedeck.dev/a/../..", "pipedeck.dev/.:v1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		if folder := folderOf(reference); folder != "" {
			require.True(t, filepath.IsLocal(filepath.FromSlash(folder)), folder)
			require.NotEqual(t, ".", folder)
		}
	})
}

// files of a program that embeds, imports and is tested.
func rich() map[string]string {
	return map[string]string{
		"go.mod": "module sample\n\ngo 1.26\n\nrequire sample/other v0.0.0\n\n" +
			"replace sample/other => ./other\n",
		"go.sum": "",
		"web/main.go": "package main\n\nimport (\n" +
			"\t_ \"embed\"\n\t\"sample/lib\"\n\t\"sample/other/deep\"\n)\n\n//go:embed page.html assets\n" +
			"var _ string\n\nfunc main() { lib.F(); deep.F() }\n",
		"web/main_windows.go":    "package main\n",
		"web/main_test.go":       "package main\n",
		"web/page.html":          "<p>",
		"web/assets/deep/x.css":  "p{}",
		"web/deployment.yaml":    "kind: Deployment\n",
		"lib/lib.go":             "package lib\n\nfunc F() {}\n",
		"other/go.mod":           "module sample/other\n",
		"other/deep/deep.go":     "package deep\n\nfunc F() {}\n",
		"other/unused/unused.go": "package unused\n",
		"README.md":              "hello\n",
	}
}

func TestTheReferenceChangesWithTheSourcesAndNothingElse(t *testing.T) {
	t.Parallel()
	before := find(t, repository(t, rich()), "pipedeck.dev/web:v1").Reference()
	require.Regexp(t, `^pipedeck\.dev/web:[0-9a-f]{12}$`, before)
	for file, changes := range map[string]bool{
		"go.mod": true, "go.sum": true, "web/main.go": true, "web/main_windows.go": true, "web/page.html": true,
		"web/assets/deep/x.css": true,
		"lib/lib.go":            true, "other/go.mod": true, "other/deep/deep.go": true,
		"web/main_test.go": false, "web/deployment.yaml": false, "other/unused/unused.go": false, "README.md": false,
	} {
		files := rich()
		files[file] += "// more\n"
		after := find(t, repository(t, files), "pipedeck.dev/web:v2").Reference()
		require.Equal(t, changes, before != after, file)
	}
	moved := rich()
	moved["web/page2.html"], moved["web/main.go"] = moved["web/page.html"],
		strings.Replace(moved["web/main.go"], "page.html", "page2.html", 1)
	require.NotEqual(t, before, find(t, repository(t, moved), "pipedeck.dev/web").Reference())
}

func TestVendoredPackagesCount(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"go.mod":                  "module sample\n\ngo 1.26\n\nrequire x.example/y v1.0.0\n",
		"vendor/modules.txt":      "# x.example/y v1.0.0\n",
		"vendor/x.example/y/y.go": "package y\n",
		"web/main.go":             "package main\n\nimport _ \"x.example/y\"\n\nfunc main() {}\n",
	}
	before := find(t, repository(t, files), "pipedeck.dev/web").Reference()
	files["vendor/x.example/y/y.go"] += "// more\n"
	require.NotEqual(t, before, find(t, repository(t, files), "pipedeck.dev/web").Reference())
}

func TestImagesThatAreBuiltElsewhereAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"web/main.go": program, "docs/README.md": "",
		"tests/only_test.go": "package tests\n"})
	for _, reference := range []string{"nginx", "pipedeck.dev/gone:v1", "pipedeck.dev/docs:v1",
		"pipedeck.dev/tests:v1"} {
		s, err := FindSources(dir, reference)
		require.NoError(t, err)
		require.Nil(t, s, reference)
	}
}

func TestNothingOutsideOfTheRepositoryIsRead(t *testing.T) {
	t.Parallel()
	outside := repository(t, map[string]string{"main.go": program, "secret": "x"})
	dir := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "web")))
	s, err := FindSources(dir, "pipedeck.dev/web")
	require.NoError(t, err)
	require.Nil(t, s)

	write(t, filepath.Join(dir, "app", "main.go"),
		"package main\n\n//go:embed secret\nvar _ string\n\nfunc main() {}\n")
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "app", "secret")))
	before, beforeErr := FindSources(dir, "pipedeck.dev/app")
	write(t, filepath.Join(outside, "secret"), "y")
	after, afterErr := FindSources(dir, "pipedeck.dev/app")
	require.Equal(t, beforeErr, afterErr)
	require.Equal(t, before, after, "what is outside has no influence")
}

func TestTheSizeOfAProgramIsBounded(t *testing.T) {
	t.Parallel()
	large := simple(t)
	require.NoError(t, os.Truncate(filepath.Join(large, "web", "main.go"), maxSourceBytes+1))
	embedding := repository(t, map[string]string{"web/main.go": "package main\n\nimport _ \"embed\"\n\n" +
		"//go:embed data\nvar _ string\n\nfunc main() {}\n", "web/data": ""})
	require.NoError(t, os.Truncate(filepath.Join(embedding, "web", "data"), maxSourceBytes))
	many := repository(t, map[string]string{"web/main.go": "package main\n\nimport _ \"embed\"\n\n" +
		"//go:embed d\nvar _ string\n\nfunc main() {}\n", "web/d/x": ""})
	for i := range maxFiles {
		require.NoError(t, os.Link(filepath.Join(many, "web/d/x"), filepath.Join(many, "web/d", strconv.Itoa(i))))
	}
	deep := repository(t, map[string]string{"go.mod": "module sample\n"})
	for i := range maxPackages + 1 {
		folder := "p" + strconv.Itoa(i)
		if i == 0 {
			folder = "web"
		}
		write(t, filepath.Join(deep, folder, "x.go"), "package x\n\nimport _ \"sample/p"+strconv.Itoa(i+1)+"\"\n")
	}
	for dir, want := range map[string]string{large: "MiB", embedding: "MiB", many: "files", deep: "packages"} {
		_, err := FindSources(dir, "pipedeck.dev/web")
		require.ErrorContains(t, err, "more than")
		require.ErrorContains(t, err, want)
	}
}
