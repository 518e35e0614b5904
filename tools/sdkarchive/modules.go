// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// unpublished is the version by which the modules of this repository require each other until they are published.
const unpublished = "v0.0.0"

// sdkSums is the file with the checksums of the modules of the SDK.
const sdkSums = "plugins/sdk/go.sum"

// vendored is a module with the packages of it that are compiled.
type vendored struct {
	*module
	packages []string
}

// modulesOf groups the packages by their modules, in the order of their paths.
func modulesOf(packages []*goPackage) []*vendored {
	known := map[string]*vendored{}
	for _, p := range packages {
		m := known[p.Module.Path]
		if m == nil {
			m = &vendored{module: p.Module}
			m.Version = cmp.Or(m.Version, unpublished)
			known[m.Path] = m
		}
		m.packages = append(m.packages, p.ImportPath)
	}
	return sorted(known)
}

func sorted(modules map[string]*vendored) []*vendored {
	return slices.SortedFunc(maps.Values(modules), func(a, b *vendored) int { return strings.Compare(a.Path, b.Path) })
}

// withRequired adds the modules that the SDK requires for other systems alone: go mod tidy wants them in go.mod, too.
func withRequired(modules []*vendored) ([]*vendored, error) {
	known := map[string]*vendored{}
	for _, m := range modules {
		known[m.Path] = m
	}
	for _, m := range modules {
		if m.Path != sdk {
			continue
		}
		data, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			// Its requirements are in blocks, as go mod tidy writes them.
			if fields := strings.Fields(string(line)); line[0] == '\t' && len(fields) >= 2 && known[fields[0]] == nil {
				known[fields[0]] = &vendored{module: &module{Path: fields[0], Version: fields[1]}}
			}
		}
	}
	return sorted(known), nil
}

// goMod is the go.mod of a plugin, for the module example.com/plugin.
func goMod(modules []*vendored) []byte {
	var direct, indirect, replaced strings.Builder
	version := ""
	for _, m := range modules {
		place, own := m.own()
		if !own {
			fmt.Fprintf(&indirect, "\t%s %s // indirect\n", m.Path, m.Version)
			continue
		}
		fmt.Fprintf(&direct, "\t%s %s\n", m.Path, m.Version)
		fmt.Fprintf(&replaced, "\t%s => ./%s\n", m.Path, place)
		version = m.GoVersion
	}
	return fmt.Appendf(nil, "module example.com/plugin\n\ngo %s\n\n"+
		"require (\n%s)\n\nrequire (\n%s)\n\nreplace (\n%s)\n", version, &direct, &indirect, &replaced)
}

// modulesText is the list that the go command compares with go.mod before it takes packages from vendor.
func modulesText(modules []*vendored) []byte {
	var text, replaced strings.Builder
	for _, m := range modules {
		place, own := m.own()
		if own {
			fmt.Fprintf(&text, "# %s %s => ./%s\n", m.Path, m.Version, place)
			fmt.Fprintf(&replaced, "# %s => ./%s\n", m.Path, place)
		} else {
			fmt.Fprintf(&text, "# %s %s\n", m.Path, m.Version)
		}
		text.WriteString("## explicit")
		if m.GoVersion != "" {
			text.WriteString("; go " + m.GoVersion)
		}
		text.WriteString("\n" + strings.Join(append(m.packages, ""), "\n"))
	}
	return []byte(text.String() + replaced.String())
}

// sumsOf are the checksums that this repository has of the modules, and of all that the SDK has, for the next time
// that they are resolved.
func sumsOf(root string, modules []*vendored) ([]byte, error) {
	wanted := map[string]bool{}
	for _, m := range modules {
		wanted[m.Path+" "+m.Version], wanted[m.Path+" "+m.Version+"/go.mod"] = true, true
	}
	found := map[string]bool{}
	for _, name := range []string{"go.sum", "go.work.sum", "api/go.sum", sdkSums} {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			fields := strings.Fields(string(line))
			if len(fields) == 3 && (name == sdkSums || wanted[fields[0]+" "+fields[1]]) {
				found[strings.Join(fields, " ")+"\n"] = true
			}
		}
	}
	return []byte(strings.Join(slices.Sorted(maps.Keys(found)), "")), nil
}
