// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"maps"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
)

// maxNamed bounds the files that a message names.
const maxNamed = 12

// rehearsal is the sample repository at a step of the story.
type rehearsal struct {
	checker
	sample string
	files  map[string]string
	// applications have their names in the files, now or at an earlier step.
	applications map[string]bool
}

// rehearse makes the edits of a story on the files of its sample, and notes which of them cannot be made and which
// applications no file configures.
func (c checker) rehearse(s *Story, samples Samples) error {
	r := rehearsal{checker: c, sample: s.Sample, files: map[string]string{}, applications: map[string]bool{}}
	err := samples.Walk(s.Sample, func(file string, content []byte) error {
		r.files[file] = string(content)
		r.configure(file)
		return nil
	})
	if err != nil {
		return err
	}
	for i, step := range s.Steps {
		at := field(i, false)
		r.application(at+".application", step.Application)
		if w := step.Await; w != nil {
			r.application(at+".await.deployment", w.Deployment)
			r.application(at+".await.application", w.Application)
		}
		if step.Approve != nil {
			r.application(at+".approve.application", step.Approve.Application)
		}
		r.application(at+".sync", step.Sync)
		r.application(at+".rollback", step.Rollback)
		if step.Edit != nil {
			r.edit(at+".edit", *step.Edit)
		}
	}
	return nil
}

// configure notes the application that a file configures. A story may break a configuration on purpose.
func (r *rehearsal) configure(file string) {
	if !config.IsApplicationFilename(file) {
		return
	}
	if app, err := config.ParseApplication([]byte(r.files[file]), file); err == nil && app.Name != "" {
		r.applications[app.Name] = true
	}
}

func (r *rehearsal) application(at, name string) {
	if name != "" && !r.applications[name] {
		r.Refuse(at, "the sample %s has no application %q; it has: %s", r.sample, name,
			strings.Join(slices.Sorted(maps.Keys(r.applications)), ", "))
	}
}

func (r *rehearsal) edit(at string, e Edit) {
	content, found := r.files[e.File]
	switch {
	case !found:
		files := slices.Sorted(maps.Keys(r.files))
		if len(files) > maxNamed {
			files = append(files[:maxNamed], "…")
		}
		r.Refuse(at+".file", "the sample %s has no file %q; it has: %s", r.sample, e.File, strings.Join(files, ", "))
	case !strings.Contains(content, e.Replace):
		r.Refuse(at+".replace", "%s does not hold this text at this step", e.File)
	default:
		r.files[e.File] = strings.Replace(content, e.Replace, e.With, 1)
		r.configure(e.File)
	}
}
