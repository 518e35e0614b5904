// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package trim leaves out of the modules of the embedded Kubernetes what it would compile or do for no one: a file that
// only tests of its module use, but that is no test file, and metrics that wake the process up. The go command knows no
// way to leave a file of a module out: a copy of the module without it takes the module's place. docs/decisions/0032
// says why.
package trim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/pipedeck/pipedeck/devenv/gobuild"
)

// cut is what a copy of a module lacks; the names are slash-separated paths in the module.
type cut struct {
	// leftOut are files that are not there. No other file needs them.
	leftOut []string
	// emptied are files of which only the package clause is left, because others import their package for what it does
	// by itself.
	emptied []string
}

// cuts are what the copies lack, by the module.
var cuts = map[string]cut{
	// It imports a fake of each typed client: 58 packages, a tenth of the time to compile the program.
	"k8s.io/apiserver": {leftOut: []string{"pkg/admission/plugin/policy/generic/policy_test_context.go"}},
	// It makes each work queue count its work twice a second, which is most of what an idle cluster wakes up for. No
	// one reads these metrics.
	"k8s.io/component-base": {emptied: []string{"metrics/prometheus/workqueue/metrics.go"}},
}

// Module writes trimmed copies of modules to dir, which does not exist, and returns the go.mod of the module in source
// with the copies in their places. place is the slash-separated path of dir from the directory of that module. environ
// is added to the environment of the go command, which downloads a module that is missing.
func Module(ctx context.Context, source, dir, place string, environ []string) ([]byte, error) {
	name := filepath.Join(source, "go.mod")
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse(name, content, nil)
	if err != nil {
		return nil, err
	}
	for _, required := range file.Require {
		lacks, ok := cuts[required.Mod.Path]
		if !ok {
			continue
		}
		module := required.Mod
		original, err := downloaded(ctx, source, module.String(), environ)
		if err != nil {
			return nil, err
		}
		if err := copyWithout(original, filepath.Join(dir, filepath.FromSlash(module.Path)), lacks); err != nil {
			return nil, fmt.Errorf("copy %s: %w", module, err)
		}
		if err := file.AddReplace(module.Path, "", relative(path.Join(place, module.Path)), ""); err != nil {
			return nil, err
		}
	}
	return file.Format()
}

// relative is a path as go.mod needs it to know a directory from a module.
func relative(name string) string {
	if strings.HasPrefix(name, "../") {
		return name
	}
	return "./" + name
}

// downloaded is where the go command keeps a module.
func downloaded(ctx context.Context, dir, module string, environ []string) (string, error) {
	cmd := gobuild.Command(ctx, dir, environ, "mod", "download", "-json", module)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	var answer struct{ Dir, Error string }
	if parsed := json.Unmarshal(out, &answer); parsed == nil && answer.Error != "" {
		return "", fmt.Errorf("download %s: %s", module, answer.Error)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("download %s: %w: %s", module, err, bytes.TrimSpace(said.Bytes()))
	}
	return answer.Dir, nil
}

// copyWithout copies the files of a module that a program can be made of, but for what is cut.
func copyWithout(from, to string, lacks cut) error {
	for _, name := range slices.Concat(lacks.leftOut, lacks.emptied) {
		if _, err := os.Stat(filepath.Join(from, filepath.FromSlash(name))); err != nil {
			return fmt.Errorf("leave out %s: %w", name, err)
		}
	}
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	return fs.WalkDir(source.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, filepath.FromSlash(name)), 0o700)
		case !entry.Type().IsRegular() || strings.HasSuffix(name, "_test.go") || slices.Contains(lacks.leftOut, name):
			return nil
		}
		content, err := source.ReadFile(name)
		if err == nil && slices.Contains(lacks.emptied, name) {
			content, err = packageClause(content)
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, filepath.FromSlash(name)), content, 0o600)
	})
}

// packageClause is a Go file of which nothing else is left.
func packageClause(content []byte) ([]byte, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", content, parser.PackageClauseOnly)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "package %s\n", file.Name.Name), nil
}
