// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"log/slog"
	"maps"
	"strings"
)

// SealedMetadataPrefix begins the keys of metadata under which a value that holds secrets is kept sealed,
// next to its masked form: the plugin that put it gets it back as it was, also from the next piped, and
// no one else can read it. Plugins do not see these keys.
const SealedMetadataPrefix = "pipedeck/sealed/"

// Sealer closes values that hold secrets. The place is where a value belongs.
type Sealer interface {
	// Seal returns false for a value that holds none.
	Seal(value, place string) (sealed string, ok bool)
	Open(sealed, place string) (string, error)
}

// seals knows what of the metadata of one deployment is kept sealed at the control plane.
type seals struct {
	Sealer
	logger *slog.Logger
	kept   map[string]bool // by place; guarded by deployment.saving
}

// place is unique in all deployments: ids hold no line breaks.
func place(parts ...string) string { return strings.Join(parts, "\n") }

// open gives the metadata as the plugin put it. What cannot be opened stays masked.
func (s *seals) open(of string, values map[string]string) map[string]string {
	opened := maps.Clone(values)
	for key, sealed := range values {
		name, ok := strings.CutPrefix(key, SealedMetadataPrefix)
		if !ok {
			continue
		}
		delete(opened, key)
		if sealed == "" || s.Sealer == nil {
			continue
		}
		at := place(of, name)
		s.kept[at] = true
		value, err := s.Open(sealed, at)
		if err != nil {
			s.logger.Warn(
				"metadata that holds a secret cannot be opened; its plugin reads it masked", "key", name, "error", err,
			)
			continue
		}
		opened[name] = value
	}
	return opened
}

// close returns the metadata as the control plane gets it, which masks it on the way.
func (s *seals) close(of string, values map[string]string) map[string]string {
	if s.Sealer == nil {
		return values
	}
	closed := maps.Clone(values)
	for key, value := range values {
		at := place(of, key)
		sealed, ok := s.Seal(value, at)
		switch {
		case ok:
			closed[SealedMetadataPrefix+key] = sealed
			s.kept[at] = true
		case s.kept[at]:
			closed[SealedMetadataPrefix+key] = "" // metadata can be changed, not removed
		}
	}
	return closed
}
