// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"crypto/sha256"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The bounds of what is read of a deploy target: a larger one is not looked at.
const (
	maxTargetFiles = 2000
	maxTargetBytes = 16 << 20
)

// targetFile is a file at a place that the configuration of a deploy target names.
type targetFile struct{ target, path string }

// targetFiles are the contents of such files. They show what a stage, or a question, does at a deploy target that is a
// directory of this machine.
type targetFiles map[targetFile][sha256.Size]byte

// targetFiles reads the files of the deploy targets; nil when they cannot be compared.
func (x *session) targetFiles() targetFiles {
	all, left := targetFiles{}, int64(maxTargetBytes)
	for _, target := range x.suite.options.Settings.DeployTargets {
		for _, place := range x.placesIn(target.Config) {
			err := filepath.WalkDir(place, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				data, err := contentOf(path, entry)
				if left -= int64(len(data)); left < 0 || len(all) >= maxTargetFiles {
					return fs.ErrInvalid
				}
				all[targetFile{target.Name, path}] = sha256.Sum256(data)
				return err
			})
			if err != nil {
				return nil
			}
		}
	}
	return all
}

// contentOf is the content of a file, and of a link where it leads.
func contentOf(path string, entry fs.DirEntry) ([]byte, error) {
	switch {
	case entry.Type() == fs.ModeSymlink:
		to, err := os.Readlink(path)
		return []byte(to), err
	case !entry.Type().IsRegular():
		return nil, nil
	}
	if info, err := entry.Info(); err != nil || info.Size() > maxTargetBytes {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// placesIn are the paths that texts of a configuration name and that are there: absolute ones, and those below the
// directory in which the program runs. A directory that others use too is none.
func (x *session) placesIn(config json.RawMessage) []string {
	used := []string{os.TempDir(), x.suite.scratch}
	if home, err := os.UserHomeDir(); err == nil {
		used = append(used, home)
	}
	used = append(used, workingDirectories(x.process.mark)...)
	var places []string
	for _, text := range textsOf(config) {
		for _, place := range x.pathsOf(text) {
			if !slices.ContainsFunc(used, func(dir string) bool { return holdsPath(place, dir) }) {
				places = append(places, place)
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// pathsOf are the paths that a text may name to the program and that are there.
func (x *session) pathsOf(text string) []string {
	candidates := []string{text}
	if !filepath.IsAbs(text) {
		candidates = nil
		for _, dir := range workingDirectories(x.process.mark) {
			candidates = append(candidates, filepath.Join(dir, text))
		}
	}
	var paths []string
	for _, path := range candidates {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			paths = append(paths, real)
		}
	}
	return paths
}

// holdsPath is whether a path is a directory or lies below it.
func holdsPath(directory, path string) bool {
	within, err := filepath.Rel(directory, path)
	return err == nil && filepath.IsLocal(within)
}

// textsOf are the texts of a JSON document, without keys.
func textsOf(document json.RawMessage) []string {
	var value any
	if json.Unmarshal(document, &value) != nil {
		return nil
	}
	var texts []string
	var collect func(any)
	collect = func(value any) {
		switch value := value.(type) {
		case string:
			if strings.TrimSpace(value) != "" {
				texts = append(texts, value)
			}
		case []any:
			for _, item := range value {
				collect(item)
			}
		case map[string]any:
			for _, key := range sortedKeys(value) {
				collect(value[key])
			}
		}
	}
	collect(value)
	return texts
}

// otherwise are the files that two readings have with different contents, or one of them alone.
func otherwise(a, b targetFiles) []targetFile {
	var found []targetFile
	for file, sum := range a {
		if other, ok := b[file]; !ok || other != sum {
			found = append(found, file)
		}
	}
	for file := range b {
		if _, ok := a[file]; !ok {
			found = append(found, file)
		}
	}
	slices.SortFunc(found, func(a, b targetFile) int { return strings.Compare(a.path+a.target, b.path+b.target) })
	return found
}

// evidence is what the files of the deploy targets were in a story; a reading is nil when there was none.
type evidence struct {
	// first is with the first commit, other with the other one, onlyLast with the other one at the last deploy target
	// alone, restored after the rollback, and repeated with the files of the first commit and the hash of the other.
	first, other, onlyLast, restored, repeated targetFiles
	// previewed are the files that a plan preview of the other commit has changed.
	previewed []targetFile
}

// moved are the files that the stage writes as the sources have it: they differ with the other commit, and neither with
// the time nor with the hash of a commit. A file that several deploy targets have, or that a
// plan preview writes as well, is none of them.
func (e *evidence) moved() []targetFile {
	var found []targetFile
	owners := map[string]int{}
	for file := range e.first {
		owners[file.path]++
	}
	for _, file := range otherwise(e.first, e.other) {
		if owners[file.path] > 1 || slices.Contains(e.previewed, file) {
			continue
		}
		was, wasThere := e.first[file]
		again, againThere := e.repeated[file]
		if _, there := e.other[file]; there && wasThere && againThere && was == again {
			found = append(found, file)
		}
	}
	return found
}

// hold is whether a deploy target has all moved files as another reading has them.
func (e *evidence) hold(target string, is, like targetFiles) bool {
	found := false
	for _, file := range e.moved() {
		if file.target != target {
			continue
		}
		if is[file] != like[file] {
			return false
		}
		found = true
	}
	return found
}
