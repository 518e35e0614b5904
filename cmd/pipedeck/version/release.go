// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"aead.dev/minisign"
)

// ReleaseFile lists the files of a release, and lies at the top of its directory. SignatureSuffix ends the names of
// signatures.
const (
	ReleaseFile     = "release.json"
	SignatureSuffix = ".minisig"
)

const (
	// maxList bounds the list and its signature in bytes, maxFiles the files that it names.
	maxList  = 1 << 20
	maxFiles = 1000
)

// publicKey is the key that the release was signed with, as minisign writes it. The linker sets it:
// -X github.com/pipedeck/pipedeck/cmd/pipedeck/version.publicKey=KEY.
var publicKey = ""

// PublicKey returns the key of the release that this program is of; empty for a program that was built from sources.
func PublicKey() string { return publicKey }

// ErrNoRelease says that a directory holds no release.
var ErrNoRelease = errors.New("it is not an installed release: there is no " + ReleaseFile)

// Release is the content of ReleaseFile.
type Release struct {
	Version string `json:"version"`
	// Platform is OS/ARCHITECTURE in Go's words.
	Platform string         `json:"platform"`
	Files    []ReleasedFile `json:"files"`
}

// ReleasedFile is one file of a release, or a link.
type ReleasedFile struct {
	// Path is slash-separated and relative to the directory of the release.
	Path string `json:"path"`
	// SHA256 of the content in hexadecimal; empty for a link.
	SHA256 string `json:"sha256,omitempty"`
	// Link is where a link leads.
	Link string `json:"link,omitempty"`
}

// FindRelease returns the directory of the release that a program belongs to. The error is ErrNoRelease when it belongs
// to none.
func FindRelease(program string) (string, error) {
	// The programs lie in bin.
	dir := filepath.Dir(filepath.Dir(program))
	if _, err := os.Lstat(filepath.Join(dir, ReleaseFile)); err != nil {
		return "", ErrNoRelease
	}
	return dir, nil
}

// VerifyRelease checks that the directory holds what its release consists of, that nothing is between its programs that
// does not belong to it, and that the list of its files is signed by the key. It returns the list.
func VerifyRelease(dir, key string) (*Release, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list, err := read(root, ReleaseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoRelease
	}
	if err != nil {
		return nil, err
	}
	signature, err := read(root, ReleaseFile+SignatureSuffix)
	if err != nil {
		return nil, fmt.Errorf("read the signature of the release: %w", err)
	}
	public, err := parseKey(key)
	if err != nil {
		return nil, err
	}
	if !minisign.Verify(public, list, signature) {
		return nil, fmt.Errorf("%s is not signed by the key %s", ReleaseFile, key)
	}
	var release Release
	if err := json.Unmarshal(list, &release); err != nil {
		return nil, fmt.Errorf("read %s: %w", ReleaseFile, err)
	}
	if len(release.Files) == 0 || len(release.Files) > maxFiles {
		return nil, fmt.Errorf("%s lists %d files", ReleaseFile, len(release.Files))
	}
	var problems []error
	for _, file := range release.Files {
		if err := file.verify(root); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", file.Path, err))
		}
	}
	problems = append(problems, release.strangers(root))
	return &release, errors.Join(problems...)
}

// VerifyFile checks the signature of a file, which lies next to it.
func VerifyFile(path, key string) error {
	signature, err := os.ReadFile(path + SignatureSuffix)
	if err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	public, err := parseKey(key)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader := minisign.NewReader(file)
	if _, err := io.Copy(io.Discard, reader); err != nil {
		return err
	}
	if !reader.Verify(public, signature) {
		return fmt.Errorf("%s is not the file that was signed by the key %s", path, key)
	}
	return nil
}

func parseKey(key string) (minisign.PublicKey, error) {
	var public minisign.PublicKey
	if err := public.UnmarshalText([]byte(key)); err != nil {
		return public, fmt.Errorf("%q is not a public key of minisign: %w", key, err)
	}
	return public, nil
}

// read returns a short file of the directory.
func read(root *os.Root, name string) ([]byte, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxList+1))
	if err == nil && len(data) > maxList {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxList)
	}
	return data, err
}

func (f ReleasedFile) verify(root *os.Root) error {
	info, err := root.Lstat(filepath.FromSlash(f.Path))
	if err != nil {
		return errors.New("it is missing")
	}
	if f.Link != "" {
		if to, err := root.Readlink(filepath.FromSlash(f.Path)); err != nil || to != f.Link {
			return fmt.Errorf("it is not a link to %s", f.Link)
		}
		return nil
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	file, err := root.Open(filepath.FromSlash(f.Path))
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if found := hex.EncodeToString(sum.Sum(nil)); found != f.SHA256 {
		return fmt.Errorf("it was changed: its SHA-256 is %s, and %s was released", found, f.SHA256)
	}
	return nil
}

// strangers names what lies between the programs of a release and does not belong to it: pipedeck starts what lies
// there.
func (r *Release) strangers(root *os.Root) error {
	var problems []error
	err := fs.WalkDir(root.FS(), "bin", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !slices.ContainsFunc(r.Files, func(f ReleasedFile) bool { return f.Path == name }) {
			problems = append(problems, fmt.Errorf("%s: it does not belong to the release", name))
		}
		return nil
	})
	return errors.Join(append(problems, err)...)
}
