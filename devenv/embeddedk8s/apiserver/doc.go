// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiserver runs the real kube-apiserver inside this process, set up to start fast on one machine.
//
// What differs from a stock server: it listens on 127.0.0.1 only, has no Node authorizer, no priority and fairness and
// no endpoint reconciler (with 127.0.0.1 as its address the Endpoints of the "kubernetes" Service would be invalid),
// and the bootstrap roles and priority classes are written after the server is ready instead of before, because the
// stock hooks wait a second before their first try. The administrator's certificate needs none of them.
//
// kube-apiserver keeps package-level state (feature gates, schemes, metrics), so a process can run one server, once.
package apiserver
