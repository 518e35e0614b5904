// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
)

// listFiles returns the manifest files relative to req.Dir.
func listFiles(tree *checkout.Tree, req Request) ([]string, error) {
	if len(req.Files) == 0 {
		return listFolder(tree, req, ".")
	}
	var files []string
	for _, name := range req.Files {
		if filepath.IsAbs(name) {
			return nil, fmt.Errorf("input.manifests: %s is not relative to the application's directory", name)
		}
		path := filepath.Join(req.Dir, name)
		if _, err := tree.Resolve(path); err != nil {
			return nil, fmt.Errorf("input.manifests: %w", outside(err, name))
		}
		switch tree.Kind(path) {
		case checkout.Missing:
			return nil, fmt.Errorf("input.manifests: %s does not exist in the application's directory", name)
		case checkout.Folder:
			found, err := listFolder(tree, req, filepath.Clean(name))
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		default:
			files = append(files, filepath.Clean(name))
		}
	}
	return files, nil
}

func listFolder(tree *checkout.Tree, req Request, folder string) ([]string, error) {
	entries, err := tree.List(filepath.Join(req.Dir, folder))
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) ||
			isConfig(name, req.ConfigFile) {
			continue
		}
		file := filepath.Join(folder, name)
		if _, err := tree.Resolve(filepath.Join(req.Dir, file)); err != nil {
			return nil, outside(err, file)
		}
		files = append(files, file)
	}
	return files, nil
}

// outside names a path that leaves the repository as it is written.
func outside(err error, name string) error {
	var left *checkout.OutsideError
	if errors.As(err, &left) {
		return fmt.Errorf("%s leads outside of the repository", name)
	}
	return err
}

// isConfig reports whether a file configures PipeCD rather than Kubernetes.
func isConfig(name, configFile string) bool {
	return name == configFile || strings.HasSuffix(name, ".pipecd.yaml") || name == ".pipe.yaml" ||
		slices.Contains(kustomizationFiles, name)
}
