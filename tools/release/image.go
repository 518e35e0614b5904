// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// certificateFile is where Go programs look for certificates.
const certificateFile = "etc/ssl/certs/ca-certificates.crt"

// imageName is the image of piped, without its tag.
const imageName = "ghcr.io/pipedeck/piped"

// image writes an archive with the image of piped: certificates, piped and the bundled plugins, and nothing else. It is
// in the form that `docker load` and `kind load image-archive` read.
func (r *release) image(t target, dir string) error {
	certificates, err := r.layer(func(out *tar.Writer) error { return r.base(out) })
	if err != nil {
		return err
	}
	programs, err := r.layer(func(out *tar.Writer) error { return r.programs(out, filepath.Join(dir, "bin")) })
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, certificates, programs)
	if err != nil {
		return err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, v1.Time{Time: r.date}
	config.Config.Entrypoint = []string{"/bin/piped"}
	config.Config.User, config.Config.WorkingDir = "65532:65532", "/"
	config.Config.Env = []string{"PATH=/bin", "HOME=/tmp", "SSL_CERT_FILE=/" + certificateFile}
	config.Config.Labels = map[string]string{
		"org.opencontainers.image.version": r.version, "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.source": "https://github.com/pipedeck/pipedeck",
	}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return err
	}
	tag, err := name.NewTag(imageName + ":" + r.version)
	if err != nil {
		return err
	}
	file, err := os.Create(r.add("piped_" + r.version + "_" + t.os + "_" + t.arch + ".image.tar"))
	if err != nil {
		return err
	}
	return errors.Join(tarball.Write(tag, img, file), file.Close())
}

// layer makes a layer of what fill writes.
func (r *release) layer(fill func(*tar.Writer) error) (v1.Layer, error) {
	var content bytes.Buffer
	out := tar.NewWriter(&content)
	if err := errors.Join(fill(out), out.Close()); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content.Bytes())), nil
	})
}

// base writes the certificates of Mozilla's list, and a place for temporary files.
func (r *release) base(out *tar.Writer) error {
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue // whose limits a file of certificates cannot express
		}
		if err := pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return err
		}
	}
	for _, header := range []*tar.Header{
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "etc/ssl/", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "etc/ssl/certs/", Mode: 0o755},
		{Typeflag: tar.TypeReg, Name: certificateFile, Mode: 0o444, Size: int64(certificates.Len())},
	} {
		header.ModTime = r.date
		if err := out.WriteHeader(header); err != nil {
			return err
		}
	}
	_, err := out.Write(certificates.Bytes())
	return err
}

// programs writes piped and the plugins.
func (r *release) programs(out *tar.Writer, bin string) error {
	list := []listed{{Path: "bin/piped"}, {Path: "plugins/" + bundled}}
	for _, name := range pluginNames {
		list = append(list, listed{Path: "plugins/" + name, Link: bundled})
	}
	done := map[string]bool{}
	for _, f := range list {
		if err := r.folders(out, f.Path, done); err != nil {
			return err
		}
		file := filepath.Join(bin, f.Path[len(filepath.Dir(f.Path))+1:])
		if f.Path == "plugins/"+bundled {
			file = filepath.Join(bin, "plugins", bundled)
		}
		if f.mode = 0o555; f.Link == "" {
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			f.size = info.Size()
		}
		if err := r.entry(out, f.Path, file, f); err != nil {
			return err
		}
	}
	return nil
}
