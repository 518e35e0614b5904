// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package connlimit bounds what callers can occupy before a server trusts them: how many connections, for how long, and
// how much is read from them. The server decides what earns trust, such as a valid key or the first word.
//
// A trusted connection is never closed to make room. The control plane of an environment and the plugin service of
// piped listen through it.
package connlimit
