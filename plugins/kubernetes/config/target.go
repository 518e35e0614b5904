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
	// MasterURL replaces the server address of the kubeconfig.
	MasterURL string `json:"masterURL"`
	// KubeConfigPath empty means: KUBECONFIG, ~/.kube/config, or the pod's own service account, in this order.
	KubeConfigPath string `json:"kubeConfigPath"`
	// KubeContext empty means the current context of the kubeconfig.
	KubeContext string `json:"kubeContext"`
	// ConnectTimeout is how long a stage waits for the API of the cluster to answer. Zero: 10 minutes. (Not in PipeCD v1.)
	ConnectTimeout sdk.Duration `json:"connectTimeout"`
	// ImageBuilder builds images from the sources of applications; its zero value means none. (Not in PipeCD v1.)
	ImageBuilder ImageBuilder `json:"imageBuilder"`
	// AllowedChartAddresses are added to those of the plugin's configuration. (Not in PipeCD v1.)
	AllowedChartAddresses []string `json:"allowedChartAddresses"`
}

// ImageBuilder is a server of the image API.
type ImageBuilder struct {
	// Address is its host:port. It is on this machine, since it is told paths and sent a key.
	Address string `json:"address"`
	// APIKeyFile holds the key; it is read anew for each call.
	APIKeyFile string `json:"apiKeyFile"`
}

// IsZero tells whether there is none.
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
		errs = append(errs, fmt.Errorf("imageBuilder.address: %s is not on this machine; an image builder gets paths of this machine and a key, so use 127.0.0.1", b.Address))
	}
	if b.APIKeyFile == "" {
		errs = append(errs, errors.New("imageBuilder.apiKeyFile: must be given with imageBuilder.address"))
	}
	return errors.Join(errs...)
}
