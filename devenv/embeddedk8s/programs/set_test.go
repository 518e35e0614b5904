// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// executable writes a program and returns its entry of the list.
func executable(t *testing.T, image, content string) Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o500))
	sum := sha256.Sum256([]byte(content))
	return Program{Image: image, Path: path, SHA256: hex.EncodeToString(sum[:])}
}

// replace writes a list as the environment does: aside, then renamed.
func replace(t *testing.T, path string, programs ...Program) {
	t.Helper()
	content, err := json.Marshal(List{Version, programs})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+".new", content, 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

func TestAnImageIsFoundByTheReferenceThatAManifestNames(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "list.json")
	set := Open(list)
	_, found := set.Find("pipedeck.dev/web:1")
	require.False(t, found, "there is no list yet")

	web, tool := executable(t, "pipedeck.dev/web:1", "web"), executable(t, "tool", "tool")
	replace(t, list, web, tool)
	for image, want := range map[string]string{
		"pipedeck.dev/web:1": web.Path, "pipedeck.dev/web:2": "", "pipedeck.dev/web": "", "web:1": "",
		"tool": tool.Path, "tool:v7": tool.Path, "docker.io/library/tool:latest": tool.Path,
		"tool@sha256:" + strings.Repeat("a", 64): tool.Path, "tools": "", "quay.io/tool": "", "NO/reference": "",
	} {
		program, found := set.Find(image)
		require.Equal(t, want != "", found, image)
		require.Equal(t, want, program.Path, image)
	}

	replace(t, list, tool)
	_, found = set.Find("pipedeck.dev/web:1")
	require.False(t, found, "it is not in the new list")
	require.NoError(t, os.Remove(list))
	_, found = set.Find("tool")
	require.False(t, found)
	_, found = Open("").Find("tool")
	require.False(t, found)
}

func TestAListThatCannotBeTrustedLeavesTheLastGoodOneInForce(t *testing.T) {
	t.Parallel()
	good := executable(t, "pipedeck.dev/web:1", "web")
	entry := func(change func(*Program)) string {
		changed := good
		changed.Image = "pipedeck.dev/bad:1"
		change(&changed)
		content, err := json.Marshal(List{Version, []Program{changed}})
		require.NoError(t, err)
		return string(content)
	}
	many := strings.TrimSuffix(strings.Repeat("{},", maxPrograms+1), ",")
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
	}{
		"it is not JSON":                     {"{", 0o600},
		"it is of another version":           {`{"version":2,"programs":[]}`, 0o600},
		"it is too large":                    {`{"version":1}` + strings.Repeat(" ", maxListBytes), 0o600},
		"it has too many entries":            {fmt.Sprintf(`{"version":1,"programs":[%s]}`, many), 0o600},
		"others can write to it":             {entry(func(*Program) {}), 0o620},
		"a path is relative":                 {entry(func(p *Program) { p.Path = "program" }), 0o600},
		"a digest is none":                   {entry(func(p *Program) { p.SHA256 = "x" }), 0o600},
		"an image is no reference":           {entry(func(p *Program) { p.Image = "A B" }), 0o600},
		"a working directory is relative":    {entry(func(p *Program) { p.WorkingDir = "x" }), 0o600},
		"another program's path is relative": {entry(func(p *Program) { p.MayRun = []string{"sh"} }), 0o600},
		"an argument holds NUL":              {entry(func(p *Program) { p.Args = []string{"a\x00"} }), 0o600},
		"a variable has no name":             {entry(func(p *Program) { p.Env = map[string]string{"A=B": ""} }), 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := filepath.Join(t.TempDir(), "list.json")
			set := Open(list)
			replace(t, list, good)
			_, found := set.Find(good.Image)
			require.True(t, found)
			require.NoError(t, os.WriteFile(list+".new", []byte(c.content), 0o600))
			require.NoError(t, os.Chmod(list+".new", c.mode))
			require.NoError(t, os.Rename(list+".new", list))
			_, found = set.Find("pipedeck.dev/bad:1")
			require.False(t, found)
			_, found = set.Find(good.Image)
			require.True(t, found)
		})
	}
}

func TestALinkToAListIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir, good := t.TempDir(), executable(t, "pipedeck.dev/web:1", "web")
	replace(t, filepath.Join(dir, "real.json"), good)
	require.NoError(t, os.Symlink("real.json", filepath.Join(dir, "list.json")))
	_, found := Open(filepath.Join(dir, "list.json")).Find(good.Image)
	require.False(t, found)
}

func TestAProgramIsStartedOnlyAsItWasListed(t *testing.T) {
	t.Parallel()
	set := Open("")
	require.NoError(t, set.Check(executable(t, "web", "web")))
	for name, spoil := range map[string]func(*testing.T, *Program){
		"it is gone":               func(t *testing.T, p *Program) { require.NoError(t, os.Remove(p.Path)) },
		"it is not executable":     func(t *testing.T, p *Program) { require.NoError(t, os.Chmod(p.Path, 0o600)) },
		"everyone can write to it": func(t *testing.T, p *Program) { require.NoError(t, os.Chmod(p.Path, 0o777)) },
		"its content was another":  func(_ *testing.T, p *Program) { p.SHA256 = strings.Repeat("a", 64) },
		"it is a directory":        func(t *testing.T, p *Program) { p.Path = t.TempDir() },
		"its content has changed":  func(t *testing.T, p *Program) { overwrite(t, p.Path, "bad") },
		"another file is in its place": func(t *testing.T, p *Program) {
			require.NoError(t, os.Remove(p.Path))
			require.NoError(t, os.WriteFile(p.Path, []byte("bad"), 0o500))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := executable(t, "web", "web")
			require.NoError(t, set.Check(program))
			spoil(t, &program)
			require.Error(t, set.Check(program))
		})
	}
}

// overwrite changes the content in place, and hides that as far as its owner can.
func overwrite(t *testing.T, path, content string) {
	t.Helper()
	before, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	require.NoError(t, os.Chmod(path, 0o500))
	require.NoError(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
}

func TestOtherProgramsThanTheImagesOwnAreRefusedUnlessTheListAllowsThem(t *testing.T) {
	t.Parallel()
	p := Program{Path: "/app"}
	require.True(t, p.Allows("/app"))
	require.False(t, p.Allows("/bin/sh"))
	require.False(t, p.Allows(""))
	p.Entrypoint = "/web"
	require.True(t, p.Allows("/web"), "its name in the image")
	p.MayRun = []string{"/bin/sh"}
	require.True(t, p.Allows("/bin/sh"))
	require.False(t, p.Allows("/bin/bash"))
	p.MayRun = []string{Anything}
	require.True(t, p.Allows("/bin/bash"))
}
