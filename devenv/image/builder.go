// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// Bounds of the cache. What has gone is built again from Go's own cache.
	maxArchives     = 128 // with the programs that they are made of
	maxArchiveBytes = 2 << 30
	// archiveFormat changes when the same sources give other archives.
	archiveFormat = "1"
	// The endings of what is kept.
	archiveSuffix = ".tar"
	programSuffix = ".program"
)

// Builder builds images. It may be used by several goroutines, and several processes may share a cache.
type Builder struct {
	// Installed is a directory with programs that were compiled beforehand, by CompileAll; empty for none. It is set
	// before the first use.
	Installed string

	cacheDir string
	archives Archives
	// turn holds a token: one program is built at a time, since the go command uses all processors.
	turn chan struct{}

	mu sync.Mutex
	// version is the go command's; empty until it was asked.
	version string
}

// Archives writes images to files that do not exist, and returns their sizes in bytes; archive.Writer does.
type Archives interface {
	// Write writes the image of a program.
	Write(ctx context.Context, program, system, architecture string, references []string, path string) (int64, error)
	// Rename writes the image of another archive, under other references.
	Rename(ctx context.Context, from string, references []string, path string) (int64, error)
}

// NewBuilder creates a builder with a cache directory, which need not exist.
func NewBuilder(cacheDir string, archives Archives) *Builder {
	return &Builder{cacheDir: cacheDir, archives: archives, turn: make(chan struct{}, 1)}
}

// DefaultCacheDir is in the user's cache.
func DefaultCacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(cache, "pipedeck", "images"), nil
}

// Build returns the path of an archive that holds the image of sources under references, sorted and
// without duplicates. The file stays until much else was built; whoever needs it longer opens it.
// progress gets one line for each step, none when nothing has to be done. Errors: *CompileError,
// ErrNoGo, ctx's cause.
func (b *Builder) Build(
	ctx context.Context, s *Sources, p Platform, references []string, progress func(string),
) (string, error) {
	if err := b.prepare(ctx, s, p); err != nil {
		return "", err
	}
	first := []string{s.Reference()}
	references = slices.Compact(slices.Sorted(slices.Values(references)))
	built, wanted := b.path(s, p, archiveSuffix, first), b.path(s, p, archiveSuffix, references)
	if touch(wanted) {
		return wanted, nil
	}
	return wanted, b.alone(ctx, progress, func() error {
		if !touch(built) {
			if err := b.make(ctx, s, p, first, built, progress); err != nil {
				return err
			}
		}
		if !touch(wanted) {
			if err := b.rename(ctx, built, references, wanted); err != nil {
				return fmt.Errorf("name the image of %s: %w", s.Folder, err)
			}
		}
		return nil
	})
}

// Program returns the path of the program that the image of sources is made of, as Build does with the archive. The
// file is executable.
func (b *Builder) Program(ctx context.Context, s *Sources, p Platform, progress func(string)) (string, error) {
	if installed, _ := b.installed(s, p); installed != "" {
		return installed, nil
	}
	if err := b.prepare(ctx, s, p); err != nil {
		return "", err
	}
	program := b.path(s, p, programSuffix, nil)
	if touch(program) {
		return program, nil
	}
	return program, b.alone(ctx, progress, func() error {
		_, err := b.program(ctx, s, p, progress)
		return err
	})
}

// prepare makes the cache, and learns the version of Go, which is part of the names there. A program that was compiled
// beforehand needs no Go.
func (b *Builder) prepare(ctx context.Context, s *Sources, p Platform) error {
	installed, _ := b.installed(s, p)
	if _, err := exec.LookPath("go"); err != nil && installed == "" {
		return ErrNoGo
	}
	if err := os.MkdirAll(b.cacheDir, 0o700); err != nil {
		return fmt.Errorf("make the cache of images: %w", err)
	}
	if installed != "" {
		return nil
	}
	return b.askVersion(ctx)
}

// alone calls work while nothing else is built into the cache, and removes what is too much then.
func (b *Builder) alone(ctx context.Context, progress func(string), work func() error) error {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	unlock, err := lock(ctx, b.cacheDir, progress)
	if err != nil {
		return err
	}
	defer unlock()
	if err := work(); err != nil {
		return err
	}
	return b.prune()
}

// program returns the path of a program, which it compiles unless it is there. The caller is alone.
func (b *Builder) program(ctx context.Context, s *Sources, p Platform, progress func(string)) (string, error) {
	if installed, _ := b.installed(s, p); installed != "" {
		return installed, nil
	}
	path := b.path(s, p, programSuffix, nil)
	if touch(path) {
		return path, nil
	}
	progress(fmt.Sprintf("Building %s for %s", s.Reference(), p))
	dir, err := os.MkdirTemp(b.cacheDir, partialPrefix)
	if err != nil {
		return "", fmt.Errorf("make room for a build: %w", err)
	}
	defer os.RemoveAll(dir)
	partial := filepath.Join(dir, "program")
	if err := compile(ctx, s, p, partial); err != nil {
		return "", err
	}
	if err := errors.Join(os.Chmod(partial, 0o500), os.Rename(partial, path)); err != nil {
		return "", fmt.Errorf("keep the program of %s: %w", s.Folder, err)
	}
	return path, nil
}

// make builds aside and renames: an interrupted build leaves nothing that looks finished.
func (b *Builder) make(
	ctx context.Context, s *Sources, p Platform, references []string, path string, progress func(string),
) error {
	start := time.Now()
	program, err := b.program(ctx, s, p, progress)
	if err != nil {
		return err
	}
	size, err := b.archive(path, func(partial string) (int64, error) {
		return b.archives.Write(ctx, program, p.OS, p.Architecture, references, partial)
	})
	if err != nil {
		return fmt.Errorf("keep the image of %s: %w", s.Folder, err)
	}
	progress(fmt.Sprintf("Built in %s: %.1f MB", time.Since(start).Round(10*time.Millisecond), float64(size)/1e6))
	return nil
}

// rename makes an archive of the same image under other references.
func (b *Builder) rename(ctx context.Context, from string, references []string, to string) error {
	_, err := b.archive(to, func(partial string) (int64, error) {
		return b.archives.Rename(ctx, from, references, partial)
	})
	return err
}

// archive lets write make a file aside, then renames it to path.
func (b *Builder) archive(path string, write func(partial string) (int64, error)) (size int64, err error) {
	dir, err := os.MkdirTemp(b.cacheDir, partialPrefix)
	if err != nil {
		return 0, fmt.Errorf("make room for an archive: %w", err)
	}
	defer os.RemoveAll(dir)
	partial := filepath.Join(dir, "archive")
	if size, err = write(partial); err != nil {
		return 0, err
	}
	return size, os.Rename(partial, path)
}

func (b *Builder) askVersion(ctx context.Context) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.version == "" {
		b.version, err = goVersion(ctx, b.cacheDir)
	}
	return err
}

// path names an archive or a program by all that its bytes depend on. prepare was called.
func (b *Builder) path(s *Sources, p Platform, suffix string, references []string) string {
	sum := sha256.New()
	fmt.Fprintln(sum, archiveFormat, s.Folder, s.Digest, p, b.compiler(s, p), references)
	return filepath.Join(b.cacheDir, hex.EncodeToString(sum.Sum(nil))+suffix)
}

// touch reports whether an archive or a program is there, and notes that it was used.
func touch(path string) bool {
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// partialPrefix marks what is being made.
const partialPrefix = "partial-"

// archiveName is that of the files that path names. What has another name in the cache is not ours, and stays.
var archiveName = regexp.MustCompile(`^[0-9a-f]{64}\.(tar|program)$`)

// prune bounds the cache: what was used longest ago goes first. The caller holds the lock, so a
// partial build is one whose process was killed.
func (b *Builder) prune() error {
	entries, err := os.ReadDir(b.cacheDir)
	if err != nil {
		return fmt.Errorf("look for old images: %w", err)
	}
	var archives []fs.FileInfo
	var failures []error
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil:
		case e.IsDir() && strings.HasPrefix(e.Name(), partialPrefix):
			failures = append(failures, os.RemoveAll(filepath.Join(b.cacheDir, e.Name())))
		case info.Mode().IsRegular() && archiveName.MatchString(e.Name()):
			archives = append(archives, info)
		}
	}
	slices.SortFunc(archives, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var total int64
	for i, a := range archives {
		// The newest stays even if it is larger than all may be together: someone is waiting for it.
		if total += a.Size(); i > 0 && (i >= maxArchives || total > maxArchiveBytes) {
			failures = append(failures, os.Remove(filepath.Join(b.cacheDir, a.Name())))
		}
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("remove an old image: %w", err)
	}
	return nil
}
