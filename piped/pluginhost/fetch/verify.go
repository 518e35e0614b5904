// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Verify checks that the file is what the configuration of the plugin wants. The error is an [Error].
func Verify(plugin config.Plugin, path string) error {
	if plugin.SHA256 == "" {
		return nil
	}
	found, err := Digest(path)
	if err != nil {
		return &Error{Plugin: plugin.Name, URL: Redact(plugin.URL), Err: fmt.Errorf("read its binary: %w", err), Step: "make it readable"}
	}
	if found != plugin.SHA256 {
		return newError(plugin.Name, plugin.URL, mismatch(found, plugin.SHA256))
	}
	return nil
}
