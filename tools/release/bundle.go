// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// bundleFolder is where the one program of all plugins would lie in the repository. It exists only as an overlay.
const bundleFolder = "plugins/bundle/program"

// compileBundle builds one program of all bundled plugins. Each plugin is a main package; their copies are packages
// that a generated main calls.
func (r *release) compileBundle(t target, output string) error {
	work := filepath.Join(r.output, workFolder, "bundle")
	overlay := map[string]string{}
	for _, name := range pluginNames {
		if err := r.copyPlugin(name, filepath.Join(work, name), overlay); err != nil {
			return fmt.Errorf("plugin %s: %w", name, err)
		}
	}
	main := filepath.Join(work, "main.go")
	if err := os.WriteFile(main, []byte(bundleMain()), 0o644); err != nil {
		return err
	}
	overlay[filepath.Join(r.root, bundleFolder, "main.go")] = main
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return err
	}
	file := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(file, list, 0o644); err != nil {
		return err
	}
	return r.compile(t, output, r.root, nil, "-overlay", file, "./"+bundleFolder)
}

// bundleMain is the main of the program. The processes that render charts are started without a name.
func bundleMain() string {
	var imports, entries strings.Builder
	for _, name := range pluginNames {
		fmt.Fprintf(&imports, "\t%q\n", module+"/"+bundleFolder+"/"+name)
		fmt.Fprintf(&entries, "\t\t%q: %s.Main,\n", name, name)
	}
	return "package main\n\nimport (\n\t" + `"` + module + `/plugins/bundle"` + "\n\t" + `"` + module +
		`/plugins/kubernetes/helm"` + "\n" + imports.String() + ")\n\nfunc main() {\n\thelm.ServeIfChild()\n" +
		"\tbundle.Main(map[string]func(){\n" + entries.String() + "\t})\n}\n"
}

// copyPlugin puts a plugin's package main into the overlay as a package with its name and an exported Main.
func (r *release) copyPlugin(name, work string, overlay map[string]string) error {
	source := filepath.Join(r.root, "plugins", name)
	entries, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	at := filepath.Join(r.root, bundleFolder, name)
	found := false
	for _, entry := range entries {
		file := filepath.Join(source, entry.Name())
		switch {
		case entry.IsDir() || strings.HasSuffix(file, "_test.go"):
		case strings.HasSuffix(file, ".go"):
			content, isMain, err := asPackage(file, name)
			if err != nil {
				return err
			}
			found = found || isMain
			copied := filepath.Join(work, entry.Name())
			if err := os.WriteFile(copied, content, 0o644); err != nil {
				return err
			}
			overlay[filepath.Join(at, entry.Name())] = copied
		default:
			overlay[filepath.Join(at, entry.Name())] = file // which it embeds
		}
	}
	if !found {
		return errors.New("it has no function main")
	}
	return nil
}

// asPackage returns a file of a main package as one of a package with another name, with Main in place of main.
func asPackage(file, name string) (content []byte, isMain bool, err error) {
	content, err = os.ReadFile(file)
	if err != nil {
		return nil, false, err
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, false, err
	}
	replace := func(id *ast.Ident, by string) {
		at := files.Position(id.Pos()).Offset
		content = append(content[:at:at], append([]byte(by), content[at+len(id.Name):]...)...)
	}
	// From the end to the begin, so that positions stay right.
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "main" {
			replace(f.Name, "Main")
			isMain = true
		}
	}
	replace(parsed.Name, name)
	return content, isMain, nil
}
