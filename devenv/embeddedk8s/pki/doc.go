// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki makes and keeps the certificates and keys of one cluster: an authority for the Kubernetes API, a second
// one for etcd (so that a Kubernetes client certificate opens no door to etcd), and the service account signing key.
//
// Everything is made once, in a directory that only its owner can read (0700, files 0600), and replaced as a whole when
// a piece is missing, unreadable or close to its end. A kill at any moment leaves either the old complete set or the
// new complete set.
package pki
