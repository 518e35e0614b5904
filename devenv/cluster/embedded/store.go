// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

const (
	// listVersion is that of the format that package programs of the server reads.
	listVersion = 1
	// maxStored programs are kept whether pods name them or not: enough to go back and forth between commits.
	maxStored = 20
	// settleTime is how long a program is kept for pods that are yet to be created.
	settleTime = 10 * time.Minute
	// entrypoint is where package image puts the program in an image.
	entrypoint = "/app"
	// listName is the list of programs in their directory.
	listName = "list.json"
	// draftPattern is that of programs that are being copied.
	draftPattern = ".new-*"
)

// LocalImage is an image that runs as a program of this machine.
type LocalImage struct {
	// Image is a reference as manifests name it. Without a tag it stands for all tags.
	Image string `json:"image"`
	// Path is the absolute path of the program, SHA256 that of its content: another one is not started.
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// HonoursPort says that the program listens on $PORT.
	HonoursPort bool `json:"honoursPort,omitempty"`
	// MayRun are the absolute paths of other programs that manifests may name; "*" allows all.
	MayRun []string `json:"mayRun,omitempty"`
	// Entrypoint is the program's path in the image; empty for one that is not known.
	Entrypoint string `json:"entrypoint,omitempty"`
}

// IsBuilt reports whether the program is the one that LoadImage brings: then the image says only what it MayRun.
func (i LocalImage) IsBuilt() bool { return i.Path == "" }

// programList is the file that the server reads.
type programList struct {
	Version  int          `json:"version"`
	Programs []LocalImage `json:"programs"`
}

// programStore keeps the programs of the images that were built, each under the digest of its content, and the list of
// all images that run as processes. Many goroutines may use it.
type programStore struct {
	dir    string
	mapped []LocalImage
	// options are what the user says of images that are built.
	options []LocalImage

	now func() time.Time

	mu sync.Mutex
	// built are the images that were loaded, the newest last.
	built []LocalImage
	// loaded is when programs were stored in this run, by their digests.
	loaded map[string]time.Time
}

func newProgramStore(dir string, mapped []LocalImage) *programStore {
	s := &programStore{dir: dir, now: time.Now, loaded: map[string]time.Time{}}
	for _, image := range mapped {
		if image.IsBuilt() {
			s.options = append(s.options, image)
		} else {
			s.mapped = append(s.mapped, image)
		}
	}
	return s
}

// list is the path of the list.
func (s *programStore) list() string { return filepath.Join(s.dir, listName) }

// open continues with what an earlier run has stored: its pods are still there.
func (s *programStore) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of local programs: %w", err)
	}
	content, err := os.ReadFile(s.list())
	var before programList
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("read the list of local programs: %w", err)
	case json.Unmarshal(content, &before) != nil:
		before = programList{} // the images are built again when they are deployed
	}
	s.built = slices.DeleteFunc(before.Programs, func(image LocalImage) bool {
		_, err := os.Stat(image.Path)
		return filepath.Dir(image.Path) != s.dir || err != nil
	})
	return s.write()
}

// add stores a program under references.
func (s *programStore) add(program string, references []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	digest, err := s.copy(program)
	if err != nil {
		return err
	}
	s.loaded[digest] = s.now()
	s.built = slices.DeleteFunc(s.built,
		func(image LocalImage) bool { return slices.Contains(references, image.Image) })
	for _, reference := range references {
		s.built = append(s.built, LocalImage{
			Image: reference, Path: filepath.Join(s.dir, digest), SHA256: digest, HonoursPort: true,
			Entrypoint: entrypoint,
		})
	}
	return s.write()
}

// has reports whether all references run as a stored program.
func (s *programStore) has(references []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(references, func(reference string) bool {
		return !slices.ContainsFunc(s.built, func(image LocalImage) bool { return image.Image == reference })
	})
}

// full reports whether there are more programs than are kept for no pod.
func (s *programStore) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.digests()) > maxStored
}

// prune removes the oldest programs that no image in use stands for, and returns the references that name nothing any
// more.
func (s *programStore) prune(used map[string]bool) (gone []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	digests := s.digests()
	old := map[string]bool{}
	for _, digest := range digests[:max(0, len(digests)-maxStored)] {
		old[digest] = s.now().Sub(s.loaded[digest]) > settleTime
	}
	for _, image := range s.built {
		if used[image.Image] {
			delete(old, image.SHA256)
		}
	}
	s.built = slices.DeleteFunc(s.built, func(image LocalImage) bool {
		if old[image.SHA256] {
			gone = append(gone, image.Image)
		}
		return old[image.SHA256]
	})
	if len(gone) == 0 {
		return nil, nil
	}
	return gone, s.write()
}

// digests are those of the stored programs, the one that was loaded last at the end. The caller holds mu.
func (s *programStore) digests() (digests []string) {
	for _, image := range slices.Backward(s.built) {
		if !slices.Contains(digests, image.SHA256) {
			digests = append(digests, image.SHA256)
		}
	}
	slices.Reverse(digests)
	return digests
}

// write replaces the list, then removes programs that it does not name. The caller holds mu.
func (s *programStore) write() error {
	programs := append(slices.Clone(s.mapped), s.allowed()...)
	content, err := json.MarshalIndent(programList{listVersion, programs}, "", " ")
	if err != nil {
		return err
	}
	if err := workspace.WriteFile(s.list(), append(content, '\n')); err != nil {
		return fmt.Errorf("write the list of local programs: %w", err)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("look for old programs: %w", err)
	}
	digests := s.digests()
	maps.DeleteFunc(s.loaded, func(digest string, _ time.Time) bool { return !slices.Contains(digests, digest) })
	var failures []error
	for _, entry := range entries {
		draft, _ := filepath.Match(draftPattern, entry.Name())
		if draft || isDigest.MatchString(entry.Name()) && !slices.Contains(digests, entry.Name()) {
			failures = append(failures, os.Remove(filepath.Join(s.dir, entry.Name())))
		}
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("remove old programs: %w", err)
	}
	return nil
}

// allowed are the built images with what the user lets them run. The caller holds mu.
func (s *programStore) allowed() []LocalImage {
	images := slices.Clone(s.built)
	for i := range images {
		images[i].MayRun = nil
		for _, given := range s.options {
			if given.Image == images[i].Image || given.Image == repositoryOf(images[i].Image) {
				images[i].MayRun = append(images[i].MayRun, given.MayRun...)
			}
		}
	}
	return images
}

// repositoryOf is a reference without its tag or digest, which stands for all of them.
func repositoryOf(reference string) string {
	reference, _, _ = strings.Cut(reference, "@")
	if i := strings.LastIndexByte(reference, ':'); i > strings.LastIndexByte(reference, '/') {
		return reference[:i]
	}
	return reference
}

var isDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// copy stores a program under its digest. The caller holds mu.
func (s *programStore) copy(program string) (digest string, err error) {
	from, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer from.Close()
	draft, err := os.CreateTemp(s.dir, draftPattern)
	if err != nil {
		return "", err
	}
	defer os.Remove(draft.Name())
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(draft, sum), from)
	if err := errors.Join(err, draft.Chmod(0o500), draft.Sync(), draft.Close()); err != nil {
		return "", err
	}
	digest = hex.EncodeToString(sum.Sum(nil))
	return digest, os.Rename(draft.Name(), filepath.Join(s.dir, digest))
}
