// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginflag

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// Parse reads a --plugin flag: NAME=PATH or NAME=URL. A directory is that of the sources of a plugin.
func Parse(given string) (workspace.Plugin, error) {
	hint := "give NAME=PATH or NAME=URL, for example --plugin wait=./bin/wait"
	name, place, ok := strings.Cut(given, "=")
	if !ok || name == "" || place == "" {
		return workspace.Plugin{}, exit.Usage(fmt.Errorf("--plugin %q is not NAME=PATH", given), hint)
	}
	if u, err := url.Parse(place); err == nil && slices.Contains([]string{"file", "https", "oci"}, u.Scheme) {
		return workspace.Plugin{Name: name, URL: place}, nil
	}
	path, err := filepath.Abs(place)
	if err != nil {
		return workspace.Plugin{}, exit.Usage(err, hint)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return workspace.Plugin{Name: name, Source: path}, nil
	}
	return workspace.Plugin{Name: name, URL: "file://" + path}, nil
}
