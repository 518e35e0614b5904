// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"

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
		h.options.Logger.Debug("plugin processes get no control group; their descendants are found by environment and parents", "reason", err)
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

// newTree is the tree of one process.
func (p *Plugin) newTree() *processtree.Tree {
	tree := p.tree.Child()
	if outer := p.tree.Group(); outer != "" && p.groups == nil {
		_ = tree.CreateGroup(outer)
	}
	return tree
}

// noteLeft remembers what an ended process has left.
func (p *Plugin) noteLeft(proc *process) {
	if proc.left == nil {
		return
	}
	p.logger.Error("a plugin process has left processes that do not end", "pid", proc.command.Process.Pid, "error", proc.left)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = append(p.left, proc.tree)
}

// endLeft ends what earlier processes of the plugin have started and could not be ended then. The plugin is not started
// while something is left: a stage would run twice at the same time.
func (p *Plugin) endLeft() error {
	p.mu.Lock()
	trees := p.left
	p.left = nil
	p.mu.Unlock()
	var errs []error
	for _, tree := range trees {
		ctx, cancel := context.WithTimeout(context.Background(), processtree.EndTimeout)
		_, err := tree.End(ctx)
		cancel()
		if err == nil {
			tree.RemoveGroups()
			continue
		}
		errs = append(errs, err)
		p.mu.Lock()
		p.left = append(p.left, tree)
		p.mu.Unlock()
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("plugin %q is not started beside what its last process has left: %w", p.Name(), err)
	}
	return nil
}
