// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package existing

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// maxNamed bounds how many contexts a message lists.
const maxNamed = 8

// Context is one context of a kubeconfig.
type Context struct {
	// Name is the context's.
	Name string
	// Server is the URL of the API server.
	Server string
	// file is the kubeconfig that the user named, or "".
	file string
	// config has this context only, and no relative path.
	config *clientcmdapi.Config
}

// Find returns the named context, or the current one, of the kubeconfig in the file, or of those
// that kubectl would use. Each error is the user's to fix: a *cluster.HintError.
func Find(file, name string) (*Context, error) {
	config, err := load(file)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = config.CurrentContext
	}
	if name == "" {
		return nil, &cluster.HintError{Err: errors.New("the kubeconfig has no current context"),
			Hint: "choose one with --context: " + contextNames(config)}
	}
	if config.Contexts[name] == nil {
		return nil, &cluster.HintError{Err: fmt.Errorf("the kubeconfig has no context %q", name),
			Hint: "choose one with --context: " + contextNames(config)}
	}
	config.CurrentContext = name
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return nil, &cluster.HintError{Err: fmt.Errorf("context %q: %w", name, err),
			Hint: "see it with: kubectl config view"}
	}
	target := config.Clusters[config.Contexts[name].Cluster]
	if target == nil || target.Server == "" {
		return nil, &cluster.HintError{Err: fmt.Errorf("context %q names no API server", name),
			Hint: "see it with: kubectl config view"}
	}
	return &Context{Name: name, Server: target.Server, file: file, config: config}, nil
}

// readAll reads the files of the rules. One that is not a regular file would be waited for without an end.
func readAll(rules *clientcmd.ClientConfigLoadingRules) (*clientcmdapi.Config, error) {
	for _, name := range rules.GetLoadingPrecedence() {
		file, err := inputfile.Open(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		_ = file.Close()
	}
	return rules.Load()
}

// load reads kubeconfig files by kubectl's rules; paths in them become absolute.
func load(file string) (*clientcmdapi.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	rules.WarnIfAllMissing = false
	config, err := readAll(rules)
	switch {
	case err != nil && file != "":
		return nil, &cluster.HintError{Err: fmt.Errorf("read the kubeconfig: %w", err),
			Hint: "give a file that you can read with --kubeconfig"}
	case err != nil:
		return nil, &cluster.HintError{Err: fmt.Errorf("read the kubeconfig: %w", err),
			Hint: "see what kubectl finds with: kubectl config view; or give a file with --kubeconfig"}
	case len(config.Contexts) == 0:
		where := file
		if where == "" {
			where = strings.Join(rules.Precedence, ", ")
		}
		return nil, &cluster.HintError{Err: fmt.Errorf("there is no context in the kubeconfig (%s)", where),
			Hint: "give another file with --kubeconfig, or use --cluster auto"}
	}
	return config, nil
}

// contextNames lists a few contexts, those that look like development first.
func contextNames(config *clientcmdapi.Config) string {
	names := slices.SortedFunc(maps.Keys(config.Contexts), func(a, b string) int {
		if known := knownName(b) != ""; known != (knownName(a) != "") {
			if known {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// write makes a kubeconfig of this context alone, which needs no other file but the programs that
// fetch credentials.
func (c *Context) write(path string) error {
	config := c.config.DeepCopy()
	dropShadowed(config)
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return &cluster.HintError{Err: fmt.Errorf("read the credentials of context %q: %w", c.Name, err),
			Hint: "log in to the cluster again, or correct the path in the kubeconfig"}
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("write the kubeconfig of context %q: %w", c.Name, err)
	}
	if err := workspace.WriteFile(path, data); err != nil {
		return fmt.Errorf("write the kubeconfig of context %q: %w", c.Name, err)
	}
	return nil
}

// dropShadowed removes paths whose content is given, too: the content counts, for kubectl as well.
func dropShadowed(config *clientcmdapi.Config) {
	for _, user := range config.AuthInfos {
		if len(user.ClientCertificateData) > 0 {
			user.ClientCertificate = ""
		}
		if len(user.ClientKeyData) > 0 {
			user.ClientKey = ""
		}
	}
	for _, c := range config.Clusters {
		if len(c.CertificateAuthorityData) > 0 {
			c.CertificateAuthority = ""
		}
	}
}
