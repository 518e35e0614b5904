// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/system/inputfile"
)

// maxKubeconfig bounds what is read of a kubeconfig, in bytes.
const maxKubeconfig = 4 << 20

// maxKubeconfigs bounds the files that KUBECONFIG names.
const maxKubeconfigs = 20

// kubeconfig is the part of such a file that lists contexts. Package kubeapi reads the rest; here the library of
// Kubernetes would make each completion slow.
type kubeconfig struct {
	Contexts []struct {
		Name    string `yaml:"name"`
		Context struct {
			Cluster string `yaml:"cluster"`
		} `yaml:"context"`
	} `yaml:"contexts"`
}

// contexts offers the contexts of the kubeconfig that --kubeconfig names, or of those that kubectl uses.
func contexts(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	found := &offers{}
	seen := map[string]bool{}
	for _, file := range kubeconfigs(cmd) {
		for _, c := range readKubeconfig(ctx, file).Contexts {
			if !seen[c.Name] { // the first file counts, as for kubectl
				seen[c.Name] = true
				found.add(c.Name, "cluster %s", c.Context.Cluster)
			}
		}
	}
	return found.list, cobra.ShellCompDirectiveNoFileComp
}

// kubeconfigs returns the files in the order in which they count.
func kubeconfigs(cmd *cobra.Command) []string {
	if flag := cmd.Flags().Lookup("kubeconfig"); flag != nil && flag.Value.String() != "" {
		return []string{flag.Value.String()}
	}
	home, _ := os.UserHomeDir() // without one, the file is not found
	list := filepath.SplitList(cmp.Or(os.Getenv("KUBECONFIG"), filepath.Join(home, ".kube", "config")))
	return list[:min(len(list), maxKubeconfigs)]
}

// readKubeconfig returns what can be read of a file.
func readKubeconfig(ctx context.Context, file string) (read kubeconfig) {
	content, err := inputfile.Read(ctx, file, maxKubeconfig)
	if err != nil || yaml.Unmarshal(content, &read) != nil {
		return kubeconfig{}
	}
	return read
}
