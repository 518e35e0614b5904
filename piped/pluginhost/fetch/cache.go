// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"
)

const (
	maxEntry  = 16 << 10 // bytes of the file of an entry
	keptFor   = 24 * time.Hour
	keptNames = 256 // entries, of binaries and of signatures
	// justUsed is how long another piped or a command may take to copy what it has found.
	justUsed = time.Hour
)

// entry is what is known of a URL that was fetched.
type entry struct {
	// URL is without secrets, for people.
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
	// ETag and LastModified are as the server wrote them.
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"lastModified,omitempty"`
	Fetched      time.Time `json:"fetched"`
	// Manifests of a registry that lead to the content: their signatures are signatures of it.
	Manifests []digest.Digest `json:"manifests,omitempty"`
}

// cache is a directory with contents, named by their digests, and an entry for each URL.
type cache struct {
	dir string
	// limit of the contents in bytes.
	limit int64
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (c cache) prepare() error {
	for _, dir := range []string{c.dir, filepath.Join(c.dir, "content"), filepath.Join(c.dir, "urls")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (c cache) path(digest string) string { return filepath.Join(c.dir, "content", digest) }

// entryPath is made from the whole URL, with its secrets, of which the hash shows nothing.
func (c cache) entryPath(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(c.dir, "urls", hex.EncodeToString(sum[:])+".json")
}

// lookup is what was fetched from the address, if it is there and whole.
func (c cache) lookup(address string) (entry, bool) {
	e, ok := c.read(address)
	return e, ok && c.has(e.SHA256)
}

// read is what is written of the address; its content may be gone.
func (c cache) read(address string) (entry, bool) {
	file, err := os.Open(c.entryPath(address))
	if err != nil {
		return entry{}, false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxEntry))
	if err != nil {
		return entry{}, false
	}
	e, err := parseEntry(data)
	return e, err == nil
}

func parseEntry(data []byte) (e entry, err error) {
	if err := json.Unmarshal(data, &e); err != nil {
		return entry{}, err
	}
	if !hexDigest.MatchString(e.SHA256) {
		return entry{}, fmt.Errorf("%q is not a SHA-256 digest", e.SHA256)
	}
	for _, d := range e.Manifests {
		if err := d.Validate(); err != nil {
			return entry{}, err
		}
	}
	return e, nil
}

// has looks whether the content of a digest is there, and removes it when it has been damaged.
func (c cache) has(digest string) bool {
	if !hexDigest.MatchString(digest) {
		return false
	}
	path := c.path(digest)
	found, err := Digest(path)
	if err != nil {
		return false
	}
	if found != digest {
		_ = os.Remove(path)
		return false
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // in use: see prune
	return true
}

// keep makes the temporary file the content of its digest.
func (c cache) keep(file *os.File, digest string) error {
	err := errors.Join(file.Chmod(0o500), file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), c.path(digest))
}

func (c cache) remember(address string, e entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(c.dir, ".entry-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails after the rename, as it should
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), c.entryPath(address))
}

// prune bounds the directory: the oldest URLs are forgotten, and contents that no URL names and no one has used
// for a day are removed. Beyond the limit, those go that were not used for the longest time, but none that is held or
// was used just now.
func (c cache) prune(held map[string]bool) {
	names, _ := filepath.Glob(filepath.Join(c.dir, "urls", "*.json"))
	slices.SortFunc(names, func(a, b string) int { return modified(b).Compare(modified(a)) })
	named := map[string]bool{}
	for i, name := range names {
		if i >= keptNames {
			_ = os.Remove(name)
			continue
		}
		if data, err := os.ReadFile(name); err == nil {
			if e, err := parseEntry(data); err == nil {
				named[e.SHA256] = true
			}
		}
	}
	old := time.Now().Add(-keptFor)
	contents, _ := filepath.Glob(filepath.Join(c.dir, "content", "*"))
	leftovers, _ := filepath.Glob(filepath.Join(c.dir, ".*-*"))
	for _, path := range append(contents, leftovers...) {
		if digest := filepath.Base(path); !named[digest] && !held[digest] && modified(path).Before(old) {
			_ = os.Remove(path)
		}
	}
	c.shrink(held)
}

func (c cache) shrink(held map[string]bool) {
	files, _ := os.ReadDir(filepath.Join(c.dir, "content"))
	var infos []os.FileInfo
	total := int64(0)
	for _, file := range files {
		if info, err := file.Info(); err == nil {
			infos = append(infos, info)
			total += info.Size()
		}
	}
	slices.SortFunc(infos, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	recent := time.Now().Add(-justUsed)
	for _, info := range infos {
		if total <= c.limit || info.ModTime().After(recent) {
			return
		}
		if !held[info.Name()] && os.Remove(c.path(info.Name())) == nil {
			total -= info.Size()
		}
	}
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Digest is the SHA-256 of a file in hexadecimal.
func Digest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
