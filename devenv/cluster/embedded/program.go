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
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded/sources"
	"github.com/pipedeck/pipedeck/system/owned"
)

const (
	programName = "embeddedk8s"
	// keptPrograms are enough to go back and forth between branches; each is large.
	keptPrograms = 3
	// keptTime is how long a program is kept after its last start in any case: another environment may be about to
	// start the one that it has found.
	keptTime = time.Hour
	// ProgramVariable names a compiled program that is used as it is.
	ProgramVariable = "PIPEDECK_EMBEDDEDK8S"
)

// ErrNoProgram says that there is neither a compiled program nor its sources.
var ErrNoProgram = errors.New("the embedded Kubernetes is not installed, and this pipedeck is not in the checkout " +
	"that it was built from")

// builtFrom is the digest of the sources next to those of this program. tools/build.sh sets it; without it, sources are
// never compiled.
var builtFrom string

// Program finds or compiles the server program.
type Program struct {
	// Installed is a directory that may hold the compiled program; may be empty.
	Installed string
	// Source is the directory of the program's Go module; empty for none.
	Source string
	// Digest is that of package sources, which Source has to have. Empty for a checkout whose state is unknown, which
	// has to be one that the user named.
	Digest string
	// Before is called before the program is compiled, and may wait for what others compile; may be nil.
	Before func(ctx context.Context) error
	// CacheDir holds compiled programs, one folder for each state of the sources.
	CacheDir string
}

// NewProgram looks next to the running executable, then in the checkout that it was built in and from, and keeps what
// it compiles in the user's cache. The working directory has no influence: it may be a stranger's repository.
func NewProgram() (*Program, error) {
	p, err := cached()
	if err != nil {
		return nil, err
	}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		p.Installed = filepath.Dir(exe)
	}
	if builtFrom != "" && p.Installed != "" {
		p.Source, p.Digest = sourceAbove(p.Installed), builtFrom
	}
	return p, nil
}

// FromCheckout compiles the sources of the checkout that dir is in, whatever their state. It is for tests and tools of
// this repository.
func FromCheckout(dir string) (*Program, error) {
	p, err := cached()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	p.Source = sourceAbove(dir)
	return p, nil
}

func cached() (*Program, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the cache directory: %w", err)
	}
	return &Program{CacheDir: filepath.Join(cache, "pipedeck", programName)}, nil
}

// Found is the program as Look finds it.
type Found struct {
	// Path is where the program lies, or will lie once it is compiled.
	Path string
	// files are the sources that have to be compiled first; nil when the program is there.
	files sources.Files
}

// Compiled reports whether the program is there and can be started.
func (f *Found) Compiled() bool { return f.files == nil }

// GoVersion returns the version of Go that the sources ask for, such as "1.26.8"; empty when nothing has to be
// compiled.
func (f *Found) GoVersion() string {
	for line := range strings.Lines(string(f.files["go.mod"])) {
		if version, ok := strings.CutPrefix(line, "go "); ok {
			return strings.TrimSpace(version)
		}
	}
	return ""
}

// Look finds the program and changes nothing. The error is a *cluster.HintError when there is neither a program nor
// sources that may be compiled.
func (p *Program) Look() (*Found, error) {
	if path := os.Getenv(ProgramVariable); path != "" {
		return &Found{Path: path}, usable(path)
	}
	if path := filepath.Join(p.Installed, programName); p.Installed != "" && executable(path) {
		return &Found{Path: path}, nil
	}
	if p.Source == "" {
		return nil, &cluster.HintError{
			Err: ErrNoProgram,
			Hint: "run make build in a clone of its repository, or use --cluster kind, or set " + ProgramVariable +
				" to the compiled program",
		}
	}
	files, err := sources.Read(p.Source)
	if err != nil {
		return nil, err
	}
	sum := files.Digest()
	if p.Digest != "" && sum != p.Digest {
		return nil, &cluster.HintError{
			Err: fmt.Errorf("the sources of the embedded Kubernetes in %s are not those that this pipedeck was "+
				"built with, and are not compiled", p.Source),
			Hint: "build pipedeck again: make build",
		}
	}
	path := p.compiled(sum)
	if executable(path) {
		return &Found{Path: path}, ownProgram(path)
	}
	return &Found{path, files}, nil
}

// usable is the error of a program that the user has named and that cannot be started.
func usable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("there is no such file")
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is not a file")
	case err == nil && info.Mode()&0o111 == 0:
		err = errors.New("it is not executable")
	case err == nil:
		return nil
	}
	return &cluster.HintError{
		Err:  fmt.Errorf("%s names %s as the embedded Kubernetes: %w", ProgramVariable, path, err),
		Hint: "set the variable to the compiled program, or remove it: unset " + ProgramVariable,
	}
}

// Ensure returns the path of the compiled program, compiling it when there is none. A failure to
// compile holds the compiler's words.
func (p *Program) Ensure(ctx context.Context, progress cluster.Progress) (string, error) {
	found, err := p.Look()
	if err != nil {
		return "", err
	}
	if found.Compiled() {
		p.use(found.Path)
		return found.Path, nil
	}
	if p.Before != nil {
		progress("waiting for the other programs to be compiled", 0, 0)
		if err := p.Before(ctx); err != nil {
			return "", err
		}
	}
	if err := compile(ctx, found.files, found.Path, progress); err != nil {
		return "", err
	}
	return found.Path, p.prune()
}

// compiled is where the program lies that is made of sources with a digest: whatever else can change it is in its path.
func (p *Program) compiled(sum string) string {
	key := sha256.Sum256([]byte(strings.Join([]string{sum, runtime.Version(), runtime.GOOS, runtime.GOARCH}, "\n")))
	return filepath.Join(p.CacheDir, hex.EncodeToString(key[:])[:16], programName)
}

// ownProgram refuses a program in the cache that another user has put there.
func ownProgram(path string) error {
	for _, found := range []string{filepath.Dir(path), path} {
		info, err := os.Lstat(found)
		if err == nil {
			err = owned.Check(found, info, found != path)
		}
		if err != nil {
			return fmt.Errorf("use the embedded Kubernetes that was compiled before: %w", err)
		}
	}
	return nil
}

// digestName is that of the directories that Ensure makes. What has another name in the cache is not ours, and stays.
var digestName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// use notes that a program of the cache is about to be started. Without the note it may be removed sooner.
func (p *Program) use(path string) {
	if dir := filepath.Dir(path); filepath.Dir(dir) == p.CacheDir {
		now := time.Now()
		_ = os.Chtimes(dir, now, now)
	}
}

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
		if time.Since(age[old]) < keptTime {
			continue
		}
		if err := os.RemoveAll(filepath.Join(p.CacheDir, old)); err != nil {
			return fmt.Errorf("remove an old program: %w", err)
		}
	}
	return nil
}

// sourceAbove returns the directory of the program's Go module in the checkout that dir is in, or "".
func sourceAbove(dir string) string {
	for {
		candidate := filepath.Join(dir, "devenv", programName)
		if _, err := os.Stat(filepath.Join(candidate, "go.mod")); err == nil {
			return candidate
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
