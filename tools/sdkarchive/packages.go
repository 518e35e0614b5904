// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const (
	project = "github.com/pipedeck/pipedeck"
	sdk     = project + "/plugins/sdk"
	api     = project + "/api"
)

// roots are what a plugin and its tests import.
var roots = []string{"./plugins/sdk/...", "github.com/stretchr/testify/require"}

// platform is what packages are compiled for, in Go's words.
type platform struct{ os, arch string }

// platforms are those that pipedeck runs on.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// goPackage is what the go command says of a package.
type goPackage struct {
	ImportPath, Name, Dir string
	Standard              bool
	EmbedFiles            []string
	Module                *module
}

type module struct {
	Path, Version, Dir, GoVersion string
	Main                          bool
}

// list returns the packages that are not part of Go, in the order of their paths.
func list(root string) ([]*goPackage, error) {
	type result struct {
		packages []*goPackage
		err      error
	}
	results := make(chan result, len(platforms))
	for _, p := range platforms {
		go func() {
			packages, err := listFor(root, p)
			results <- result{packages, err}
		}()
	}
	known := map[string]*goPackage{}
	var failed []error
	for range platforms {
		r := <-results
		failed = append(failed, r.err)
		for _, p := range r.packages {
			known[p.ImportPath] = p
		}
	}
	return slices.SortedFunc(maps.Values(known), func(a, b *goPackage) int {
		return strings.Compare(a.ImportPath, b.ImportPath)
	}), errors.Join(failed...)
}

func listFor(root string, p platform) (packages []*goPackage, err error) {
	cmd := exec.Command("go", append([]string{"list", "-deps",
		"-json=ImportPath,Name,Dir,Standard,EmbedFiles,Module"}, roots...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of the SDK for %s/%s: %w", p.os, p.arch, err)
	}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		one := &goPackage{}
		switch err := decoder.Decode(one); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("read what the go command says of packages: %w", err)
		}
		if one.Standard || one.Name == "main" {
			continue
		}
		if one.Module == nil {
			return nil, fmt.Errorf("the package %s belongs to no module", one.ImportPath)
		}
		packages = append(packages, one)
	}
}

// own reports whether a module is of this repository, and where a plugin has it.
func (m *module) own() (place string, is bool) {
	switch m.Path {
	case sdk:
		return "third_party/pipedeck/sdk", true
	case api:
		return "third_party/pipedeck/api", true
	}
	return "", false
}
