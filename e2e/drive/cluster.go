// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// StartCluster runs a cluster and returns once its API answers. stop ends the cluster and returns how it ended; the
// caller calls it. The end of ctx ends the cluster, too. The error is that of a cluster that did not start.
func StartCluster(ctx context.Context, provider cluster.Provider) (stop func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- provider.Run(ctx, func(string, int64, int64) {}, func(string) {
			select {
			case ready <- struct{}{}:
			default: // it was started again
			}
		})
	}()
	select {
	case err := <-ended:
		cancel()
		return nil, fmt.Errorf("start Kubernetes: %w", err)
	case <-ready:
	}
	return func() error { cancel(); return <-ended }, nil
}
