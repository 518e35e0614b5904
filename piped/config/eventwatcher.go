// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"text/template"

	"github.com/pipedeck/pipedeck/piped/config/fieldpath"
)

// KindEventWatcher is the kind of files in the folder .pipe of a repository.
const KindEventWatcher = "EventWatcher"

// EventWatcherFile is the spec of a file of the kind EventWatcher. PipeCD calls the form deprecated:
// applications have eventWatcher for the same.
type EventWatcherFile struct {
	// Events are the places to change by event.
	Events []EventWatcherEntry `json:"events,omitempty"`
}

// EventWatcherEntry says what one event changes.
type EventWatcherEntry struct {
	// Name is the name of the event.
	Name string `json:"name" config:"required"`
	// Labels are all labels of the event.
	Labels map[string]string `json:"labels,omitempty"`
	// Replacements are the places to change. Their files are relative to the root of the repository.
	Replacements []EventReplacement `json:"replacements,omitempty"`
}

// ParseEventWatcher decodes and checks a file of the kind EventWatcher; filename is used in messages only.
// Mistakes come back as Errors.
func ParseEventWatcher(data []byte, filename string) (*EventWatcherFile, error) {
	file := &EventWatcherFile{}
	report := parse(data, filename, eventWatcherTarget(file)).forAgents()
	if len(report.Errors) > 0 {
		return nil, report.Errors
	}
	return file, nil
}

func eventWatcherTarget(file *EventWatcherFile) target {
	return target{[]string{KindEventWatcher}, file, func(d *decoder, _ string) {
		for i, entry := range file.Events {
			if d.failed(fmt.Sprintf("spec.events[%d]", i)) {
				continue // which is no mapping
			}
			at := fmt.Sprintf("spec.events[%d].replacements", i)
			checkReplacements(d, at, entry.Replacements)
			for j, r := range entry.Replacements {
				if !path.IsAbs(r.File) && leaves(r.File) {
					d.authorf(fmt.Sprintf("%s[%d].file", at, j), "%q leads outside of the repository: want a path "+
						"relative to its root", shorten(r.File))
				}
			}
		}
	}}
}

// checkReplacements reports what fails the event only, because the application can be deployed without: it is no error
// for agents.
func checkReplacements(d *decoder, field string, list []EventReplacement) {
	if len(list) == 0 && !d.failed(field) {
		d.warnf(d.place(field), field, "is empty: the event changes nothing and fails")
		d.warnings[len(d.warnings)-1].missing = []string{"replacements"}
	}
	for i, r := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		d.regexp(at+".regex", r.Regex)
		checkPlace(d, at, r)
		if r.File != "" && (path.Clean(r.File) == "." || strings.HasSuffix(r.File, "/")) {
			d.authorf(at+".file", "%q is a directory: want the path of a file", shorten(r.File))
		}
		if path.IsAbs(r.File) {
			d.warnf(d.place(at+".file"), at+".file", "%q is not in the repository, so the event fails: want a "+
				"path relative to the application's directory", shorten(r.File))
		}
		var places []string
		for _, p := range []struct{ name, value string }{
			{"yamlField", r.YAMLField}, {"jsonField", r.JSONField}, {"HCLField", r.HCLField}, {"regex", r.Regex},
		} {
			if p.value != "" || d.failed(at+"."+p.name) {
				places = append(places, p.name)
			}
		}
		switch {
		case len(places) == 0:
			d.needs(at, []string{"yamlField", "jsonField", "HCLField", "regex"},
				"needs one of yamlField, jsonField, HCLField and regex")
		case len(places) > 1:
			d.warnf(d.place(at+"."+places[1]), at+"."+places[1],
				"is ignored, because %s is given: write one replacement for each", places[0])
		}
	}
}

// checkMessage refuses a commit message that is no template of an event's values. One that repeats something may take
// long, and is not tried.
func checkMessage(d *decoder, field, text string) {
	parsed, err := template.New("message").Parse(text)
	if err == nil && !strings.Contains(text, "range") && !strings.Contains(text, "template") {
		err = parsed.Execute(io.Discard, struct{ Value, EventName string }{})
	}
	if err != nil {
		_, reason, _ := strings.Cut(strings.TrimPrefix(err.Error(), "template: message:"), ": ")
		d.authorf(field, "%q is not a template of a commit message: %s", shorten(text), reason)
	}
}

// checkPlace refuses places that no file has, whatever is in it.
func checkPlace(d *decoder, at string, r EventReplacement) {
	for _, place := range []struct {
		name, value string
		loose       bool
	}{{"yamlField", r.YAMLField, false}, {"jsonField", r.JSONField, false}, {"HCLField", r.HCLField, true}} {
		if place.value == "" {
			continue
		}
		if _, err := fieldpath.Parse(place.value, place.loose); err != nil {
			d.authorf(at+"."+place.name, "%q is not the path of a field: %s", shorten(place.value), err)
		}
	}
	if expression, err := regexp.Compile(r.Regex); err == nil && r.Regex != "" && expression.NumSubexp() == 0 {
		d.authorf(at+".regex", "%q has no group: want parentheses around what is replaced, as in \"image: (.*)\"",
			shorten(r.Regex))
	}
}
