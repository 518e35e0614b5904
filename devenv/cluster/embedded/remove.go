// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// podsGroup begins the name of the control group of a cluster's pods, and podsNote is the file of the cluster's data
// that holds its directory while the cluster runs, and when it was killed (package containers of the embedded
// Kubernetes).
const (
	podsGroup = "pipedeck-pods-"
	podsNote  = "pods/cgroup"
)

// Delete removes the data, the kubeconfig, and the control group that a killed server has left.
func (p *Provider) Delete(context.Context) error {
	RemovePodsGroup(p.dir)
	err := workspace.RemoveCluster(p.dir)
	if removeErr := os.Remove(p.kubeconfig); !errors.Is(removeErr, os.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	if err != nil {
		return fmt.Errorf("remove the embedded cluster in %s: %w", filepath.Clean(p.dir), err)
	}
	return nil
}

// RemovePodsGroup removes the control group of pods that is named in the cluster's data in dir, and those in it. Only
// empty ones can be removed; the system removes what is left when it restarts.
func RemovePodsGroup(dir string) {
	content, err := os.ReadFile(filepath.Join(dir, podsNote))
	group := string(content)
	if err != nil || !filepath.IsAbs(group) || !strings.HasPrefix(filepath.Base(group), podsGroup) {
		return
	}
	var groups []string
	_ = filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			groups = append(groups, path)
		}
		return nil
	})
	for _, each := range slices.Backward(groups) {
		_ = syscall.Rmdir(each)
	}
}
