// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// dependency is a row of the page: a module, the rooms that import it, and "programs" or "tests".
type dependency struct{ module, rooms, in string }

func TestEveryDirectDependencyIsJustified(t *testing.T) {
	t.Parallel()
	modules, folders := directModules(t)
	linked := linkedModules(t)
	users := importers(t, modules, folders)
	var want []dependency
	for _, module := range modules {
		row := dependency{module, strings.Join(users[module].programs.sorted(), ", "), "programs"}
		if row.rooms == "" {
			row.rooms = strings.Join(users[module].tests.sorted(), ", ")
		}
		if !linked[module] {
			row.in = "tests"
		}
		want = append(want, row)
	}
	require.Equal(t, want, dependencyRows(t), "docs/dependencies.md against go.mod, the imports and the programs")
}

func TestTestsBringNothingIntoThePrograms(t *testing.T) {
	t.Parallel()
	linked := linkedModules(t)
	require.True(t, linked["google.golang.org/grpc"], "the list of linked modules is complete")
	for _, module := range []string{"github.com/stretchr/testify", "github.com/hinshun/vt10x", "github.com/creack/pty",
		"go.uber.org/goleak"} {
		require.False(t, linked[module], "%s is for tests", module)
	}
}

// Interpreters are heavy, and what they run is not ours: the Kubernetes plugins alone have them.
func TestInterpretersAreInTheKubernetesPluginsAlone(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/pipedeck", "./cmd/pipedeck-more",
		"./cmd/piped", "./plugins/wait", "./plugins/waitapproval", "./plugins/scriptrun")
	list.Dir, list.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "google.golang.org/grpc\n", "the list is complete")
	for _, interpreter := range []string{"github.com/google/cel-go/", "github.com/yuin/gopher-lua"} {
		require.NotContains(t, string(out), interpreter)
	}
}

func dependencyRows(t *testing.T) []dependency {
	t.Helper()
	page, err := os.ReadFile("dependencies.md")
	require.NoError(t, err)
	var rows []dependency
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "|\n"), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		require.Len(t, cells, 5, line)
		for _, cell := range cells {
			require.NotEmpty(t, strings.TrimSpace(cell), line)
		}
		rows = append(rows, dependency{strings.Trim(cells[0], " `"), cells[2], cells[3]})
	}
	return rows
}

// directModules returns what the modules of the programs require directly, and the folders of these modules.
func directModules(t *testing.T) (modules, folders []string) {
	t.Helper()
	folders = []string{"."}
	if work, err := os.ReadFile(filepath.Join("..", "go.work")); err == nil {
		parsed, err := modfile.ParseWork("go.work", work, nil)
		require.NoError(t, err)
		folders = nil
		for _, use := range parsed.Use {
			folders = append(folders, filepath.Clean(use.Path))
		}
	}
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join("..", folder, "go.mod"))
		require.NoError(t, err)
		parsed, err := modfile.Parse("go.mod", text, nil)
		require.NoError(t, err)
		for _, required := range parsed.Require {
			if path := required.Mod.Path; !required.Indirect && !strings.HasPrefix(path, "github.com/pipedeck/") {
				modules = append(modules, path)
			}
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules), folders
}

// linkedModules returns the modules that a program has on Linux or macOS.
func linkedModules(t *testing.T) map[string]bool {
	t.Helper()
	plugins, err := filepath.Glob("../plugins/*/main.go")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(plugins), 5)
	programs := []string{"./cmd/pipedeck", "./cmd/pipedeck-more", "./cmd/piped"}
	for _, main := range plugins {
		programs = append(programs, "./plugins/"+filepath.Base(filepath.Dir(main)))
	}
	linked := map[string]bool{}
	for _, system := range []string{"linux", "darwin"} {
		list := exec.CommandContext(t.Context(), "go",
			append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, programs...)...)
		list.Dir, list.Env = "..", append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := list.Output()
		require.NoError(t, err)
		for _, module := range strings.Fields(string(out)) {
			linked[module] = true
		}
	}
	return linked
}

type set map[string]bool

func (s set) sorted() []string { return slices.Sorted(maps.Keys(s)) }

// imports are the rooms that import a module in programs and in tests.
type imports struct{ programs, tests set }

func importers(t *testing.T, modules, folders []string) map[string]imports {
	t.Helper()
	users := map[string]imports{}
	for _, module := range modules {
		users[module] = imports{set{}, set{}}
	}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err != nil {
			return err
		}
		if entry.IsDir() && path != ".." {
			inner, _ := filepath.Rel("..", path)
			_, noModule := os.Stat(filepath.Join(path, "go.mod"))
			foreign := noModule == nil && !slices.Contains(folders, inner)
			if foreign || strings.HasPrefix(name, ".") || name == "testdata" {
				return filepath.SkipDir
			}
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		room := strings.Split(filepath.ToSlash(path), "/")[1]
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			module := moduleOf(imported, modules)
			switch {
			case module == "":
			case strings.HasSuffix(name, "_test.go"):
				users[module].tests[room] = true
			default:
				users[module].programs[room] = true
			}
		}
		return nil
	})
	require.NoError(t, err)
	return users
}

// moduleOf returns the module with the longest path that holds the package; "" when none does.
func moduleOf(imported string, modules []string) string {
	longest := ""
	for _, module := range modules {
		if (imported == module || strings.HasPrefix(imported, module+"/")) && len(module) > len(longest) {
			longest = module
		}
	}
	return longest
}
