// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package phase arranges the manifests of a deployment: the moments at which they are applied, and the waves of one
// moment.
//
// A moment is before, during or after the rollout, after its failure, or a stage for tests. Objects are applied during
// the rollout; the hook annotations of Helm and Argo CD choose other moments. Within a moment, numbered waves follow
// each other, and a wave begins when the one before has ended. Annotations of pipecd.dev win over those of Argo CD, and
// those over Helm's.
//
// Everything here is pure. The stages execute what it says; plan previews show it.
package phase
