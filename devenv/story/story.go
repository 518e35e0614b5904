// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Story is a file that can be played.
type Story struct {
	File
	// Name is that of the file, for messages.
	Name string
	// places are the lines of the steps and of their conditions.
	places map[string]int
}

// Line returns the line, counted from 1, of a step; of what it awaits when awaited is set.
func (s *Story) Line(step int, awaited bool) int { return s.places[field(step, awaited)] }

// Place is "file:line" of a step.
func (s *Story) Place(step int, awaited bool) string {
	return fmt.Sprintf("%s:%d", s.Name, s.Line(step, awaited))
}

func field(step int, awaited bool) string {
	if awaited {
		return fmt.Sprintf("steps[%d].await", step)
	}
	return fmt.Sprintf("steps[%d]", step)
}

// group begins the apiVersion of a story.
const group = "pipedeck.dev/"

// claim is a line by which a file says that it is a story, also one that is not valid YAML.
var claim = regexp.MustCompile(`(?m)^["']?apiVersion["']?[ \t]*:[ \t]*["']?` + regexp.QuoteMeta(group))

// pluginName is what pipedeck plugin new takes.
var pluginName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,40}$`)

// Claimed reports whether a file says that it is a story.
func Claimed(content []byte) bool {
	content = bytes.TrimPrefix(content, []byte("\ufeff")) // the mark that some editors begin files with
	content = content[:min(len(content), config.MaxSize)]
	if claim.Match(content) {
		return true
	}
	if !bytes.Contains(content, []byte(group)) || !bytes.Contains(content, []byte("apiVersion")) {
		return false
	}
	var head struct {
		APIVersion string `json:"apiVersion"`
	}
	config.ReadDocument(content, "", "", &head) // other keys are no matter here
	return strings.HasPrefix(head.APIVersion, group)
}

// Samples are the samples that a story may name.
type Samples struct {
	Names []string
	// Walk calls fn with every file of a sample, by its slash-separated path in the repository.
	Walk func(sample string, fn func(file string, content []byte) error) error
	// Plugins are those that come with pipedeck; without them, it is not checked which ones a story names. Refuse
	// returns why no plugin of a name can be created; nil for one that can.
	Plugins []string
	Refuse  func(plugin string) error
}

// Parse reads a story; name is used in messages. Mistakes come back as config.Errors.
func Parse(content []byte, name string, samples Samples) (*Story, error) {
	s := &Story{Name: name, places: map[string]int{}}
	d := config.ReadDocument(content, name, `want a story: "apiVersion: `+APIVersion+`" and "kind: `+Kind+`"`, &s.File)
	c := checker{d}
	if s.Sample != "" && !slices.Contains(samples.Names, s.Sample) {
		d.Refuse("sample", "unknown sample %q; known are: %s", s.Sample, strings.Join(samples.Names, ", "))
	}
	c.text("title", s.Title)
	c.plugins(s, samples)
	if len(s.Steps) > MaxSteps {
		d.Refuse("steps", "has %d steps; %d are the most", len(s.Steps), MaxSteps)
		s.Steps = s.Steps[:MaxSteps]
	}
	for i, step := range s.Steps {
		c.step(field(i, false), step)
		for _, awaited := range []bool{false, true} {
			s.places[field(i, awaited)], _ = d.Place(field(i, awaited))
		}
	}
	c.committed(s.Steps)
	if i := slices.IndexFunc(s.Steps, func(s Step) bool { return s.EditPlugin != nil }); i >= 0 && s.Plugin == "" {
		d.Refuse(field(i, false)+".editPlugin", "is not read without plugin at the top, which creates the plugin")
	}
	if len(s.Steps) > 0 && s.Steps[0].Say == "" {
		d.Refuse("steps[0]", "has no caption: the first step needs say")
	}
	if len(d.Errors()) == 0 {
		if err := c.rehearse(s, samples); err != nil {
			return nil, err
		}
	}
	if mistakes := d.Errors(); len(mistakes) > 0 {
		return nil, mistakes
	}
	return s, nil
}

// plugins refuses plugins that the environment does not have, and one that cannot be created.
func (c checker) plugins(s *Story, samples Samples) {
	if s.Plugin != "" && !pluginName.MatchString(s.Plugin) {
		c.Refuse("plugin", "%q is no name for a plugin: want small letters, digits, - and _, a letter first", s.Plugin)
	} else if s.Plugin != "" && samples.Refuse != nil {
		if err := samples.Refuse(s.Plugin); err != nil {
			c.Refuse("plugin", "%v: choose another name, such as my-%s", err, s.Plugin)
		}
	}
	known := slices.Clone(samples.Plugins)
	if s.Plugin != "" {
		known = append(known, s.Plugin)
	}
	there := func(at, name string) {
		if len(samples.Plugins) > 0 && name != "" && !slices.Contains(known, name) {
			c.Refuse(at, "the environment has no plugin %q; known are: %s", name, strings.Join(known, ", "))
		}
	}
	for i, step := range s.Steps {
		there(field(i, false)+".killPlugin", step.KillPlugin)
		if step.Await != nil {
			there(field(i, true)+".plugin", step.Await.Plugin)
		}
	}
}

// checker notes what no single key of a story shows.
type checker struct{ *config.Document }

func (c checker) text(at, text string) {
	if n := utf8.RuneCountInString(text); n > MaxText {
		c.Refuse(at, "has %d characters; %d are the most", n, MaxText)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
		c.Refuse(at, "holds control characters")
	}
	if text != "" && strings.TrimSpace(text) == "" {
		c.Refuse(at, "is blank")
	}
}

func (c checker) step(at string, s Step) {
	c.text(at+".say", s.Say)
	changes := 0
	for _, there := range []bool{s.Edit != nil, s.Approve != nil, s.Sync != "", s.Rollback != "", s.KillPlugin != "",
		s.EditPlugin != nil, s.Patch != nil} {
		if there {
			changes++
		}
	}
	switch {
	case changes > 1:
		c.Refuse(at, "makes %d changes; a step makes one: write a separate step for each", changes)
	case changes == 0 && s.Say == "" && s.Show == "" && s.Await == nil:
		c.Refuse(at, "does nothing: want say, show, await or a change such as edit")
	}
	switch {
	case s.Show != "" && !slices.Contains(panes, s.Show):
		c.Refuse(at+".show", "%q is not allowed here: want %s", s.Show, strings.Join(panes, " or "))
	case s.Stage != "" && (s.Show == "" || s.Application == ""):
		c.Refuse(at+".stage", "is not read without show and application")
	case s.Show == "inspector" && s.Stage == "":
		c.Refuse(at+".show", "shows a stage: name it by stage and application")
	}
	if s.Await != nil {
		c.condition(at+".await", *s.Await)
	}
	if s.Edit != nil {
		c.edit(at+".edit", "the sample repository", *s.Edit)
	}
	if e := s.EditPlugin; e != nil {
		c.edit(at+".editPlugin", "the directory of the plugin", Edit{File: e.File, Replace: e.Replace, With: e.With})
	}
	if s.Patch != nil {
		c.patch(at+".patch", *s.Patch)
	}
}

var (
	deploymentStatuses = []string{"PENDING", "PLANNED", "RUNNING", "ROLLING_BACK", "SUCCESS", "FAILURE", "CANCELLED"}
	stageStatuses      = []string{"NOT_STARTED", "RUNNING", "SUCCESS", "FAILURE", "CANCELLED", "SKIPPED", "EXITED",
		"WAITING"}
)

// panes are those of the UI that a story shows.
var panes = []string{"deployment", "log", "plugins", "resources", "environment", "history", "applications", "inspector"}

// Panes returns the names of the panes that a step may show.
func Panes() []string { return slices.Clone(panes) }

// Statuses returns the names that a condition may have for its status.
func Statuses() []string {
	all := slices.Concat(deploymentStatuses, stageStatuses)
	slices.Sort(all)
	return slices.Compact(all)
}

func (c checker) condition(at string, w Condition) {
	subjects := 0
	for _, name := range []string{w.Deployment, w.Application, w.Plugin} {
		if name != "" {
			subjects++
		}
	}
	allowed := deploymentStatuses
	if w.Stage != "" {
		allowed = stageStatuses
	}
	if subjects != 1 {
		c.Refuse(at, "needs one of deployment, application and plugin")
		return
	}
	// foreign refuses keys that nothing would look at.
	foreign := func(given bool, key, owner string) {
		if given {
			c.Refuse(at+"."+key, "is not read without %s", owner)
		}
	}
	switch {
	case w.Deployment != "" && w.Status == "":
		c.Refuse(at, "needs status: that of the deployment or of its stage")
	case w.Deployment != "" && !slices.Contains(allowed, w.Status):
		c.Refuse(at+".status", "%q is not allowed here: want %s", w.Status, strings.Join(allowed, " or "))
	case w.Application != "" && w.Sync == "":
		c.Refuse(at, "needs sync: how the application compares with Git")
	case w.Plugin != "" && w.State == "":
		c.Refuse(at, "needs state: that of the plugin")
	}
	if w.Deployment == "" {
		foreign(w.Stage != "", "stage", "deployment")
		foreign(w.Status != "", "status", "deployment")
	}
	foreign(w.Application == "" && w.Sync != "", "sync", "application")
	foreign(w.Plugin == "" && w.State != "", "state", "plugin")
	foreign(w.Plugin == "" && w.Restarts != 0, "restarts", "plugin")
	foreign(w.Plugin == "" && w.Reloads != 0, "reloads", "plugin")
	foreign(w.Plugin != "" && w.Reason != "", "reason", "deployment or application")
	for _, number := range []struct {
		key   string
		count int
	}{{"restarts", w.Restarts}, {"reloads", w.Reloads}} {
		if number.count < 0 {
			c.Refuse(at+"."+number.key, "%d is not allowed here: want 0 or more", number.count)
		}
	}
	if w.Within == nil {
		return
	}
	switch within := w.Within.Std(); {
	case within > MaxWithin:
		c.Refuse(at+".within", "%s is not allowed here: at most %s", within, MaxWithin)
	case within < MinWithin: // a number without a unit is nanoseconds
		c.Refuse(at+".within", "%s is not allowed here: at least %s; write it with its unit, such as 30s", within,
			MinWithin)
	}
}

func (c checker) edit(at, in string, e Edit) {
	first, _, _ := strings.Cut(filepath.ToSlash(e.File), "/")
	if e.File != "" && (!filepath.IsLocal(e.File) || strings.EqualFold(first, ".git")) {
		c.Refuse(at+".file", "%q is not a path in %s", e.File, in)
	}
	if e.Replace == e.With && e.Replace != "" {
		c.Refuse(at+".with", "is the text that is there already")
	}
	c.text(at+".message", e.Message)
}

// committed refuses an edit that no later one commits.
func (c checker) committed(steps []Step) {
	saved := -1
	for i, step := range steps {
		if step.Edit != nil && step.Edit.Message == "" {
			saved = i
		} else if step.Edit != nil {
			saved = -1
		}
	}
	if saved >= 0 {
		c.Refuse(field(saved, false)+".edit", "is never committed: it needs message, or a later edit with one")
	}
}

func (c checker) patch(at string, p Patch) {
	inAPI := strings.HasPrefix(p.Path, "/api/") || strings.HasPrefix(p.Path, "/apis/")
	if p.Path != "" && (!inAPI || strings.ContainsAny(p.Path, "?#% ") || strings.Contains(p.Path, "..")) {
		c.Refuse(at+".path", "%q is not the path of an object, such as "+
			"/apis/apps/v1/namespaces/default/deployments/web", p.Path)
	}
	if merge := bytes.TrimSpace(p.Merge); len(merge) > 0 && merge[0] != '{' {
		c.Refuse(at+".merge", "is not a mapping")
	}
}
