// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// copyWithin returns the arguments of a command that `kubectl cp` runs with absolute paths below root, so that they
// mean the pod's directory and not this machine's. Any other command stays as it is: a user who names an absolute path
// means this machine's.
func copyWithin(root string, args []string) []string {
	if len(args) == 0 || root == "" {
		return args
	}
	rest := slices.DeleteFunc(slices.Clone(args[1:]), func(arg string) bool {
		return arg == "--no-same-permissions" || arg == "--no-same-owner"
	})
	last := ""
	if len(rest) > 0 {
		last = rest[len(rest)-1]
	}
	if !filepath.IsAbs(last) {
		return args
	}
	switch name := filepath.Base(args[0]); {
	case name == "test" && len(rest) == 2 && rest[0] == "-d",
		name == "tar" && len(rest) == 4 && rest[0] == "-xmf" && rest[1] == "-" && rest[2] == "-C":
		return append(slices.Clone(args[:len(args)-1]), filepath.Join(root, last))
	case name == "tar" && len(rest) == 3 && rest[0] == "cf" && rest[1] == "-":
		// The names in the archive are those that kubectl expects: without the leading slash, and without root.
		relative := cmp.Or(strings.TrimPrefix(filepath.Clean(last), "/"), ".")
		return append(slices.Clone(args[:len(args)-1]), "-C", root, relative)
	}
	return args
}
