// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/pipedeck/pipedeck/system/processtree"
)

// endEarlier ends what an earlier process has left in the host's tree, before a plugin starts, and prepares the tree.
func (h *Host) endEarlier(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, processtree.EndTimeout)
	defer cancel()
	ended, err := h.tree.End(ctx)
	h.noteEnded(ended, err)
	if err == nil {
		h.tree.RemoveGroups()
	}
	if err := h.tree.CreateGroup(""); err != nil {
		h.options.Logger.Debug(
			"plugin processes get no control group; their descendants are found by environment and parents", "reason",
			err,
		)
	}
}

func (h *Host) noteEnded(ended []processtree.Process, err error) {
	if len(ended) > 0 {
		h.options.Logger.Warn("ended processes that an earlier piped had left", "processes", processtree.Names(ended))
	}
	if err != nil {
		h.options.Logger.Error("an earlier piped has left processes that do not end", "error", err)
	}
}

// remains are what ended processes of a plugin have started and could not be ended with them.
type remains struct {
	plugin string
	// outer is the tree of all plugins.
	outer  *processtree.Tree
	logger *slog.Logger

	mu    sync.Mutex
	trees []*processtree.Tree
}

// newTree is the tree of one process, with a control group if that is wanted and there are such groups.
func (r *remains) newTree(group bool) *processtree.Tree {
	tree := r.outer.Child()
	if outer := r.outer.Group(); outer != "" && group {
		_ = tree.CreateGroup(outer)
	}
	return tree
}

// note remembers what an ended process has left.
func (r *remains) note(proc *process) {
	if proc.ending.left == nil {
		return
	}
	r.logger.Error(
		"a plugin process has left processes that do not end", "pid", proc.pid(), "error",
		proc.ending.left,
	)
	r.add(proc.tree)
}

func (r *remains) add(tree *processtree.Tree) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trees = append(r.trees, tree)
}

func (r *remains) take() []*processtree.Tree {
	r.mu.Lock()
	defer r.mu.Unlock()
	trees := r.trees
	r.trees = nil
	return trees
}

// end ends what earlier processes of the plugin have left. The plugin is not started while something is left: a stage
// would run twice at the same time.
func (r *remains) end() error {
	var errs []error
	for _, tree := range r.take() {
		ctx, cancel := context.WithTimeout(context.Background(), processtree.EndTimeout)
		_, err := tree.End(ctx)
		cancel()
		if err == nil {
			tree.RemoveGroups()
			continue
		}
		errs = append(errs, err)
		r.add(tree)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("plugin %q is not started while processes of its last run are left: %w", r.plugin, err)
	}
	return nil
}
