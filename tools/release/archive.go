// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxArchive bounds an archive in bytes.
const maxArchive = 110_000_000

// listName is the file that lists the others; `pipedeck version --verify` reads it.
const listName = "release.json"

// listed is a file of a release, or a link.
type listed struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"`
	Link   string `json:"link,omitempty"`
	mode   fs.FileMode
	size   int64
}

// list returns what a release consists of, and adds the signed list of it.
func (r *release) list(t target, dir string) ([]listed, error) {
	var files []listed
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := look(dir, name, entry)
		files = append(files, file)
		return err
	})
	if err != nil {
		return nil, err
	}
	content, err := json.MarshalIndent(map[string]any{
		"version": r.version, "platform": t.String(), "files": files,
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{
		listName: content, listName + signatureSuffix: r.key.sign(content, "list of the files of a release"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return nil, err
		}
		files = append(files, listed{Path: name, mode: 0o444, size: int64(len(content))})
	}
	slices.SortFunc(files, func(a, b listed) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// look describes a file. Programs are those below bin.
func look(dir, name string, entry fs.DirEntry) (listed, error) {
	relative, err := filepath.Rel(dir, name)
	if err != nil {
		return listed{}, err
	}
	file := listed{Path: filepath.ToSlash(relative), mode: 0o444}
	if entry.Type()&fs.ModeSymlink != 0 {
		file.Link, err = os.Readlink(name)
		return file, err
	}
	if strings.HasPrefix(file.Path, "bin/") {
		file.mode = 0o555 // no one writes to it, so that environments link it
	}
	info, err := entry.Info()
	if err != nil {
		return listed{}, err
	}
	file.size = info.Size()
	file.SHA256, err = sha256Of(name)
	return file, err
}

// archive is one archive of the release.
type archive struct {
	target target
	name   string
	sha256 string
	size   int64
}

// archive writes the archive of a target.
func (r *release) archive(t target, dir string, files []listed) (archive, error) {
	made := archive{target: t, name: r.name(t) + ".tar.gz"}
	place := r.add(made.name)
	err := r.writeTar(place, func(out *tar.Writer) error {
		folders := map[string]bool{}
		for _, f := range files {
			if err := r.folders(out, r.name(t)+"/"+f.Path, folders); err != nil {
				return err
			}
			if err := r.entry(out, r.name(t)+"/"+f.Path, filepath.Join(dir, f.Path), f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return made, err
	}
	info, err := os.Stat(place)
	if err != nil {
		return made, err
	}
	made.size = info.Size()
	if made.size > maxArchive {
		return made, fmt.Errorf("%s has %d bytes, more than the %d of an archive", made.name, made.size, maxArchive)
	}
	made.sha256, err = sha256Of(place)
	return made, err
}

// writeTar writes a compressed archive, always with the same bytes for the same content.
func (r *release) writeTar(place string, fill func(*tar.Writer) error) (err error) {
	file, err := os.Create(place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	compressed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(compressed)
	if err := fill(out); err != nil {
		return err
	}
	return errors.Join(out.Close(), compressed.Close())
}

// folders writes the folders above a name that are not there yet.
func (r *release) folders(out *tar.Writer, name string, done map[string]bool) error {
	folder := path.Dir(name)
	if folder == "." || done[folder] {
		return nil
	}
	if err := r.folders(out, folder, done); err != nil {
		return err
	}
	done[folder] = true
	return out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: r.date,
		Format: tar.FormatUSTAR})
}

func (r *release) entry(out *tar.Writer, name, file string, f listed) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(f.mode), Size: f.size, ModTime: r.date,
		Format: tar.FormatUSTAR}
	if f.Link != "" {
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, f.Link, 0o777
		return out.WriteHeader(header)
	}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(out, in)
	return err
}
