// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trim

import "github.com/pipedeck/pipedeck/devenv/gobuild"

// Flags returns flags of `go build` for the embedded Kubernetes, to append to those of all programs. The packages that
// no other program has are compiled without inlining. That takes a fifth less time, and the program is as fast within
// what can be measured: docs/decisions/0033 has the figures.
func Flags() []string {
	return gobuild.WithoutInlining(
		"k8s.io/apiextensions-apiserver/pkg/apiserver", "k8s.io/apiextensions-apiserver/pkg/controller",
		"k8s.io/apiextensions-apiserver/pkg/registry", "k8s.io/apiserver", "k8s.io/cloud-provider",
		"k8s.io/component-base", "k8s.io/component-helpers", "k8s.io/controller-manager",
		"k8s.io/dynamic-resource-allocation", "k8s.io/endpointslice", "k8s.io/kube-aggregator", "k8s.io/kubelet",
		"k8s.io/kubernetes", "k8s.io/metrics", "k8s.io/pod-security-admission", "go.etcd.io",
	)
}
