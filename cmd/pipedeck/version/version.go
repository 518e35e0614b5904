// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package version knows the version of this build.
package version

import "runtime/debug"

// linked is the version that the linker sets: -X github.com/pipedeck/pipedeck/cmd/pipedeck/version.linked=VERSION.
var linked = ""

// Build returns the version of the linker, else that of the module system, else "development".
func Build() string {
	if linked != "" {
		return linked
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
