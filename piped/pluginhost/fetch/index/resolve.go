// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package index

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/pipedeck/pipedeck/system/spelling"
)

// listed bounds how many names an error lists.
const listed = 20

// Error says why an index does not have what was asked for.
type Error struct {
	// Err is what is wrong, Step what a user can do.
	Err  error
	Step string
	// Path are the keys that lead to what is wrong with an index; empty for all of it.
	Path []string
}

func (e *Error) Error() string { return fmt.Sprintf("%s; %s", e.Err, e.Step) }

func (e *Error) Unwrap() error { return e.Err }

func wrong(step, format string, args ...any) *Error {
	return &Error{Err: fmt.Errorf(format, args...), Step: step}
}

// Resolve finds the binary for a platform ("linux/amd64"). A reference without a version means the newest stable one.
func (x *Index) Resolve(r Reference, platform string) (string, Binary, error) {
	plugin, version, err := x.lookUp(r)
	if err != nil {
		return "", Binary{}, err
	}
	binary, ok := plugin.Versions[version][platform]
	if !ok {
		return "", Binary{}, wrong(
			"ask its author for this platform, choose another version, or build it and use file://",
			"%s@%s is not there for %s, only for: %s",
			r.Name,
			version,
			platform,
			list(
				plugin.Versions[version].Platforms(),
			),
		)
	}
	return version, binary, nil
}

// Find is a plugin with all its versions, or with the one of the reference alone.
func (x *Index) Find(r Reference) (Plugin, error) {
	if plugin, ok := x.Plugins[r.Name]; ok && r.Version == "" {
		return plugin, nil
	}
	plugin, version, err := x.lookUp(r)
	if err != nil {
		return Plugin{}, err
	}
	plugin.Versions = map[string]Version{version: plugin.Versions[version]}
	return plugin, nil
}

// lookUp finds the plugin, and its version as the index writes it.
func (x *Index) lookUp(r Reference) (plugin Plugin, version string, err error) {
	plugin, ok := x.Plugins[r.Name]
	if !ok {
		names := slices.Sorted(maps.Keys(x.Plugins))
		near := ""
		if name := spelling.Nearest(r.Name, names); name != "" {
			near = "; did you mean " + name + "?"
		}
		return Plugin{}, "", wrong(
			"correct the name", "the index has no plugin %q%s (it has: %s)", r.Name, near, list(names),
		)
	}
	if version, ok = plugin.find(r.Version); !ok {
		step := "name one of them: " + r.Name + "@VERSION"
		if r.Version == "" {
			return Plugin{}, "", wrong(
				step, "the index has no stable version of %s (it has: %s)", r.Name, list(plugin.Sorted()),
			)
		}
		return Plugin{}, "", wrong(
			step, "the index has no version %s of %s (it has: %s)", r.Version, r.Name, list(plugin.Sorted()),
		)
	}
	return plugin, version, nil
}

// find is the version as the index writes it: a v before it may be left out. An empty one is the newest stable one.
func (p Plugin) find(version string) (string, bool) {
	if _, ok := p.Versions[version]; ok && version != "" {
		return version, true
	}
	if version == "" {
		newest := p.Newest()
		return newest, newest != ""
	}
	for _, other := range []string{"v" + version, strings.TrimPrefix(version, "v")} {
		if _, ok := p.Versions[other]; ok {
			return other, true
		}
	}
	return "", false
}

// Newest is the newest stable version; empty without one.
func (p Plugin) Newest() string {
	for _, version := range p.Sorted() {
		if v := canonical(version); v != "" && semver.Prerelease(v) == "" {
			return version
		}
	}
	return ""
}

// Sorted lists the versions, the newest first; those that are no semantic versions come last.
func (p Plugin) Sorted() []string {
	return slices.SortedFunc(maps.Keys(p.Versions), func(a, b string) int {
		return cmp.Or(semver.Compare(canonical(b), canonical(a)), cmp.Compare(a, b))
	})
}

// Platforms lists them in alphabetical order.
func (v Version) Platforms() []string { return slices.Sorted(maps.Keys(v)) }

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	if more := len(names) - listed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:listed], ", "), more)
	}
	return strings.Join(names, ", ")
}
