// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package variant makes the manifests of an application's variants out of those in Git: the primary, which is what Git
// says, the canary, a small copy of the workloads next to it, and the baseline, a copy of what ran before; and the
// objects that share traffic between them.
//
// Its functions never change what they are given and talk to no cluster. They fail when the manifests cannot carry the
// variant, naming the manifest's place.
package variant
