// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
)

// contextName is what kind calls the context of a cluster.
func contextName(name string) string { return "kind-" + name }

// userKubeconfig is the file that kubectl would write.
func userKubeconfig() string {
	return clientcmd.NewDefaultClientConfigLoadingRules().GetDefaultFilename()
}

// checkExport finds a kubeconfig that cannot be used before anything is made.
func (p *Provider) checkExport() error {
	if !p.Export {
		return nil
	}
	path := userKubeconfig()
	if _, err := clientcmd.LoadFromFile(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return &cluster.HintError{
			Err:  fmt.Errorf("read your kubeconfig %s: %w", path, err),
			Hint: "fix the file, or leave --export-kubeconfig out",
		}
	}
	return nil
}

// export adds the context to the user's kubeconfig; the record says so before.
func (p *Provider) export(library *kindcluster.Provider, made *record.Record) error {
	if !p.Export {
		return nil
	}
	made.ExportedTo = userKubeconfig()
	// kind makes its context the current one, and leaves none when it takes that out again.
	if before := currentContext(made.ExportedTo); before != contextName(p.name) {
		made.ContextBefore = before
	}
	if err := made.Write(p.Dir); err != nil {
		return err
	}
	if err := library.ExportKubeConfig(p.name, made.ExportedTo, false); err != nil {
		return &cluster.HintError{
			Err:  fmt.Errorf("add the context %s to %s: %w", contextName(p.name), made.ExportedTo, err),
			Hint: "fix the file, or leave --export-kubeconfig out",
		}
	}
	return nil
}

// currentContext is empty when the file has none or cannot be read.
func currentContext(path string) string {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return ""
	}
	return config.CurrentContext
}

// restoreContext makes a context current again where none is; one that has gone stays away.
func restoreContext(path, name string) error {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return err
	}
	if _, known := config.Contexts[name]; !known || config.CurrentContext != "" {
		return nil
	}
	config.CurrentContext = name
	options := clientcmd.NewDefaultPathOptions()
	options.LoadingRules.ExplicitPath = path
	return clientcmd.ModifyConfig(options, *config, false)
}
