// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/system/owned"
)

// binary is a plugin's program on this machine.
type binary struct {
	path string
	// linked is set when it can talk to piped over a link.
	linked bool
	// hash is the SHA-256 of the content, in hexadecimal.
	hash string
	// built is when the file was written that the content was copied from; zero for one of another machine.
	built time.Time
}

// binaries brings the program of a plugin to this machine.
type binaries struct {
	config config.Plugin
	// dir keeps the copies, index is where a url that is a name is looked up.
	dir, index string
	fetcher    *fetch.Fetcher
	condition  *condition
	logger     *slog.Logger
	// scanned is the binary that was read last; nil for none.
	scanned atomic.Pointer[scanned]
}

func newBinaries(
	c config.Plugin, options *Options, fetcher *fetch.Fetcher, condition *condition, logger *slog.Logger,
) *binaries {
	return &binaries{
		config: c, dir: options.BinaryDir, index: options.PluginIndex, fetcher: fetcher, condition: condition,
		logger: logger,
	}
}

// fetch copies the binary that the plugin's url names into the directory for binaries and returns the
// copy, after a download where the url leads to another machine. Copies are named by their content, so that a
// changed file is a changed plugin (PipeCD v1 caches by plugin name and keeps running the old one), and a file
// that is replaced while it runs does no harm.
func (s *binaries) fetch(ctx context.Context) (binary, error) {
	if programOf(s.config.URL) == "" {
		s.condition.setFetching(true)
		defer s.condition.setFetching(false)
	}
	wanted, err := s.fetcher.Resolve(ctx, s.index, s.config)
	if err != nil {
		return binary{}, err
	}
	b, note, err := s.copy(ctx, wanted.Plugin)
	if err != nil {
		return b, err
	}
	if wanted.Stale != nil && note == "" {
		note = fmt.Sprintf(
			"its version is from the plugin index as it was fetched before, because its url cannot be reached: %s",
			wanted.Stale,
		)
	}
	verified, err := s.fetcher.Verify(ctx, wanted.Plugin, b.path) // the copy: no one but this user changes it
	if err != nil {
		_ = os.Remove(b.path) // the copy may have been damaged: the next start copies it again
	}
	if verified.Warning != nil {
		note = fmt.Sprintf("it is not signed as it should be: %s", verified.Warning)
	}
	s.condition.setNote(note)
	return b, err
}

// copy returns a note for users about the binary, too.
func (s *binaries) copy(ctx context.Context, wanted config.Plugin) (_ binary, note string, err error) {
	plugin, address := wanted.Name, wanted.URL
	if fetch.Remote(address) {
		return s.download(ctx, wanted)
	}
	u, err := url.Parse(address)
	if err != nil {
		return binary{}, "", fmt.Errorf("the url %q of plugin %q cannot be read: %w", address, plugin, err)
	}
	if u.Scheme != "file" {
		return binary{}, "", fmt.Errorf(
			"the url %q of plugin %q has no known scheme: give it as file:///path, https:// or oci://",
			address,
			plugin,
		)
	}
	b, err := s.local(plugin, u.Path)
	return b, "", err
}

// download fetches the binary, unless it is here and its server has no other.
func (s *binaries) download(ctx context.Context, wanted config.Plugin) (_ binary, note string, err error) {
	request := fetch.RequestOf(wanted)
	request.Progress = s.condition.downloading
	file, err := s.fetcher.Fetch(ctx, request)
	if err != nil {
		return binary{}, "", err
	}
	if file.Stale != nil {
		note = fmt.Sprintf("it runs as it was fetched before, because its url cannot be reached: %s", file.Stale)
	}
	b, err := s.store(wanted.Name, file.Path)
	b.built = time.Time{} // it was fetched then, and built at another time
	return b, note, err
}

// downloadDetail takes bytes; total is -1 when the server does not say it.
func downloadDetail(done, total int64) string {
	unit, name := int64(1<<20), "MiB"
	if max(done, total) < 10<<20 {
		unit, name = 1<<10, "KiB"
	}
	if total <= 0 {
		return fmt.Sprintf("downloading: %d %s", done/unit, name)
	}
	return fmt.Sprintf("downloading: %d of %d %s (%d %%)", done/unit, total/unit, name, done*100/total)
}

func (s *binaries) local(plugin, source string) (binary, error) {
	info, err := os.Stat(source)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return binary{}, fmt.Errorf("the binary of plugin %q is missing: there is no file %s; "+
			"build it, or correct the url of the plugin", plugin, source)
	case err != nil:
		return binary{}, fmt.Errorf("look at the binary of plugin %q: %w", plugin, err)
	case !info.Mode().IsRegular():
		return binary{}, fmt.Errorf("the binary of plugin %q is not a file: %s", plugin, source)
	case info.Mode().Perm()&0o111 == 0:
		return binary{}, fmt.Errorf("the binary of plugin %q is not executable: run chmod +x %s", plugin, source)
	}
	return s.store(plugin, source)
}

// store copies source to <dir>/<plugin>-<hash> unless it is there already, with the same content. The name is made from
// what was copied: a compiler may be writing the source at the same time. replaced says that a file of that name was
// there which did not have this content.
func store(dir, plugin, source string) (b binary, replaced bool, err error) {
	in, err := os.Open(source)
	if err != nil {
		return binary{}, false, fmt.Errorf("read the binary of plugin %q: %w", plugin, err)
	}
	defer in.Close()
	defer func() { b.built = written(in) }()
	name := fileName(plugin)
	read, _ := identify(source)
	stored, err := scan(in, io.Discard, filepath.Join(dir, name))
	if err != nil {
		return binary{}, false, fmt.Errorf("read the binary of plugin %q: %w", plugin, err)
	}
	if stored.whole() {
		return stored, false, nil
	}
	// One copy at a time, so that plugins of one program find the copy of the first one.
	unlock, err := lockDirectory(dir)
	if err != nil {
		return binary{}, false, fmt.Errorf("copy the binary of plugin %q to %s: %w", plugin, dir, err)
	}
	defer unlock()
	_, err = os.Lstat(stored.path)
	replaced = err == nil
	if share(source, read, dir, stored) {
		removeOlder(dir, name, stored.path)
		return stored, replaced, nil
	}
	if stored, err = copyAtomically(in, dir, name); err != nil {
		return binary{}, false, fmt.Errorf("copy the binary of plugin %q to %s: %w", plugin, dir, err)
	}
	removeOlder(dir, name, stored.path)
	return stored, replaced, nil
}

// whole reads the copy and returns whether it is this user's and has the content that it is named for: the disk may
// have damaged it, and someone may have put another program there.
func (b binary) whole() bool {
	before, err := os.Lstat(b.path)
	if err != nil || owned.Check(b.path, before, false) != nil {
		return false
	}
	open := owned.OpenFile // which takes nothing away but permissions of others
	if readOnly(before) {
		open = openUnchanged // it may be the file of an installation, which others use, too
	}
	file, err := open(b.path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Mode().Perm()&0o100 == 0 {
		return false
	}
	found, err := scan(file, io.Discard, "")
	return err == nil && found.hash == b.hash
}

// scan reads a program once, for its hash and for what it can do, while it is copied to out. The path begins
// with prefix.
func scan(in io.Reader, out io.Writer, prefix string) (binary, error) {
	hash, marker := sha256.New(), &markerWriter{marker: []byte(linkVariable)}
	_, err := io.CopyBuffer(io.MultiWriter(hash, marker, out), onlyReader{in}, make([]byte, 1<<20))
	sum := hex.EncodeToString(hash.Sum(nil))
	return binary{path: prefix + "-" + sum[:16], linked: marker.found, hash: sum}, err
}

// onlyReader keeps io.CopyBuffer from avoiding its buffer.
type onlyReader struct{ io.Reader }

func copyAtomically(in io.ReadSeeker, dir, name string) (binary, error) {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return binary{}, err
	}
	// A process forked meanwhile would inherit the open file, and a file open for writing cannot be
	// executed ("text file busy").
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.CreateTemp(dir, ".fetch-*")
	if err != nil {
		return binary{}, err
	}
	defer os.Remove(out.Name()) // fails after the rename, as it should
	stored, err := scan(in, out, filepath.Join(dir, name))
	err = errors.Join(err, out.Chmod(0o700), out.Close())
	if err != nil {
		return binary{}, err
	}
	if info, err := os.Lstat(stored.path); err == nil && info.IsDir() {
		_ = os.Remove(stored.path) // a file can take the place of anything else
	}
	return stored, os.Rename(out.Name(), stored.path)
}

// fileName makes the name of a plugin fit for a file: PipeCD v1 has no rule for names.
func fileName(plugin string) string { return url.PathEscape(plugin) }

// keptBinaries bounds the copies of one plugin: an author rebuilds it hundreds of times.
const keptBinaries = 3

// removeOlder deletes the oldest copies of a plugin; a running process keeps its deleted file.
func removeOlder(dir, plugin, newest string) {
	copies, _ := filepath.Glob(filepath.Join(dir, plugin+"-????????????????")) // the length of the hash
	slices.SortFunc(copies, func(a, b string) int { return modified(a).Compare(modified(b)) })
	for excess := len(copies) - keptBinaries; excess > 0; excess-- {
		if oldest := copies[0]; oldest != newest {
			_ = os.Remove(oldest)
		}
		copies = copies[1:]
	}
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
