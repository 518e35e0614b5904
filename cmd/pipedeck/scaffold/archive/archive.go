// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive holds the archive of the SDK's sources, which a build writes (see tools/sdkarchive). Only the program
// that runs `plugin new` imports it, so that no other one carries the archive.
package archive

import (
	"embed"
	"errors"
	"io/fs"
)

// files always has about.txt, so that the package compiles without the archive, too.
//
//go:embed files
var files embed.FS

// SDK returns the archive, a compressed tar; nil in a program that was built without it.
func SDK() ([]byte, error) {
	data, err := files.ReadFile("files/sdk.tar.gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
