// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package existing is the cluster provider for a cluster that is the user's own: a context of
// their kubeconfig.
//
// A context that does not look like a cluster for development is refused before anything starts,
// unless the user insists. The user's kubeconfig is only read; Delete removes the copy that Run
// made of one context, and nothing in the cluster. An API server that goes away does not end the
// environment: the provider reports it and waits until the server is back.
package existing
