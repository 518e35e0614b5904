// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"net"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// DeployTarget is the configuration of one cluster in the piped configuration.
type DeployTarget struct {
	// MasterURL replaces the address of the API server in the kubeconfig.
	MasterURL string `json:"masterURL"`
	// KubeConfigPath is the kubeconfig. Default: KUBECONFIG, ~/.kube/config, or the pod's own service account, in this
	// order.
	KubeConfigPath string `json:"kubeConfigPath"`
	// KubeContext is the context in the kubeconfig. Default: the current one.
	KubeContext string `json:"kubeContext"`
	// ConnectTimeout is how long a stage waits for the API of the cluster to answer. Default 10m. PipeCD does not read
	// it.
	ConnectTimeout sdk.Duration `json:"connectTimeout" jsonschema:"exclusiveMinimum=0,default=10m"`
	// ImageBuilder builds images from the sources of applications. PipeCD does not read it.
	ImageBuilder ImageBuilder `json:"imageBuilder"`
	// AllowedChartAddresses are added to those of the plugin's configuration. PipeCD does not read it.
	AllowedChartAddresses []string `json:"allowedChartAddresses"`
	// OfflineCharts renders the charts of all applications without this cluster; see input.helmOptions.offline. Default
	// false. PipeCD does not read it.
	OfflineCharts bool `json:"offlineCharts"`
	// AppStateInformer says which objects live state and drift detection look at.
	AppStateInformer AppStateInformer `json:"appStateInformer"`
	// KubectlVersion is the version of kubectl for PipeCD's plugin. This plugin does not run kubectl.
	KubectlVersion string `json:"kubectlVersion"`
}

// ImageBuilder is a server of the image API.
type ImageBuilder struct {
	// Address is the host:port of the builder. It is on this machine, because the builder gets paths and a key.
	Address string `json:"address"`
	// APIKeyFile is the file with the builder's key. Each call reads it again.
	APIKeyFile string `json:"apiKeyFile"`
}

// IsZero reports whether there is none.
func (b ImageBuilder) IsZero() bool { return b == ImageBuilder{} }

// Validate reports every setting that cannot work.
func (t *DeployTarget) Validate() error {
	var errs []error
	if t.ConnectTimeout < 0 {
		errs = append(errs, errors.New("connectTimeout: must not be negative"))
	}
	errs = append(errs, checkAllowed(t.AllowedChartAddresses))
	b := t.ImageBuilder
	if b.IsZero() {
		return errors.Join(errs...)
	}
	host, _, err := net.SplitHostPort(b.Address)
	switch ip := net.ParseIP(host); {
	case err != nil:
		errs = append(errs, fmt.Errorf("imageBuilder.address: %q is not host:port", b.Address))
	case host != "localhost" && (ip == nil || !ip.IsLoopback()):
		errs = append(errs, fmt.Errorf("imageBuilder.address: %s is not on this machine; an image builder gets "+
			"paths of this machine and a key, so use 127.0.0.1", b.Address))
	}
	if b.APIKeyFile == "" {
		errs = append(errs, errors.New("imageBuilder.apiKeyFile: must be given with imageBuilder.address"))
	}
	return errors.Join(errs...)
}
