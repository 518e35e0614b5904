// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

const (
	// maxDownload and maxProgram bound an archive and the program in it, in bytes.
	maxDownload = 512 << 20
	maxProgram  = 1 << 30
	// downloadLimit bounds a download: a server that sends nothing must not hold a stage for ever.
	downloadLimit = 15 * time.Minute
	maxRedirects  = 10
)

// names are the programs in archives.
var names = []string{"tofu", "terraform"}

// Store keeps programs in a directory.
type Store struct {
	dir    string
	client *http.Client
	// downloads has one download at a time; the others find its result. Who waits for it can stop waiting.
	downloads chan struct{}
}

// NewStore returns the store in a directory, which it creates when it is needed.
func NewStore(dir string) *Store {
	return &Store{dir: dir, client: &http.Client{CheckRedirect: protected}, downloads: make(chan struct{}, 1)}
}

// protected refuses to leave https.
func protected(next *http.Request, before []*http.Request) error {
	if len(before) >= maxRedirects {
		return fmt.Errorf("the server redirects more than %d times", maxRedirects)
	}
	return config.CheckURL(next.URL)
}

// Get returns the path of a program, which it downloads once.
func (s *Store) Get(ctx context.Context, wanted config.Program) (string, error) {
	sum := strings.ToLower(wanted.SHA256)
	kept := filepath.Join(s.dir, sum)
	if found, err := inside(kept); err == nil {
		return found, nil // without waiting for the download of another program
	}
	select {
	case s.downloads <- struct{}{}:
		defer func() { <-s.downloads }()
	case <-ctx.Done():
		return "", fmt.Errorf("wait for another download: %w", context.Cause(ctx))
	}
	if found, err := inside(kept); err == nil {
		return found, nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", fmt.Errorf("create the folder of programs: %w", err)
	}
	work, err := os.MkdirTemp(s.dir, ".download-*")
	if err != nil {
		return "", fmt.Errorf("download a program: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := s.fill(ctx, work, wanted.URL, sum); err != nil {
		return "", fmt.Errorf("download version %s from %s: %w", wanted.Version, shown(wanted.URL), err)
	}
	if err := os.Rename(work, kept); err != nil {
		// Another process was faster.
		if found, missing := inside(kept); missing == nil {
			return found, nil
		}
		return "", fmt.Errorf("keep a program: %w", err)
	}
	return inside(kept)
}

// inside is the program in a folder.
func inside(dir string) (string, error) {
	for _, name := range names {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
	}
	return "", os.ErrNotExist
}

// fill downloads into a folder, which has the program alone then.
func (s *Store) fill(ctx context.Context, dir, from, sum string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadLimit)
	defer cancel()
	body, err := s.open(ctx, from)
	if err != nil {
		return err
	}
	defer body.Close()
	file := filepath.Join(dir, ".archive")
	have, err := save(file, body, 0o600, maxDownload)
	if err != nil {
		return err
	}
	if have != sum {
		return fmt.Errorf("its SHA-256 is %s, and the configuration has %s\nnext step: check the URL, and set "+
			"plugins[].config.programs[].sha256 to the sum that its publisher names", have, sum)
	}
	if strings.HasSuffix(from, ".zip") || isArchive(file) {
		if err := unpack(file, dir); err != nil {
			return err
		}
		return os.Remove(file)
	}
	if err := os.Chmod(file, 0o700); err != nil {
		return err
	}
	return os.Rename(file, filepath.Join(dir, names[0]))
}

// open is the content of a URL.
func (s *Store) open(ctx context.Context, from string) (io.ReadCloser, error) {
	address, err := url.Parse(from)
	if err != nil {
		return nil, errors.New("the URL cannot be read")
	}
	if address.Scheme == "file" {
		return os.Open(address.Path)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, errors.New("the URL cannot be read")
	}
	response, err := s.client.Do(request)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		err = failed.Err // without the URL, which may hold a secret
	}
	if err != nil {
		return nil, fmt.Errorf("%w\nnext step: check the network, or install the program and name it in "+
			"plugins[].config.binary", err)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("the server answers %s\nnext step: check plugins[].config.programs[].url",
			response.Status)
	}
	return response.Body, nil
}

// save writes at most limit bytes and returns their SHA-256.
func save(file string, from io.Reader, mode os.FileMode, limit int64) (string, error) {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(from, limit+1))
	if err := errors.Join(err, out.Close()); err != nil {
		return "", err
	}
	if n > limit {
		return "", fmt.Errorf("it is larger than %d MiB", limit>>20)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func isArchive(file string) bool {
	archive, err := zip.OpenReader(file)
	if err != nil {
		return false
	}
	return archive.Close() == nil
}

// unpack takes the program out of an archive; the licence and what else there is stay behind.
func unpack(file, dir string) error {
	archive, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("it is not a zip archive: %w", err)
	}
	defer func() { _ = archive.Close() }() // it was only read
	for _, entry := range archive.File {
		name := path.Base(entry.Name)
		if !slices.Contains(names, name) || !entry.Mode().IsRegular() {
			continue
		}
		content, err := entry.Open()
		if err != nil {
			return err
		}
		_, err = save(filepath.Join(dir, name), content, 0o700, maxProgram)
		return errors.Join(err, content.Close())
	}
	return fmt.Errorf("the archive has no %s", strings.Join(names, " or "))
}

// shown is a URL without what may be secret in it.
func shown(text string) string {
	address, err := url.Parse(text)
	if err != nil {
		return "a URL that cannot be read"
	}
	address.User, address.RawQuery, address.Fragment = nil, "", ""
	return address.String()
}
