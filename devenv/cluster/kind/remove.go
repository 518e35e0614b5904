// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"

	kindcluster "sigs.k8s.io/kind/pkg/cluster"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// remove removes what a record names from the engine and from the user's kubeconfig.
func remove(ctx context.Context, known *record) error {
	engine := &engineCommand{known.Engine}
	if err := engine.answers(ctx); err != nil {
		var silent *cluster.HintError
		if errors.As(err, &silent) {
			silent.Hint = "start the container engine, then run pipedeck down"
		}
		return err
	}
	if err := engine.removeNodes(ctx, known.Cluster); err != nil {
		return err
	}
	if known.ExportedTo != "" {
		if err := withdraw(engine, known); err != nil {
			return err
		}
	}
	return engine.leaveNetwork(ctx, known)
}

// withdraw takes the context out of the user's kubeconfig.
func withdraw(engine *engineCommand, known *record) error {
	if _, err := os.Stat(known.ExportedTo); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	library := kindcluster.NewProvider(engine.option())
	if err := library.Delete(known.Cluster, known.ExportedTo); err != nil {
		return &cluster.HintError{
			Err:  fmt.Errorf("take the context %s out of %s: %w", contextName(known.Cluster), known.ExportedTo, err),
			Hint: "mend the file, then run pipedeck down",
		}
	}
	return nil
}

// forget drops the record of a cluster that is not ours.
func forget(dir string) error {
	if err := os.Remove(recordFile(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the cluster's record: %w", err)
	}
	return nil
}
