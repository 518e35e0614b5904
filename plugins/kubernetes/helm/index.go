// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxWholeIndex bounds, in bytes, an index that has to be decoded as a whole: that takes many times its size in memory.
const maxWholeIndex = 8 << 20

// indexEntry is one version of a chart in the index of a repository.
type indexEntry struct {
	Version string   `yaml:"version"`
	URLs    []string `yaml:"urls"`
	Digest  string   `yaml:"digest"`
}

// choose picks the entry of a version.
func choose(entries []indexEntry, wanted string) (indexEntry, error) {
	versions := make([]string, len(entries))
	for i, e := range entries {
		versions[i] = e.Version
	}
	picked, err := pick(versions, wanted)
	if err != nil {
		return indexEntry{}, err
	}
	for _, e := range entries {
		if e.Version == picked {
			return e, nil
		}
	}
	return indexEntry{}, fmt.Errorf("there is no version %s of it", picked)
}

// chartEntries returns the entries of one chart. Indexes grow to tens of megabytes, so the chart's lines are cut out
// where they are written as Helm writes them, and only these are decoded.
func chartEntries(index []byte, name string) ([]indexEntry, error) {
	if lines, ok := cutEntry(index, name); ok {
		var found map[string][]indexEntry
		if err := yaml.Unmarshal(lines, &found); err == nil && len(found[name]) > 0 {
			return found[name], nil
		}
	}
	if len(index) > maxWholeIndex {
		return nil, fmt.Errorf("it has no chart %s, or is not written as helm repo index does", name)
	}
	var whole struct {
		Entries map[string][]indexEntry `yaml:"entries"`
	}
	if err := yaml.Unmarshal(index, &whole); err != nil {
		return nil, errors.New("it is not the index of a chart repository")
	}
	return whole.Entries[name], nil
}

// cutEntry finds "  name:" below "entries:" and takes the lines up to the next key that is as far to the left.
func cutEntry(index []byte, name string) ([]byte, bool) {
	in, indent := false, -1
	start := -1
	for at := 0; at < len(index); {
		end := bytes.IndexByte(index[at:], '\n')
		if end < 0 {
			end = len(index) - at
		}
		line := strings.TrimRight(string(index[at:at+end]), "\r ")
		text := strings.TrimLeft(line, " ")
		depth := len(line) - len(text)
		switch isKey := text != "" && text[0] != '#' && text[0] != '-'; {
		case !isKey:
		case !in:
			in = line == "entries:"
		case depth == 0:
			if start >= 0 {
				return index[start:at], true
			}
			return nil, false
		case indent < 0 || depth == indent:
			indent = depth
			if start >= 0 {
				return index[start:at], true
			}
			if text == name+":" {
				start = at
			}
		}
		at += end + 1
	}
	if start < 0 {
		return nil, false
	}
	return index[start:], true
}
