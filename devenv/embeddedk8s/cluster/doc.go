// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster puts the parts together: etcd, kube-apiserver, controllers and the simulated kubelet, on one data
// directory.
//
// Everything that lasts is in that directory: certificates, etcd's data and the port; a kill at any moment loses
// nothing that was answered. One process at a time may use it, which a lock on a file in it ensures (ErrInUse). All
// listeners are on 127.0.0.1.
package cluster
