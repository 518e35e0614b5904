// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package checkout reads the files of a repository that is checked out in a directory.
//
// It guarantees that nothing outside of the directory is read, whatever symbolic links say; that a file has a bound in
// size, and so have all together; and it remembers what it has read, so that another checkout can be asked whether it
// would give the same.
//
// The loaders of manifests and of charts call it. Its errors name paths as they stand in the repository.
package checkout
