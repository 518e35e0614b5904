// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// unreleased is the folder of changes that no release has.
const unreleased = "unreleased"

// release is the name of the folder of a release: its version and date.
var release = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)_(\d{4}-\d\d-\d\d)$`)

// kinds are the headings, in their order.
var kinds = []struct{ kind, heading string }{
	{"security", "Security"}, {"added", "Added"}, {"changed", "Changed"}, {"removed", "Removed"}, {"fixed", "Fixed"},
}

// entry is one file.
type entry struct {
	Kind string `yaml:"kind"`
	// Title is one line; Text says more, if needed. Both are Markdown.
	Title string `yaml:"title"`
	Text  string `yaml:"text"`
}

// write returns the whole changelog: unreleased changes first, then releases, the newest first.
func write(root fs.FS) (string, error) {
	folders, err := fs.ReadDir(root, ".")
	if err != nil {
		return "", err
	}
	var names []string
	for _, f := range folders {
		switch {
		case !f.IsDir():
		case f.Name() == unreleased || release.MatchString(f.Name()):
			names = append(names, f.Name())
		default:
			return "", fmt.Errorf("changelog/%s is neither %q nor VERSION_DATE", f.Name(), unreleased)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return compare(b, a) })
	var b strings.Builder
	b.WriteString("<!-- Generated from the entries in changelog by make generate. Do not edit. -->\n\n# Changes\n\n" +
		"What has changed for users, the newest release first. " +
		"[changelog/README.md](changelog/README.md) explains how to add an entry.\n")
	for _, name := range names {
		if err := writeRelease(&b, root, name); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// compare orders releases by version; what is unreleased is the newest.
func compare(a, b string) int {
	if a == unreleased || b == unreleased {
		return cmp.Compare(btoi(a == unreleased), btoi(b == unreleased))
	}
	va, vb := release.FindStringSubmatch(a), release.FindStringSubmatch(b)
	for i := 1; i <= 3; i++ {
		// Numbers without leading zeros: the longer one is greater.
		if c := cmp.Or(cmp.Compare(len(va[i]), len(vb[i])), cmp.Compare(va[i], vb[i])); c != 0 {
			return c
		}
	}
	return 0
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func writeRelease(b *strings.Builder, root fs.FS, name string) error {
	title := "Unreleased"
	if parts := release.FindStringSubmatch(name); parts != nil {
		title = fmt.Sprintf("%s.%s.%s (%s)", parts[1], parts[2], parts[3], parts[4])
	}
	fmt.Fprintf(b, "\n## %s\n", title)
	files, err := fs.Glob(root, path.Join(name, "*.yaml"))
	if err != nil {
		return err
	}
	byKind := map[string][]entry{}
	for _, file := range files {
		e, err := read(root, file)
		if err != nil {
			return fmt.Errorf("changelog/%s: %w", file, err)
		}
		byKind[e.Kind] = append(byKind[e.Kind], e)
	}
	for _, k := range kinds {
		if len(byKind[k.kind]) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n", k.heading)
		for _, e := range byKind[k.kind] {
			fmt.Fprintf(b, "- %s\n", e.Title)
			for line := range strings.Lines(e.Text) {
				b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
			}
		}
	}
	return nil
}

func read(root fs.FS, file string) (entry, error) {
	data, err := fs.ReadFile(root, file)
	if err != nil {
		return entry{}, err
	}
	var e entry
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&e); err != nil {
		return entry{}, err
	}
	known := slices.ContainsFunc(kinds, func(k struct{ kind, heading string }) bool { return k.kind == e.Kind })
	switch {
	case !known:
		return entry{}, fmt.Errorf("kind is %q; want security, added, changed, removed or fixed", e.Kind)
	case e.Title == "" || strings.Contains(e.Title, "\n"):
		return entry{}, fmt.Errorf("title must be one line")
	}
	return e, nil
}
