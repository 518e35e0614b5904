// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "embed"

// PluginProtos are the .proto files between piped and its plugins, with those of ours that they import. Paths are below
// this folder, so that "api/" before them gives the name by which a file is imported.
//
//go:embed model/*.proto plugin/*/*.proto
var PluginProtos embed.FS
