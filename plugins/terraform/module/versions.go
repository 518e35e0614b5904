// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-config-inspect/tfconfig"
)

// Version is the version of something that a configuration uses.
type Version struct{ Name, Version, URL string }

// Versions returns the modules of a configuration, then its providers, with the versions that it asks for.
func Versions(dir string) ([]Version, error) {
	loaded, err := load(dir)
	if err != nil {
		return nil, err
	}
	var list []Version
	for _, name := range slices.Sorted(maps.Keys(loaded.ModuleCalls)) {
		call := loaded.ModuleCalls[name]
		version := call.Version
		if _, ref, is := strings.Cut(call.Source, "ref="); is && version == "" {
			version, _, _ = strings.Cut(ref, "&")
		}
		if version == "" && strings.HasPrefix(call.Source, ".") {
			continue // a folder of the same commit
		}
		list = append(list, Version{Name: name, Version: or(version, "latest"), URL: call.Source})
	}
	for _, name := range slices.Sorted(maps.Keys(loaded.RequiredProviders)) {
		provider := loaded.RequiredProviders[name]
		if len(provider.VersionConstraints) == 0 {
			continue
		}
		list = append(list, Version{Name: or(provider.Source, name), Version: strings.Join(provider.VersionConstraints,
			", ")})
	}
	return list, nil
}

// Sensitive returns the names of the variables that are declared to be sensitive.
func Sensitive(dir string) (map[string]bool, error) {
	loaded, err := load(dir)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for name, variable := range loaded.Variables {
		if variable.Sensitive {
			names[name] = true
		}
	}
	return names, nil
}

func load(dir string) (*tfconfig.Module, error) {
	loaded, found := tfconfig.LoadModule(dir)
	if found.HasErrors() {
		return nil, fmt.Errorf("read the configuration: %w", placed(dir, found))
	}
	return loaded, nil
}

// placed is the first mistake of a configuration with its file and line.
func placed(dir string, found tfconfig.Diagnostics) error {
	for _, one := range found {
		if one.Severity != tfconfig.DiagError || one.Pos == nil {
			continue
		}
		name, err := filepath.Rel(dir, one.Pos.Filename)
		if err != nil {
			name = one.Pos.Filename
		}
		return fmt.Errorf("%s:%d: %s: %s", name, one.Pos.Line, one.Summary, one.Detail)
	}
	return found
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
