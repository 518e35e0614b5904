// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package pluginsource builds a plugin from its directory, and again whenever a file that it is made of changes. The
// directory is that of a Go package; or its piped-plugin.yaml has a recipe: how the plugin, in any language, is built
// and run there, and what it is made of. Then the program is a script that runs the plugin in its directory.
//
// It guarantees that the program is replaced whole, by a rename, and only by one that compiled: an error leaves
// the last program where it is and is reported with the compiler's lines. The agent sees the new program by itself
// and starts it next to the running one. A change during a build begins the build again.
//
// The environment runs one Source for each plugin that is given as a directory.
package pluginsource
