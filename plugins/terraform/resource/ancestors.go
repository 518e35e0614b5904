// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resource

import "strings"

// Ancestors returns the addresses of a module and of the modules around it, the outermost first. address is that of a
// module, such as module.net["a.b"].module.sub; empty is the root, which has none.
func Ancestors(address string) []string {
	var list []string
	quoted := false
	for i := 0; i < len(address); i++ {
		switch {
		case quoted && address[i] == '\\':
			i++ // A key may hold an escaped quote.
		case address[i] == '"':
			quoted = !quoted
		case !quoted && i > 0 && strings.HasPrefix(address[i:], ".module."):
			list = append(list, address[:i])
		}
	}
	if address != "" {
		list = append(list, address)
	}
	return list
}
