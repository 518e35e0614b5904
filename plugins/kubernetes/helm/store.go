// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// DefaultCacheBytes bounds the charts that are kept on disk.
const DefaultCacheBytes = 256 << 20

// store keeps archives in a separate directory: files named by the digests of their key and of their content. What
// was not used for the longest time goes first. All is well without it, so that its errors are skipped.
type store struct {
	given string
	bytes int64

	mu sync.Mutex
	// dir is empty until it was prepared.
	dir string
}

func newStore(dir string, bytes int64) *store {
	return &store{given: dir, bytes: cmp.Or(bytes, DefaultCacheBytes)}
}

// get returns what is kept for a key, unless it is damaged.
func (s *store) get(key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prepare() != nil {
		return nil, false
	}
	names, err := filepath.Glob(filepath.Join(s.dir, digest([]byte(key))+"-*"))
	if err != nil {
		return nil, false
	}
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxArchive {
			continue
		}
		data, err := os.ReadFile(name)
		if err == nil && strings.HasSuffix(name, "-"+digest(data)) {
			now := time.Now()
			_ = os.Chtimes(name, now, now)
			return data, true
		}
		_ = os.Remove(name)
	}
	return nil, false
}

// put keeps data and removes what is too much.
func (s *store) put(key string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int64(len(data)) > s.bytes || s.prepare() != nil {
		return
	}
	file, err := os.CreateTemp(s.dir, ".new-*")
	if err != nil {
		return
	}
	defer os.Remove(file.Name()) // fails after the rename, as it should
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return
	}
	if os.Rename(file.Name(), filepath.Join(s.dir, digest([]byte(key))+"-"+digest(data))) == nil {
		s.prune()
	}
}

func (s *store) prune() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	total := int64(0)
	for _, f := range files {
		if total += f.Size(); total > s.bytes {
			_ = os.Remove(filepath.Join(s.dir, f.Name()))
		}
	}
}

// prepare makes the directory, which has to be the user's own and closed to others.
func (s *store) prepare() error {
	if s.dir != "" {
		return nil
	}
	dir := s.given
	if dir == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		dir = filepath.Join(caches, "pipedeck", "charts")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !own(info) {
		return fmt.Errorf("%s is not a directory of this user alone", dir)
	}
	s.dir = dir
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
