// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package recording writes down the gRPC calls between piped and a plugin, reads them again, and plays piped's part of
// them to another program.
//
// A Proxy stands between the two and passes every call on as it is; a Writer keeps the calls in a file, one JSON object
// a line, bounded in size and with texts masked. Read gives them in their order. Replay calls a plugin as recorded and
// reports what it does otherwise.
//
// A file is not trusted: it may come from anyone. What is recorded never changes what the plugin or piped sees.
package recording
