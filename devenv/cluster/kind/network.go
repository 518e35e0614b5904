// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/filelock"
)

// networkName is the network that all kind clusters of an engine share.
const networkName = "kind"

// networkID returns "" when there is no such network.
func (e *engineCommand) networkID(ctx context.Context) (string, error) {
	out, err := e.run(ctx, "network", "ls", "--format", "{{.ID}} {{.Name}}")
	if err != nil {
		return "", fmt.Errorf("look for the network of kind: %w", err)
	}
	for line := range strings.Lines(out) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == networkName {
			return id, nil
		}
	}
	return "", nil
}

// claimNetwork notes that a network is ours, for whoever of us leaves it last.
func (p *Provider) claimNetwork(ctx context.Context, engine *engineCommand, made *record.Record) error {
	if made.NetworkBefore != "" {
		return nil
	}
	id, err := engine.networkID(ctx)
	if err != nil || id == "" {
		return err
	}
	claim, err := networkClaim(id)
	if err != nil {
		return err
	}
	if err := workspace.WriteFile(claim, nil); err != nil {
		return fmt.Errorf("note that the network of kind is ours: %w", err)
	}
	return nil
}

// leaveNetwork removes the network if one of us has made it and no one uses it.
func (e *engineCommand) leaveNetwork(ctx context.Context, known *record.Record) error {
	id, err := e.networkID(ctx)
	if err != nil || id == "" {
		return err
	}
	claim, err := networkClaim(id)
	if err != nil {
		return err
	}
	if _, err := os.Stat(claim); err != nil && known.NetworkBefore != "" {
		return nil
	}
	lock, err := lockNetwork(unix.LOCK_EX | unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		// Another cluster of ours is being made in it and removes it some day.
		return workspace.WriteFile(claim, nil)
	}
	if err != nil {
		return err
	}
	defer func() { _ = filelock.Release(lock) }()
	// The engine refuses to remove a network that is in use, so this harms no other cluster.
	if _, err := e.run(ctx, "network", "rm", id); err != nil {
		if now, lsErr := e.networkID(ctx); lsErr != nil || now == "" {
			return lsErr
		}
		return workspace.WriteFile(claim, nil)
	}
	if err := os.Remove(claim); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget the network of kind: %w", err)
	}
	return nil
}

// joinNetwork keeps others of us from removing the network between kind's look for it and its use.
func joinNetwork() (*os.File, error) { return lockNetwork(unix.LOCK_SH) }

func lockNetwork(how int) (*os.File, error) {
	path, err := networkClaim("lock")
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of kind's network: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), how); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock kind's network: %w", err)
	}
	return file, nil
}

// networkClaim is a file that all environments of the user share, as they share the network.
func networkClaim(id string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	dir := filepath.Join(cache, "pipedeck", "kind-network")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory for notes on kind's network: %w", err)
	}
	return filepath.Join(dir, filepath.Base(id)), nil
}
