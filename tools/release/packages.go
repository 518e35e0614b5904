// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers itself
)

// packageRoot is where packages put the files of the release; links in /usr/bin lead there.
const packageRoot = "/usr/lib/pipedeck"

// packages writes the packages for Debian and RPM.
func (r *release) packages(t target, dir string, list []listed) error {
	for _, format := range []string{"deb", "rpm"} {
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info := nfpm.WithDefaults(r.packageInfo(t, dir, list))
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return fmt.Errorf("prepare the %s package: %w", format, err)
		}
		file, err := os.Create(r.add(r.name(t) + "." + format))
		if err != nil {
			return err
		}
		if err := errors.Join(packager.Package(info, file), file.Close()); err != nil {
			return fmt.Errorf("write the %s package: %w", format, err)
		}
	}
	return nil
}

func (r *release) packageInfo(t target, dir string, list []listed) *nfpm.Info {
	info := &nfpm.Info{
		Name: "pipedeck", Arch: t.arch, Platform: "linux", Version: r.version, Section: "devel", Priority: "optional",
		Maintainer: "The pipedeck Authors <pipedeck@localhost>", License: "Apache-2.0",
		Homepage:    "https://github.com/pipedeck/pipedeck",
		Description: "Terminal UI and local development environment for piped, the agent of PipeCD, and its plugins",
		MTime:       r.date, DisableGlobbing: true,
	}
	info.RPM.BuildHost, info.RPM.Summary = "localhost", "Local development environment for piped and its plugins"
	info.RPM.Compression = "gzip:9"
	info.Deb.Compression = "gzip"
	add := func(c files.Content) { info.Contents = append(info.Contents, &c) }
	for _, f := range list {
		at := packageRoot + "/" + f.Path
		if f.Link != "" {
			add(files.Content{Source: f.Link, Destination: at, Type: files.TypeSymlink,
				FileInfo: &files.ContentFileInfo{MTime: r.date}})
			continue
		}
		add(files.Content{Source: filepath.Join(dir, f.Path), Destination: at,
			FileInfo: &files.ContentFileInfo{Mode: f.mode, MTime: r.date}})
	}
	for _, f := range list {
		if strings.HasPrefix(f.Path, manualFolder+"/") {
			add(files.Content{Source: "../../../lib/pipedeck/" + f.Path, Destination: "/usr/" + f.Path,
				Type: files.TypeSymlink, FileInfo: &files.ContentFileInfo{MTime: r.date}})
		}
	}
	for _, name := range []string{"pipedeck", "piped"} {
		add(files.Content{Source: "../lib/pipedeck/bin/" + name, Destination: "/usr/bin/" + name,
			Type: files.TypeSymlink, FileInfo: &files.ContentFileInfo{MTime: r.date}})
	}
	return info
}
