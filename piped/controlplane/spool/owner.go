// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/system/owned"
)

// Owner identifies the piped and the control plane that reports are kept for. Another control plane does not know
// the deployments in them.
type Owner struct{ Address, ProjectID, PipedID string }

const (
	// ownerFile shows people whose reports a directory holds.
	ownerFile = "for.txt"
	// maxOthers bounds the directories with reports for others.
	maxOthers = 8
)

var ownerFolder = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Directory creates the directory below root for the reports of an owner, and returns it. Reports that were kept
// for others stay where they are, so that they are delivered when piped works for those again; the logger is
// notified of them. Beyond a few owners the reports of those that were not there for longest are removed.
func Directory(root string, owner Owner, logger *slog.Logger) (string, error) {
	dir, err := directory(root, owner)
	if err != nil {
		return "", fmt.Errorf("make the directory for reports that wait for the control plane: %w; see that the "+
			"work directory can be written", err)
	}
	if err := notifyOthers(root, dir, logger); err != nil {
		return "", fmt.Errorf("look at the reports for other control planes in %s: %w", root, err)
	}
	return dir, nil
}

func directory(root string, owner Owner) (string, error) {
	sum := sha256.Sum256([]byte(strings.Join([]string{owner.Address, owner.ProjectID, owner.PipedID}, "\x00")))
	dir := filepath.Join(root, hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.Chmod(root, 0o700); err != nil {
		return "", err
	}
	text := fmt.Sprintf("control plane %s, project %s, piped %s", owner.Address, owner.ProjectID, owner.PipedID)
	if err := writeFile(filepath.Join(dir, ownerFile), []byte(text+"\n"), false); err != nil {
		return "", err
	}
	return dir, owned.SyncDirectory(root) // reports in it are to outlast the machine
}

// other is a directory with reports that are not delivered.
type other struct {
	path, owner string
	reports     int
	newest      time.Time
}

func notifyOthers(root, mine string, logger *slog.Logger) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	var others []other
	for _, entry := range entries {
		path := filepath.Join(root, entry.Name())
		if path == mine || !entry.IsDir() || !ownerFolder.MatchString(entry.Name()) {
			continue
		}
		o, err := look(path)
		if err != nil {
			return err
		}
		if o.reports == 0 {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			continue
		}
		others = append(others, o)
	}
	if loose, err := look(root); err != nil {
		return err
	} else if loose.reports > 0 {
		logger.Warn("reports that do not name their control plane are not delivered; remove them", "reports",
			loose.reports, "directory", root)
	}
	slices.SortFunc(others, func(a, b other) int {
		return cmp.Or(b.newest.Compare(a.newest),
			cmp.Compare(a.path, b.path))
	})
	for i, o := range others {
		if i >= maxOthers {
			logger.Warn("reports that were kept for another control plane are removed: there are too many of them",
				"reports", o.reports, "for", o.owner)
			if err := os.RemoveAll(o.path); err != nil {
				return err
			}
			continue
		}
		logger.Warn("reports were kept for another control plane; they are delivered when piped works for that "+
			"again, and can be removed", "reports", o.reports, "for", o.owner, "directory", o.path)
	}
	return nil
}

func look(dir string) (other, error) {
	o := other{path: dir, owner: "unknown"}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return o, err
	}
	for _, entry := range entries {
		if !fileName.MatchString(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return o, err
		}
		o.reports++
		if info.ModTime().After(o.newest) {
			o.newest = info.ModTime()
		}
	}
	file, err := os.Open(filepath.Join(dir, ownerFile))
	if errors.Is(err, os.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 4096))
	if name := strings.TrimSpace(string(text)); name != "" {
		o.owner = name
	}
	return o, err
}
