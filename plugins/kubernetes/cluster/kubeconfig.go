// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

// missingError is a kubeconfig that is not there (yet).
type missingError struct{ path string }

func (e *missingError) Error() string { return "there is no kubeconfig at " + e.path }

// fingerprint identifies everything that a client is made from.
type fingerprint [sha256.Size]byte

// readKubeconfig returns the kubeconfig's fingerprint. A deploy target without a path uses what kubectl would use.
func readKubeconfig(target config.DeployTarget) (fingerprint, error) {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(target); err != nil {
		return fingerprint{}, err
	}
	paths := []string{target.KubeConfigPath}
	if target.KubeConfigPath == "" {
		paths = clientcmd.NewDefaultClientConfigLoadingRules().Precedence
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && target.KubeConfigPath != "":
			return fingerprint{}, &missingError{path: path}
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return fingerprint{}, fmt.Errorf("read kubeconfig: %w", err)
		case len(data) == 0 && target.KubeConfigPath != "":
			return fingerprint{}, &missingError{path: path} // being written
		}
		fmt.Fprintf(sum, "%s %d\n", path, len(data))
		sum.Write(data)
	}
	return fingerprint(sum.Sum(nil)), nil
}

// loadKubeconfig turns a deploy target into a connection and the namespace it uses by default.
func loadKubeconfig(target config.DeployTarget) (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = target.KubeConfigPath
	overrides := &clientcmd.ConfigOverrides{CurrentContext: target.KubeContext}
	overrides.ClusterInfo.Server = target.MasterURL
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	cfg, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", fmt.Errorf("no cluster is configured: set kubeConfigPath of the deploy target in the "+
			"piped configuration, or KUBECONFIG: %w", err)
	}
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig %s: %w", target.KubeConfigPath, err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig %s: namespace: %w", target.KubeConfigPath, err)
	}
	return cfg, namespace, nil
}
