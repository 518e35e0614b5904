// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcd runs one etcd member inside this process, on disk, for one kube-apiserver.
//
// Writes are synced to disk before they are answered, so data survives a kill at any moment. The member listens on
// 127.0.0.1 only and serves no one without a client certificate of an authority made for it: other users of the machine
// cannot read the cluster's secrets.
package etcd
