// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"cmp"
	"runtime/debug"
)

// version is set by the linker for the bundled plugins: -X github.com/pipedeck/pipedeck/plugins/sdk.version=VERSION.
var version = ""

// WithVersion returns the plugin with the author's version of it, which "PROGRAM version" and "PROGRAM -version" print,
// the log of the process has, and piped shows with the plugin and with each stage that it executes. It is any text,
// such as one that the linker sets.
func (p Plugin) WithVersion(version string) Plugin {
	p.version = version
	return p
}

// Version is that of WithVersion, else that of the linker, else that of the plugin's module, which Go knows of programs
// that were installed with a version; "development" without any.
func (p Plugin) Version() string { return cmp.Or(p.known(), "development") }

// known is Version without a word for none.
func (p Plugin) known() string {
	built := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		built = info.Main.Version
	}
	return cmp.Or(p.version, version, built)
}
