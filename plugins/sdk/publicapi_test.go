// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

const module = "github.com/pipedeck/pipedeck/plugins/sdk"

// foreign are the packages whose types no exported name of the SDK may have: authors would depend on the protocol, or
// on the version of a library.
var foreign = []string{"github.com/pipedeck/pipedeck/api", "google.golang.org/", "go.opentelemetry.io/",
	"github.com/spf13/", module + "/wiretest", module + "/standin", module + "/recording"}

func TestExportedNamesHaveNoTypeOfTheProtocol(t *testing.T) {
	t.Parallel()
	paths := []string{module, module + "/sdktest", module + "/unit", module + "/diff",
		module + "/compat"}
	imported := newImporter(t, paths)
	for _, path := range paths {
		pkg, err := imported.Import(path)
		require.NoError(t, err)
		require.Empty(t, foreignTypes(pkg), path)
	}
}

// TestForeignTypesAreFound holds the test above: package wiretest has such types.
func TestForeignTypesAreFound(t *testing.T) {
	t.Parallel()
	pkg, err := newImporter(t, []string{module + "/wiretest"}).Import(module + "/wiretest")
	require.NoError(t, err)
	require.Contains(t, strings.Join(foreignTypes(pkg), "\n"),
		"Harness.Preview: *github.com/pipedeck/pipedeck/api/plugin/common.DeploymentSource")
}

// newImporter reads what the compiler has written about the packages.
func newImporter(t *testing.T, paths []string) types.Importer {
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-f",
		"{{.ImportPath}} {{.Export}}"}, paths...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
}

// foreignTypes names what the exported names of a package show of foreign types, as readers of go doc see it.
func foreignTypes(pkg *types.Package) (found []string) {
	check := func(name string, shown types.Type) {
		types.TypeString(shown, func(p *types.Package) string {
			for _, prefix := range foreign {
				if strings.HasPrefix(p.Path(), prefix) {
					found = append(found, fmt.Sprintf("%s: %s", name, shown))
				}
			}
			return p.Path()
		})
	}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		named, is := object.Type().(*types.Named)
		if _, isType := object.(*types.TypeName); !isType || !is {
			check(name, object.Type())
			continue
		}
		for field := range exportedFields(named) {
			check(name+"."+field.Name(), field.Type())
		}
		if _, isStruct := named.Underlying().(*types.Struct); !isStruct {
			check(name, named.Underlying())
		}
		methods := types.NewMethodSet(types.NewPointer(named))
		for method := range methods.Methods() {
			if method.Obj().Exported() {
				signature := method.Obj().Type().(*types.Signature)
				for parameter := range signature.Params().Variables() {
					check(name+"."+method.Obj().Name(), parameter.Type())
				}
				for result := range signature.Results().Variables() {
					check(name+"."+method.Obj().Name(), result.Type())
				}
			}
		}
	}
	return found
}

func exportedFields(named *types.Named) func(yield func(*types.Var) bool) {
	return func(yield func(*types.Var) bool) {
		if s, is := named.Underlying().(*types.Struct); is {
			for field := range s.Fields() {
				if field.Exported() && !yield(field) {
					return
				}
			}
		}
	}
}
