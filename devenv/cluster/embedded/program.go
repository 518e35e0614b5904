// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

const (
	programName = "embeddedk8s"
	// keptPrograms are enough to go back and forth between branches; each is large.
	keptPrograms = 3
	// ProgramVariable names a compiled program that is used as it is.
	ProgramVariable = "PIPEDECK_EMBEDDEDK8S"
)

// ErrNoProgram says that there is neither a compiled program nor its sources.
var ErrNoProgram = errors.New("the embedded Kubernetes is neither installed nor are its sources here; " +
	"run pipedeck from a clone of its repository, or set " + ProgramVariable)

// Program finds or compiles the server program.
type Program struct {
	// SearchFrom are directories at or below which a checkout of the sources may be found, by
	// walking up; the first also may hold the compiled program.
	SearchFrom []string
	// CacheDir holds compiled programs, one folder for each state of the sources.
	CacheDir string
}

// NewProgram looks beside the running executable, then in its and the working directory's
// checkout, and keeps what it compiles in the user's cache.
func NewProgram() (*Program, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the cache directory: %w", err)
	}
	p := &Program{CacheDir: filepath.Join(cache, "pipedeck", programName)}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		p.SearchFrom = append(p.SearchFrom, filepath.Dir(exe))
	}
	if wd, err := os.Getwd(); err == nil {
		p.SearchFrom = append(p.SearchFrom, wd)
	}
	return p, nil
}

// Ensure returns the path of the compiled program, compiling it when there is none. A failure to
// compile holds the compiler's words.
func (p *Program) Ensure(ctx context.Context, progress cluster.Progress) (string, error) {
	if path := os.Getenv(ProgramVariable); path != "" {
		return path, nil
	}
	if len(p.SearchFrom) > 0 {
		if path := filepath.Join(p.SearchFrom[0], programName); executable(path) {
			return path, nil
		}
	}
	source := p.source()
	if source == "" {
		return "", ErrNoProgram
	}
	sum, err := digest(source)
	if err != nil {
		return "", fmt.Errorf("read the sources of the embedded Kubernetes: %w", err)
	}
	path := filepath.Join(p.CacheDir, sum, programName)
	if executable(path) {
		return path, nil
	}
	if err := compile(ctx, source, path, progress); err != nil {
		return "", err
	}
	return path, p.prune()
}

// digestName is that of the directories that Ensure makes. What has another name in the cache is not ours, and stays.
var digestName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// prune bounds the cache. A program that runs elsewhere goes on running without its file.
func (p *Program) prune() error {
	entries, err := os.ReadDir(p.CacheDir)
	if err != nil {
		return fmt.Errorf("look for old programs: %w", err)
	}
	age := map[string]time.Time{}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.IsDir() && digestName.MatchString(entry.Name()) {
			age[entry.Name()] = info.ModTime()
		}
	}
	newest := slices.SortedFunc(maps.Keys(age), func(a, b string) int { return age[b].Compare(age[a]) })
	for _, old := range newest[min(keptPrograms, len(newest)):] {
		if err := os.RemoveAll(filepath.Join(p.CacheDir, old)); err != nil {
			return fmt.Errorf("remove an old program: %w", err)
		}
	}
	return nil
}

// source returns the directory of the program's Go module, or "".
func (p *Program) source() string {
	for _, dir := range p.SearchFrom {
		for {
			candidate := filepath.Join(dir, "devenv", programName)
			if _, err := os.Stat(filepath.Join(candidate, "go.mod")); err == nil {
				return candidate
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// digest names the state of the sources: whatever can change the program changes it.
func digest(dir string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := entry.Name()
		if strings.HasSuffix(name, "_test.go") || !strings.HasSuffix(name, ".go") && name != "go.mod" && name != "go.sum" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintln(h, relative, len(content))
		_, err = h.Write(content)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:16], err
}
