// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginsource

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
)

const (
	// maxPacked bounds the files of a plugin that is packed, in bytes.
	maxPacked = 1 << 30
	// maxPackedFiles bounds their number.
	maxPackedFiles = 200_000
)

// ErrNoRecipe is why a directory cannot be packed: it does not say how the plugin in it is run.
var ErrNoRecipe = errors.New(config.KindPluginFile + " has no run")

// Pack builds the plugin of a directory and makes program of it: one file that any piped can fetch and run, with all
// that is in the directory, modules of package managers included. Left out are the file with the recipe, which can hold
// a configuration, and names in the directory that begin with a dot, but for .venv. The program unpacks itself into the
// cache of its user once. The same files give the same program.
func Pack(ctx context.Context, dir, program string) (err error) {
	r, err := readRecipe(dir)
	if err != nil {
		return err
	}
	if r == nil {
		return fmt.Errorf("%s: %w", dir, ErrNoRecipe)
	}
	if err := r.compile(ctx, dir); err != nil {
		return err
	}
	packed, err := os.CreateTemp(filepath.Dir(program), ".packed-")
	if err != nil {
		return fmt.Errorf("pack the plugin: %w", err)
	}
	defer func() { err = errors.Join(err, packed.Close(), os.Remove(packed.Name())) }()
	sum := sha256.New()
	if err := writeFiles(ctx, io.MultiWriter(packed, sum), dir); err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	if _, err := packed.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("pack the plugin: %w", err)
	}
	return r.writePacked(program, dir, sum.Sum(nil), packed)
}

// writePacked replaces program by a script with an archive behind it.
func (r *recipe) writePacked(program, dir string, digest []byte, archive io.Reader) (err error) {
	next := program + ".new"
	out, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755) //nolint:gosec // it is run
	if err != nil {
		return fmt.Errorf("write the program of the plugin: %w", err)
	}
	head, err := r.unpacker(dir, digest)
	if err == nil {
		_, err = io.Copy(out, io.MultiReader(bytes.NewReader(head), archive))
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return errors.Join(fmt.Errorf("write the program of the plugin: %w", err), os.Remove(next))
	}
	return os.Rename(next, program)
}

// unpackerText begins a packed program. The directory is that of this content; it appears whole, by a link to it. Of
// processes that unpack at the same time, one makes the link, and the others remove their copies. The shell gives its
// place to the plugin, so that signals and open files reach that.
var unpackerText = template.Must(template.New("").Parse(`#!/bin/sh
# A plugin of piped, packed by pipedeck: this script, then a tar.gz of the plugin's directory.
{{with .Link}}# {{.}}
{{end}}set -eu
base=${XDG_CACHE_HOME:-${HOME:-${TMPDIR:-/tmp}}/.cache}/piped/unpacked
dir=$base/{{.Digest}}
if [ ! -e "$dir" ]; then
  (
    umask 077
    mkdir -p "$base"
    new=$(mktemp -d "$dir.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    tail -c +{{.Offset}} "$0" | tar -xzf - -C "$new"
    if [ -L "$dir" ] && [ ! -e "$dir" ]; then rm -f "$dir"; fi # its directory was removed
    if ln -sn "${new##*/}" "$dir" 2>/dev/null; then trap - EXIT; fi
  )
fi
if [ ! -O "$dir" ]; then
  echo "$dir belongs to another user; set XDG_CACHE_HOME to a directory of this one" >&2
  exit 1
fi
cd "$dir"
exec {{.Run}} "$@"
exit 1
`))

// unpacker is the script before the archive. Its own length is in it.
func (r *recipe) unpacker(dir string, digest []byte) ([]byte, error) {
	words := make([]string, len(r.run))
	for i, word := range r.run {
		words[i] = quote(word)
	}
	filled := struct{ Link, Digest, Offset, Run string }{
		Digest: fmt.Sprintf("%x", digest), Run: strings.Join(words, " "),
	}
	if usesLink(dir, r.run[0]) {
		filled.Link = config.PluginLinkVariable // piped looks for it
	}
	const width = 6 // of the number, so that its length does not depend on it
	var script bytes.Buffer
	for filled.Offset = strings.Repeat("0", width); ; {
		script.Reset()
		if err := unpackerText.Execute(&script, filled); err != nil {
			return nil, err
		}
		offset := fmt.Sprintf("%0*d", width, script.Len()+1)
		if offset == filled.Offset {
			return script.Bytes(), nil
		}
		if len(offset) > width {
			return nil, fmt.Errorf("the command that runs the plugin has more than %d bytes", script.Len())
		}
		filled.Offset = offset
	}
}

// writeFiles writes the directory of a plugin as a tar.gz.
func writeFiles(ctx context.Context, to io.Writer, dir string) error {
	compressed := gzip.NewWriter(to)
	archive := tar.NewWriter(compressed)
	files, left := 0, int64(maxPacked)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name == ".":
			return nil
		case staysHere(name) && entry.IsDir():
			return fs.SkipDir
		case staysHere(name):
			return nil
		}
		if files++; files > maxPackedFiles {
			return fmt.Errorf("it has more than %d files", maxPackedFiles)
		}
		written, err := addFile(archive, dir, name, left)
		if left -= written; err == nil && left < 0 {
			err = fmt.Errorf("its files have more than %d MiB", maxPacked>>20)
		}
		return err
	})
	return errors.Join(err, archive.Close(), compressed.Close())
}

// staysHere reports whether a name in the directory of a plugin is about the work on it.
func staysHere(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return name == config.KindPluginFile || strings.HasPrefix(first, ".") && first != ".venv"
}

// addFile adds a directory, a file of at most limit bytes or a symbolic link; other files are left out.
func addFile(archive *tar.Writer, dir, name string, limit int64) (written int64, err error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	link := ""
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if link, err = os.Readlink(path); err != nil {
			return 0, err
		}
	case !info.Mode().IsRegular() && !info.IsDir():
		return 0, nil
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return 0, err
	}
	// What is not of the content would make another program of it.
	header = &tar.Header{
		Typeflag: header.Typeflag, Name: name, Linkname: link, Size: header.Size, ModTime: time.Unix(0, 0),
		Mode: int64(info.Mode().Perm() | 0o600),
	}
	if info.IsDir() {
		header.Name += "/"
		header.Mode |= 0o100
	}
	if err := archive.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return 0, err
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.Copy(archive, io.LimitReader(file, min(info.Size(), limit+1)))
}
