// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package existing

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Delete removes the copy of the kubeconfig. The cluster and what runs in it are the user's.
func (p *Provider) Delete(context.Context) error { return remove(p.kubeconfig) }

// remove deletes what write made.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the copy of the kubeconfig: %w", err)
	}
	return nil
}
