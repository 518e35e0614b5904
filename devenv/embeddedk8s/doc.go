// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Embeddedk8s is a Kubernetes cluster in one process, without containers: a real kube-apiserver on an embedded etcd,
// the real controllers, and a simulated kubelet whose pods run no process. It starts in about a second.
//
// It is a separate program and Go module, because k8s.io/kubernetes needs replace directives, which would stop the
// product from being installed with "go install", and takes minutes to compile, which must not stand before every
// build. The product compiles it on first use, starts it as a child process, follows its progress on standard output
// and reaches it through the kubeconfig. See README.md for flags, events and what is simulated.
package main
