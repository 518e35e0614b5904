// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/system/processtree"
)

// podProcesses are the processes of pods, with all that these have started. The server ends them with itself; what a
// killed one has left is ended here.
type podProcesses struct {
	tree   *processtree.Tree // nil: every pod is simulated
	dir    string            // of the cluster's data
	logger *slog.Logger
}

func (p *Provider) podProcesses() (podProcesses, error) {
	if p.programs == nil {
		return podProcesses{}, nil
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return podProcesses{}, fmt.Errorf("make the directory of the embedded Kubernetes: %w", err)
	}
	tree, err := processtree.Keep(filepath.Join(p.dir, processtree.FileName))
	return podProcesses{tree, p.dir, p.logger}, err
}

// environment makes the server and its pods members of the tree.
func (p podProcesses) environment() []string {
	if p.tree == nil {
		return nil
	}
	return []string{p.tree.Environment()}
}

// end ends what is left. The server does not run.
func (p podProcesses) end(ctx context.Context) {
	if p.tree == nil {
		return
	}
	inTime, cancel := context.WithTimeout(ctx, processtree.EndTimeout)
	defer cancel()
	ended, err := p.tree.End(inTime)
	more, moreErr := EndPods(ctx, p.dir)
	ended, err = append(ended, more...), errors.Join(err, moreErr)
	if len(ended) > 0 || err != nil {
		p.logger.Warn("ended what pods of the embedded Kubernetes had left", "processes", processtree.Names(ended),
			"error", err)
	}
}
