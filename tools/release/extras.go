// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// chartFolder is the Helm chart of piped in the repository.
const chartFolder = "cmd/piped/chart"

//go:embed install.sh
var installerText string

//go:embed formula.rb
var formulaText string

// installer writes the installer, which knows the version, where to download from, and the key.
func (r *release) installer() error {
	return r.fill("install.sh", installerText, map[string]any{
		"Version": r.version, "URL": r.url, "Key": r.key.public,
	}, 0o755)
}

// formula writes the formula for Homebrew with the archives that were made.
func (r *release) formula(archives []archive) error {
	sums := map[string]map[string]string{}
	for _, a := range archives {
		sums[strings.ReplaceAll(a.target.String(), "/", "_")] = map[string]string{
			"URL": r.url + "/" + a.name, "SHA256": a.sha256,
		}
	}
	return r.fill("pipedeck.rb", formulaText, map[string]any{"Version": r.version, "Archives": sums}, 0o644)
}

// fill writes a file from a template. Its actions are between << and >>, which no shell and no formula needs so.
func (r *release) fill(name, text string, values map[string]any, mode fs.FileMode) error {
	parsed, err := template.New(name).Delims("<<", ">>").Option("missingkey=zero").Parse(text)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := parsed.Execute(&content, values); err != nil {
		return err
	}
	return os.WriteFile(r.add(name), content.Bytes(), mode)
}

// chart writes the Helm chart with the version of the release.
func (r *release) chart() error {
	source := filepath.Join(r.root, chartFolder)
	return r.writeTar(r.add("piped-"+r.version+".tgz"), func(out *tar.Writer) error {
		return filepath.WalkDir(source, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(source, name)
			if err != nil {
				return err
			}
			if relative == "Chart.yaml" {
				content = stamp(content, r.version)
			}
			if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "piped/" + filepath.ToSlash(relative),
				Mode: 0o644, Size: int64(len(content)), ModTime: r.date, Format: tar.FormatUSTAR}); err != nil {
				return err
			}
			_, err = out.Write(content)
			return err
		})
	})
}

// stamp sets the versions in Chart.yaml.
func stamp(content []byte, version string) []byte {
	var lines []string
	for line := range strings.Lines(string(content)) {
		for _, key := range []string{"version", "appVersion"} {
			if strings.HasPrefix(line, key+":") {
				line = fmt.Sprintf("%s: %q\n", key, version)
			}
		}
		lines = append(lines, line)
	}
	return []byte(strings.Join(lines, ""))
}
