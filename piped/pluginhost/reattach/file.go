// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reattach

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile bounds in bytes the files that are read.
const maxFile = 1 << 20

// ReadFile returns the targets in a file by plugin: nil for a plugin that was detached. A missing file has none.
func ReadFile(path string) (map[string]*Target, error) {
	targets := map[string]*Target{}
	data, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return targets, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(data, &targets); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	for name, target := range targets {
		if target == nil {
			continue
		}
		if target.Plugin = name; target.Address != "" {
			if err := loopback(target.Address); err != nil {
				return nil, fmt.Errorf("read %s: plugin %s: %w", path, name, err)
			}
		}
	}
	return targets, nil
}

// WriteFile sets the target of a plugin in a file for its user alone; nil detaches the plugin.
func WriteFile(path, plugin string, target *Target) error {
	targets, err := ReadFile(path)
	if err != nil {
		targets = map[string]*Target{}
	}
	targets[plugin] = target
	if len(targets) > maxTargets {
		return fmt.Errorf("write %s: it has %d plugins", path, len(targets))
	}
	data, err := json.Marshal(targets)
	if err != nil {
		return err
	}
	return replace(path, data)
}

// replace has readers see either content as a whole.
func replace(path string, data []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".reattach-*") // for its user alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if _, err = file.Write(data); err != nil {
		return errors.Join(err, file.Close())
	}
	if err = file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Announced returns the process of a plugin that has announced itself last, as far as it is alive; nil for none.
func Announced(plugin string) (*Target, error) {
	dir, err := AnnouncementDir()
	if err != nil {
		return nil, err
	}
	data, err := read(filepath.Join(dir, plugin+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	target := new(Target)
	if err := json.Unmarshal(data, target); err != nil {
		return nil, fmt.Errorf("read the announcement of plugin %q: %w", plugin, err)
	}
	target.Plugin = plugin
	if err := loopback(target.Address); err != nil {
		return nil, fmt.Errorf("read the announcement of plugin %q: %w", plugin, err)
	}
	if target.PID < 1 || syscall.Kill(target.PID, 0) != nil {
		return nil, nil // it could not remove the file; its port may be another's by now
	}
	return target, nil
}

// AnnouncementDir is where plugins of our SDK write where they wait.
func AnnouncementDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the directory where plugins announce themselves: %w", err)
	}
	return filepath.Join(cache, "pipedeck", "reattach"), nil
}

// read refuses a file that another user could have written.
func read(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if known && int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not used: others than you can read or write it; remove it", path)
	}
	return io.ReadAll(io.LimitReader(file, maxFile))
}
