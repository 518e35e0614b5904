// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package inventory finds and deletes the resources of an application by the labels that were put on them, and by what
// Git says was applied.
//
// List asks for every kind that the cluster can list, Lookup for what Git had; both only for metadata. A resource is
// touched only when it has no owner and its annotations say that piped manages it for the application: controllers copy
// labels to the objects that they create. A kind that may not be listed is left out and named, since nothing can be
// said about it; deleting less is safe. Deletable separates what must be kept: what an annotation excludes, and what
// other objects would go with.
package inventory
