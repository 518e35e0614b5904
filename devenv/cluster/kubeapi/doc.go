// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubeapi asks clusters whose kubeconfig pipedeck or kind has written: the address of the API server, its
// certificate authority, and the certificate of a client. It speaks JSON and knows no kinds of objects.
//
// It stands in for client-go in the program that is compiled before the UI appears: client-go and apimachinery are 4 MB
// of source, and what is asked is a node, a namespace and the health. What needs more of a kubeconfig, such as the
// user's own with its plugins for credentials, or more of the API, such as forwarding ports, is the helper's.
package kubeapi
