// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

// DeployTarget is the configuration of one cluster in the piped configuration.
type DeployTarget struct {
	// MasterURL replaces the server address of the kubeconfig.
	MasterURL string `json:"masterURL"`
	// KubeConfigPath empty means: KUBECONFIG, ~/.kube/config, or the pod's own service account, in this order.
	KubeConfigPath string `json:"kubeConfigPath"`
	// KubeContext empty means the current context of the kubeconfig.
	KubeContext string `json:"kubeContext"`
}
