// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/build"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

const (
	// Bounds of what one program may consist of, its dependencies in other modules not counted.
	maxPackages    = 2000
	maxFiles       = 20_000
	maxSourceBytes = 256 << 20
)

// Sources is one program as it is in a checked-out repository.
type Sources struct {
	// Directory is the root of the repository; Folder is the program's, slash-separated and
	// relative to it.
	Directory, Folder string
	// Digest covers the program's files, those of the packages of the repository that it imports,
	// what these embed, and the versions of everything else.
	Digest string
	// module is the folder of the program's go.mod; "" when there is none.
	module string
	// outside are the directories that go.mod replaces modules by and that are not in the repository.
	outside []string
}

// Reference is the image to deploy.
func (s *Sources) Reference() string {
	return Domain + "/" + s.Folder + ":" + s.tag()
}

func (s *Sources) tag() string { return s.Digest[:tagLength] }

// FindSources looks for what the image of a reference is built from; nil when it is built
// elsewhere. directory is absolute and exists. Sources that do not compile have a digest, too:
// whoever builds them says what is wrong.
func FindSources(directory, reference string) (*Sources, error) {
	folder := folderOf(reference)
	if folder == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("open the repository: %w", err)
	}
	defer root.Close()
	w := newWalk(root)
	if !w.hasGo(folder) {
		return nil, nil
	}
	w.findModule(folder)
	w.add(folder)
	if w.err != nil {
		return nil, fmt.Errorf("read the sources of %s/%s: %w", Domain, folder, w.err)
	}
	return &Sources{
		Directory: directory, Folder: folder, module: w.moduleFolder, outside: w.outside,
		Digest: hex.EncodeToString(w.sum.Sum(nil)),
	}, nil
}

// walk collects the files of a program, package by package.
type walk struct {
	files fs.FS
	build build.Context
	sum   hash.Hash
	// modules are the folders of the modules in the repository, by their path.
	modules      map[string]string
	moduleFolder string
	vendor       bool
	outside      []string
	packages     map[string]bool
	seen         map[string]bool
	bytes        int64
	// err is the first problem; nothing is read after it.
	err error
}

func newWalk(root *os.Root) *walk {
	w := &walk{files: root.FS(), sum: sha256.New(), modules: map[string]string{}, packages: map[string]bool{},
		seen: map[string]bool{}}
	w.build = build.Context{
		// Every file counts, whatever it is made for: the digest is the same for all platforms.
		GOOS: "linux", GOARCH: "amd64", Compiler: "gc", UseAllFiles: true, CgoEnabled: true,
		JoinPath:  path.Join,
		IsAbsPath: func(string) bool { return false },
		IsDir: func(name string) bool {
			info, err := fs.Stat(w.files, name)
			return err == nil && info.IsDir()
		},
		HasSubdir: func(string, string) (string, bool) { return "", false },
		ReadDir:   w.readDir,
		OpenFile:  func(name string) (io.ReadCloser, error) { return w.files.Open(path.Clean(name)) },
	}
	return w
}

func (w *walk) readDir(name string) ([]fs.FileInfo, error) {
	entries, err := fs.ReadDir(w.files, path.Clean(name))
	if err != nil {
		return nil, err
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		if info, err := fs.Stat(w.files, path.Join(name, e.Name())); err == nil {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// hasGo reports whether a folder holds Go code other than tests.
func (w *walk) hasGo(folder string) bool {
	entries, err := fs.ReadDir(w.files, folder)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.IsDir() && strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go")
	})
}

// findModule reads the go.mod above a folder. One that cannot be read is the go command's to complain about.
func (w *walk) findModule(folder string) {
	for at := folder; ; at = path.Dir(at) {
		if data, err := fs.ReadFile(w.files, path.Join(at, "go.mod")); err == nil {
			w.moduleFolder = at
			w.addFile(path.Join(at, "go.mod"))
			w.addFile(path.Join(at, "go.sum"))
			w.vendor = w.addFile(path.Join(at, "vendor/modules.txt"))
			w.readModule(at, data)
			return
		}
		if at == "." {
			return
		}
	}
}

func (w *walk) readModule(at string, data []byte) {
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil || file.Module == nil {
		return
	}
	w.modules[file.Module.Mod.Path] = at
	for _, r := range file.Replace {
		if !modfile.IsDirectoryPath(r.New.Path) {
			continue
		}
		folder := path.Join(at, filepath.ToSlash(r.New.Path))
		if filepath.IsAbs(r.New.Path) || !filepath.IsLocal(folder) && folder != "." {
			w.outside = append(w.outside, r.New.Path)
			continue
		}
		w.modules[r.Old.Path] = folder
		w.addFile(path.Join(folder, "go.mod"))
	}
}

// add takes a package and all that it imports from the repository. A package that is not there is the compiler's to
// complain about.
func (w *walk) add(folder string) {
	if w.err != nil || w.packages[folder] {
		return
	}
	if w.packages[folder] = true; len(w.packages) > maxPackages {
		w.err = fmt.Errorf("it has more than %d packages", maxPackages)
		return
	}
	// An error is about one file or another; what could be read is there nevertheless.
	p, _ := w.build.ImportDir(folder, 0)
	for _, list := range [][]string{p.GoFiles, p.CgoFiles, p.IgnoredGoFiles, p.InvalidGoFiles, p.SFiles, p.HFiles,
		p.SysoFiles} {
		for _, file := range list {
			w.addFile(path.Join(folder, file))
		}
	}
	for _, pattern := range p.EmbedPatterns {
		w.addEmbedded(folder, pattern)
	}
	for _, imported := range p.Imports {
		if at, ok := w.locate(imported); ok {
			w.add(at)
		}
	}
}

// locate returns the folder of an imported package; false when it is not in the repository.
func (w *walk) locate(imported string) (string, bool) {
	longest := ""
	for module := range w.modules {
		if (imported == module || strings.HasPrefix(imported, module+"/")) && len(module) > len(longest) {
			longest = module
		}
	}
	if longest != "" {
		return path.Join(w.modules[longest], strings.TrimPrefix(imported, longest)), true
	}
	if w.vendor {
		return path.Join(w.moduleFolder, "vendor", imported), true
	}
	return "", false
}

// addEmbedded takes what a go:embed pattern matches, with everything below folders: that is more
// than some patterns mean, and never less.
func (w *walk) addEmbedded(folder, pattern string) {
	matches, err := fs.Glob(w.files, path.Join(folder, strings.TrimPrefix(pattern, "all:")))
	if err != nil {
		return
	}
	for _, match := range matches {
		err := fs.WalkDir(w.files, match, func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // it is not there for the compiler either
			}
			if !e.IsDir() {
				w.addFile(name)
			}
			return w.err
		})
		if err != nil {
			return
		}
	}
}

// addFile takes a file's name and content, once. It reports whether there is such a file.
func (w *walk) addFile(name string) bool {
	name = path.Clean(name)
	if w.err != nil || w.seen[name] {
		return w.seen[name]
	}
	file, err := w.files.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		w.err = err
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	w.seen[name] = true
	w.bytes += info.Size()
	switch {
	case len(w.seen) > maxFiles:
		w.err = fmt.Errorf("it has more than %d files", maxFiles)
	case w.bytes > maxSourceBytes:
		w.err = fmt.Errorf("its files have more than %d MiB", maxSourceBytes>>20)
	default:
		fmt.Fprintln(w.sum, name, info.Size())
		_, w.err = io.Copy(w.sum, io.LimitReader(file, info.Size()))
	}
	return true
}
