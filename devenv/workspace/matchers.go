// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
	"github.com/pipedeck/pipedeck/piped/config"
)

// EventMatcher is what an event watcher waits for: an event of that name with exactly these labels.
type EventMatcher struct {
	Name   string
	Labels map[string]string
}

// String is the name with the labels, as users read it.
func (m EventMatcher) String() string {
	if len(m.Labels) == 0 {
		return m.Name
	}
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		pairs = append(pairs, key+"="+m.Labels[key])
	}
	return m.Name + " (" + strings.Join(pairs, ", ") + ")"
}

// EventMatchers returns what the event watchers of the repository wait for at Head: those of applications, and of the
// files in .pipe. Files with mistakes count as none; piped reports them.
func (r *Repository) EventMatchers() ([]EventMatcher, error) {
	var found []EventMatcher
	add := func(name string, labels map[string]string) {
		one := EventMatcher{Name: name, Labels: labels}
		if !slices.ContainsFunc(found, func(m EventMatcher) bool { return m.String() == one.String() }) {
			found = append(found, one)
		}
	}
	err := r.filesAtHead(func(f *gitobjects.File) error {
		application := IsApplicationConfig(f.Path)
		if !application && !strings.HasPrefix(f.Path, ".pipe/") || f.Size > config.MaxSize {
			return nil
		}
		content, err := f.Content()
		if err != nil {
			return err
		}
		if application {
			if read := config.ReadApplication(content, f.Path).Application; read != nil {
				for _, rule := range read.EventWatcher {
					add(rule.Matcher.Name, rule.Matcher.Labels)
				}
			}
			return nil
		}
		if read, err := config.ParseEventWatcher(content, f.Path); err == nil {
			for _, entry := range read.Events {
				add(entry.Name, entry.Labels)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for event watchers in %s: %w", r.Root, err)
	}
	slices.SortFunc(found, func(a, b EventMatcher) int { return cmp.Compare(a.String(), b.String()) })
	return found, nil
}
