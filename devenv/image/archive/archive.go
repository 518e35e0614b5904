// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const (
	programPath = "app"
	// user is no one in particular; a number, so that runAsNonRoot can be checked.
	user = "65532:65532"
)

// epoch is every timestamp in an image.
var epoch = time.Unix(0, 0).UTC()

// Writer writes archives. Its zero value can be used, by several goroutines.
type Writer struct{}

// Write writes the image of a program for an operating system and an architecture, under references, to path, which
// must not exist. It returns the size in bytes.
func (Writer) Write(_ context.Context, program, system, architecture string, references []string, path string) (
	size int64, err error) {
	img, err := assemble(program, system, architecture)
	if err != nil {
		return 0, fmt.Errorf("assemble the image: %w", err)
	}
	return writeFile(img, references, path)
}

// Rename writes the image of the archive from, under other references, to path, as Write does.
func (Writer) Rename(_ context.Context, from string, references []string, path string) (size int64, err error) {
	img, err := tarball.ImageFromPath(from, nil)
	if err != nil {
		return 0, err
	}
	return writeFile(img, references, path)
}

func writeFile(img v1.Image, references []string, path string) (size int64, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	err = writeArchive(file, img, references)
	info, statErr := file.Stat()
	if err = errors.Join(err, statErr, file.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// assemble makes the image of a program.
func assemble(program, system, architecture string) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return layerOf(program) })
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	cfg = cfg.DeepCopy()
	cfg.OS, cfg.Architecture, cfg.Created = system, architecture, v1.Time{Time: epoch}
	cfg.Config.Entrypoint = []string{"/" + programPath}
	cfg.Config.User, cfg.Config.WorkingDir = user, "/"
	return mutate.ConfigFile(img, cfg)
}

// layerOf streams the file system of an image: the program, and a place for temporary files.
func layerOf(program string) (io.ReadCloser, error) {
	file, err := os.Open(program)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	read, write := io.Pipe()
	go func() {
		defer file.Close()
		out := tar.NewWriter(write)
		write.CloseWithError(func() error {
			for _, h := range []*tar.Header{
				{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777, ModTime: epoch},
				{Typeflag: tar.TypeReg, Name: programPath, Mode: 0o555, Size: info.Size(), ModTime: epoch},
			} {
				if err := out.WriteHeader(h); err != nil {
					return err
				}
			}
			if _, err := io.Copy(out, file); err != nil {
				return err
			}
			return out.Close()
		}())
	}()
	return read, nil
}

// writeArchive writes an image in the format of `docker save`, under references. (The library's
// own writer puts several references of an image in an order that changes.)
func writeArchive(w io.Writer, img v1.Image, references []string) error {
	config, err := img.RawConfigFile()
	if err != nil {
		return err
	}
	configName, err := img.ConfigName()
	if err != nil {
		return err
	}
	described := tarball.Descriptor{Config: configName.String()}
	for _, reference := range references {
		tag, err := name.NewTag(reference)
		if err != nil {
			return fmt.Errorf("name the image: %w", err)
		}
		described.RepoTags = append(described.RepoTags, tag.Name())
	}
	out := tar.NewWriter(w)
	if err := writeEntry(out, described.Config, config); err != nil {
		return err
	}
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		file, err := writeLayer(out, layer)
		if err != nil {
			return err
		}
		described.Layers = append(described.Layers, file)
	}
	manifest, err := json.Marshal(tarball.Manifest{described})
	if err != nil {
		return err
	}
	if err := writeEntry(out, "manifest.json", manifest); err != nil {
		return err
	}
	return out.Close()
}

func writeLayer(out *tar.Writer, layer v1.Layer) (file string, err error) {
	digest, err := layer.Digest()
	if err != nil {
		return "", err
	}
	size, err := layer.Size()
	if err != nil {
		return "", err
	}
	content, err := layer.Compressed()
	if err != nil {
		return "", err
	}
	defer content.Close()
	file = digest.Hex + ".tar.gz"
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: file, Mode: 0o644, Size: size,
		ModTime: epoch}); err != nil {
		return "", err
	}
	_, err = io.Copy(out, content)
	return file, err
}

func writeEntry(out *tar.Writer, file string, content []byte) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: file, Mode: 0o644, Size: int64(len(content)), ModTime: epoch}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err := out.Write(content)
	return err
}
