// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/distribution/reference"
	"k8s.io/klog/v2"
)

// Set is the list as it is on disk now. Many goroutines may use it.
type Set struct {
	path string

	mu sync.Mutex
	// read is the identity of the file that was read last, whether it was good or not.
	read identity
	// byImage has the programs of the last good list by their normalised references.
	byImage map[string]Program
	checked map[string]checkedFile
}

// identity distinguishes two states of a file. The writer renames, so that each list is a new file.
type identity struct {
	inode    uint64
	size     int64
	modified time.Time
}

// Open returns the set of the list at path, which is read when it is asked for. A list that does not exist is empty
// until it does; an empty path stands for no list.
func Open(path string) *Set {
	return &Set{path: path, byImage: map[string]Program{}, checked: map[string]checkedFile{}}
}

// Find returns the program of an image as a manifest names it. It sees a list that was renamed into place before the
// call, so that an image is found as soon as the environment has announced it.
func (s *Set) Find(image string) (Program, bool) {
	if s.path == "" {
		return Program{}, false
	}
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return Program{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	if program, ok := s.byImage[reference.TagNameOnly(named).String()]; ok {
		return program, true
	}
	program, ok := s.byImage[anyTag(named)]
	return program, ok
}

// refresh reads the list when it is another one than before. The caller holds mu.
func (s *Set) refresh() {
	info, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.read, s.byImage = identity{}, map[string]Program{}
		return
	}
	if err != nil {
		klog.ErrorS(err, "Cannot look at the list of programs", "file", s.path)
		return
	}
	now := identity{fileInode(info), info.Size(), info.ModTime()}
	if now == s.read {
		return
	}
	s.read = now
	list, err := readList(s.path)
	if err != nil {
		klog.ErrorS(err, "Cannot use the list of programs; the last good one stays in force", "file", s.path)
		return
	}
	s.byImage = make(map[string]Program, len(list.Programs))
	for _, program := range list.Programs {
		named, err := reference.ParseNormalizedNamed(program.Image)
		if err != nil {
			continue // validate has refused it
		}
		key := named.String()
		if reference.IsNameOnly(named) {
			key = anyTag(named)
		}
		s.byImage[key] = program
	}
}

// anyTag is the key of an entry that stands for all tags; no reference looks like it.
func anyTag(named reference.Named) string { return named.Name() + ":*" }
