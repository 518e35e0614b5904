// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package index

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/semver"

	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/yamlplace"
)

// MaxSize of an index in bytes.
const MaxSize = 4 << 20

// formatVersion is the only one there is.
const formatVersion = 1

// Index is the content of an index file. Unknown keys are ignored.
type Index struct {
	// FormatVersion is 1, also when the file does not have it.
	FormatVersion int `yaml:"formatVersion" json:"formatVersion,omitempty"`
	// Plugins by name.
	Plugins map[string]Plugin `yaml:"plugins" json:"plugins"`
}

// Plugin is one plugin of an index.
type Plugin struct {
	// Description is one line for people.
	Description string `yaml:"description" json:"description,omitempty"`
	// Versions by their names, such as v1.2.0.
	Versions map[string]Version `yaml:"versions" json:"versions"`
}

// Version has a binary for each platform ("linux/amd64").
type Version map[string]Binary

// Binary is where a binary is, and which one it is.
type Binary struct {
	// URL is absolute, or relative to that of the index.
	URL string `yaml:"url" json:"url" config:"required"`
	// SHA256 of the binary in hexadecimal.
	SHA256 string `yaml:"sha256" json:"sha256" config:"required"`
	// Signature is the URL of its signature, absolute or relative; empty for the usual place.
	Signature string `yaml:"signature" json:"signature,omitempty"`
}

var digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Parse reads an index in YAML or JSON and checks all of it.
func Parse(data []byte) (*Index, error) {
	if len(data) > MaxSize {
		return nil, wrong("split it", "the index is larger than %d MiB", MaxSize>>20)
	}
	read := &Index{FormatVersion: formatVersion}
	if err := yaml.Unmarshal(data, read); err != nil {
		return nil, wrong(askAuthor, "the index cannot be read: %w", yamlplace.Error(data, err))
	}
	if read.FormatVersion != formatVersion {
		return nil, wrong(
			"use a newer piped, or an index of that version",
			"the index has the version %d of its format, and %d is read", read.FormatVersion, formatVersion,
		)
	}
	for name, plugin := range read.Plugins {
		if !config.IsPluginName(name) {
			return nil, wrong(askAuthor, "the index has a plugin with the name %q, which cannot be one", shorten(name))
		}
		for version, binaries := range plugin.Versions {
			if !config.IsPluginVersion(version) {
				return nil, wrong(
					askAuthor, "the index has a version %q of %s, which cannot be one", shorten(version), name,
				)
			}
			for platform, binary := range binaries {
				if key, err := binary.check(); err != nil {
					failed := wrong(
						askAuthor, "the index is wrong about %s@%s for %q: %w", name, version, shorten(platform), err,
					)
					failed.Path = []string{"plugins", name, "versions", version, platform, key}
					return nil, failed
				}
			}
		}
	}
	return read, nil
}

const askAuthor = "correct the index, or report it to its author"

// check returns what is wrong, and the key that it is about.
func (b Binary) check() (key string, err error) {
	if !digestPattern.MatchString(b.SHA256) {
		return "sha256", fmt.Errorf("the sha256 %q is not 64 digits 0-9a-f", shorten(b.SHA256))
	}
	if b.URL == "" {
		return "url", errors.New("it has no url")
	}
	if _, err := url.Parse(b.URL); err != nil {
		return "url", errors.New("its url cannot be read")
	}
	if _, err := url.Parse(b.Signature); err != nil {
		return "signature", errors.New("its url cannot be read")
	}
	return "", nil
}

// Reference is the name of a plugin in an index, with or without a version.
type Reference struct{ Name, Version string }

// ParseReference reads NAME or NAME@VERSION; ok is false for everything else, such as a URL.
func ParseReference(text string) (r Reference, ok bool) {
	r.Name, r.Version, ok = config.PluginReference(text)
	return r, ok
}

func (r Reference) String() string {
	if r.Version == "" {
		return r.Name
	}
	return r.Name + "@" + r.Version
}

// canonical is a version as package semver compares it; empty for one that is no semantic version.
func canonical(version string) string {
	return semver.Canonical("v" + strings.TrimPrefix(version, "v"))
}

// shorten clips what an error repeats of a text that another wrote.
func shorten(text string) string { return clip.Characters(text, 80) }
