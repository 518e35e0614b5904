// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"slices"
)

// tarOf writes the files in the order of their names, and links after all files. Times and owners are left out.
func tarOf(files *collected) ([]byte, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for _, name := range slices.Sorted(maps.Keys(files.content)) {
		content := files.content[name]
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o644}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files.links)) {
		header := &tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: files.links[name], Mode: 0o644}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return buffer.Bytes(), err
}

// digestOf names the content of an archive. It stands in the header of the compressed file, because compressing takes
// longer than all the rest of a build in which nothing has changed.
func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// holds reports whether a file is an archive with this digest.
func holds(path, digest string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	return err == nil && compressed.Comment == digest
}

func compress(content []byte, digest string) ([]byte, error) {
	var packed bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	compressed.Comment = digest
	if _, err := compressed.Write(content); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return packed.Bytes(), err
}
