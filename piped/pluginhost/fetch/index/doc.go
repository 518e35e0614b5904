// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package index reads plugin indexes: static files that say under which URL the binary of a plugin is, for each version
// and platform, and which digest it has.
//
// It guarantees that what it returns has a digest, so that an index pins the binaries whose names it gives, and that
// the newest version never is a preliminary one. It reads no file and asks no server: piped/pluginhost/fetch does,
// which calls it. Errors are of type [Error] and name what there is in place of what was asked for.
package index
