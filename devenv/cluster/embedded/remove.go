// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// Delete removes the data, the kubeconfig, and the control groups that a killed server has left.
func (p *Provider) Delete(ctx context.Context) error {
	_, _ = EndPods(ctx, p.dir) // what cannot be ended holds nothing of what is deleted
	err := workspace.RemoveCluster(p.dir)
	if removeErr := os.Remove(p.kubeconfig); !errors.Is(removeErr, os.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	if err != nil {
		return fmt.Errorf("remove the embedded cluster in %s: %w", filepath.Clean(p.dir), err)
	}
	return nil
}
